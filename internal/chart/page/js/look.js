// The look of the page: the theme, by the settings of the browser, and the sizes on paper.
import { heightOn } from './charts.js';
import { page } from './page.js';

export const media = {
  dark: matchMedia('(prefers-color-scheme: dark)'),
  print: matchMedia('print'),
  narrow: matchMedia('(max-width: 600px)'),
};

// sheetHeight is the height that a printed sheet has for the charts over time, in pixels.
const sheetHeight = 430;

// dress chooses the theme and the height of the charts.
export function dress() {
  const { data } = page;
  const printed = media.print.matches;
  const name = printed ? 'light' : data.theme || (media.dark.matches ? 'dark' : 'light');
  page.theme = data.themes[name];
  page.height = printed ? Math.min(data.height, heightOn(sheetHeight, page)) : data.height;
  const { style } = document.documentElement;
  for (const part of ['background', 'text', 'faint', 'grid', 'limit', 'holds'])
    style.setProperty('--' + part, page.theme[part]);
  style.colorScheme = name;
}
