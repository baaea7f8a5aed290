// Times of the page as texts.
import { relativeStyle, clockText, severalDays } from './ticks.js';
import { page } from './page.js';

// timeText returns a time, which is in milliseconds, as text: to the millisecond if fine is set,
// and otherwise to a second, or to a tenth of a second in a short view.
export function timeText(t, fine) {
  const { data, view } = page;
  const length = (view.to - view.from) / 1000;
  const step = fine ? 0.001 : length < 10 ? 0.1 : 1;
  if (data.dated) {
    const at = (t + data.origin) / 1000;
    return (severalDays(data) ? clockText(data, at, 86400) + ' ' : '') + clockText(data, at, step);
  }
  return (
    relativeStyle(data.from / 1000, data.to / 1000, step)[1](
      fine ? t / 1000 : Math.round(t / 1000 / step) * step,
    ) + (Math.max(Math.abs(data.from), Math.abs(data.to)) <= 180000 ? ' s' : '')
  );
}

// dateText returns the date and the zone of times of the day, or nothing if the log has no dates.
export function dateText() {
  const { data } = page;
  if (!data.dated) return '';
  return (
    ' (' +
    (severalDays(data) ? '' : clockText(data, data.origin / 1000, 86400) + ', ') +
    data.zone +
    ')'
  );
}
