// What the page shows: a range of time, which series, and how, with the address and the history of
// that.

// A View is a range [from, to) of milliseconds inside a whole, whose ends are a number of windows
// from its beginning.
export class View {
  constructor(whole, { window, windowAt, recent }) {
    Object.assign(this, {
      whole,
      window,
      windowAt,
      recent,
      from: whole.from,
      to: whole.to,
      past: [],
    });
  }

  get isWhole() {
    return this.from <= this.whole.from && this.to >= this.whole.to;
  }

  // snap returns the range of whole windows that covers a range, inside the whole.
  snap(from, to) {
    const { windowAt, recent } = this;
    const snapped = (t, round) => {
      const window = recent && t >= recent.from ? recent.window : this.window;
      return window ? round((t - windowAt) / window) * window + windowAt : t;
    };
    from = Math.max(snapped(Math.round(from), Math.floor), this.whole.from);
    to = Math.min(snapped(Math.round(to), Math.ceil), this.whole.to);
    return to > from ? [from, to] : null;
  }

  // show changes the view and remembers the one before. It returns whether that is another one.
  show(from, to) {
    const next = this.snap(from, to);
    if (!next || (next[0] === this.from && next[1] === this.to)) return false;
    this.past.push([this.from, this.to]);
    [this.from, this.to] = next;
    return true;
  }

  back() {
    if (!this.past.length) return false;
    [this.from, this.to] = this.past.pop();
    return true;
  }

  // zoom scales the view around a time, and pan moves it by a part of its length.
  zoom(factor, around) {
    return this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  // around shows a time with nine times its length on both sides, but at most a tenth of the view.
  around(from, to) {
    const room = Math.min(9 * Math.max(to - from, 1), (this.to - this.from) / 20);
    return this.show(Math.min(from, (from + to) / 2 - room), Math.max(to, (from + to) / 2 + room));
  }

  pan(part) {
    const length = this.to - this.from;
    const by = Math.sign(part) * Math.max(Math.abs(part) * length, this.window || 1);
    const move = Math.min(Math.max(by, this.whole.from - this.from), this.whole.to - this.to);
    return move !== 0 && this.show(this.from + move, this.to + move);
  }

  // last returns the last millisecond at which an interval of the view can start.
  get last() {
    return this.to - 1;
  }

  // address returns the part of the page's address that leads to the view: the intervals that
  // hdrsum has with -s and -e of both numbers. That of the whole range is empty, unless always is
  // set.
  address(always) {
    return this.isWhole && !always ? '' : 't=' + this.from / 1000 + ',' + this.last / 1000;
  }

  // follow shows the view of a fragment.
  follow(fragment) {
    const found = /[#&]t=(-?[\d.]+),(-?[\d.]+)/.exec(fragment);
    const next = found
      ? this.snap(Number(found[1]) * 1000, Number(found[2]) * 1000 + 1)
      : [this.whole.from, this.whole.to];
    if (next) [this.from, this.to] = next;
  }
}
