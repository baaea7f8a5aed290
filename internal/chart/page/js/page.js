// The state of the page: its data, and what the reader chose to see of them.

export const page = {
  data: null, // Data of package page in Go
  all: [], // every series of the data, with its windows and lines
  timed: false, // whether a series had windows or points when the data came
  view: null,
  // These are what the reader chose.
  log: false,
  heat: false,
  facets: false,
  rest: true, // whether the series without a line of their own have a band
  before: null, // the range [from, to) that the view is compared with
  // The look depends on the browser, and on whether the page is printed.
  theme: null,
  height: 0,

  // series are those that have lines, and band those that share the band.
  get series() {
    return this.all.filter(s => s.shown);
  },
  get band() {
    return this.rest ? this.all.filter(s => s.rest && !s.shown) : [];
  },

  // draw shows the state, and rebuilds the toggles of the series if that is asked for. Module
  // drawing sets it: the modules that it draws with call it, too.
  draw: null,
};
