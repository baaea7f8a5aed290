// The time that the page shows.

// A View is a range [from, to) of milliseconds inside the whole range of the data. It begins and
// ends where windows of the data do. Past has the ranges before, the last one last. On a live page,
// the view follows the end of the data as long as tail is not null: it shows the last tail
// milliseconds, or all for 0.
export class View {
  constructor(whole, { window, windowAt, recent, live }) {
    Object.assign(this, {
      whole,
      window,
      windowAt,
      recent,
      live,
      from: whole.from,
      to: whole.to,
      past: [],
      tail: null,
      lastTail: 0,
    });
  }

  // continue lets this view show the time that a view of earlier data shows. Shift is the
  // difference of both origins, which is added to the old times.
  continue(old, shift) {
    const moved = range => range.map(t => t + shift);
    const next = this.snap(...moved([old.from, old.to]));
    if (next) [this.from, this.to] = next;
    this.past = old.past.map(moved);
    this.tail = old.tail;
    this.lastTail = old.lastTail;
  }

  get isWhole() {
    return this.from <= this.whole.from && this.to >= this.whole.to;
  }

  // snap returns the smallest range of whole windows that contains a range, inside the whole range.
  // It returns null if nothing is left.
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

  // show changes the view to a range, and adds the old one to past. It returns false if the view
  // stays as it is.
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

  // zoom multiplies the length of the view by a factor. The time around stays where it is.
  zoom(factor, around) {
    return this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  // around zooms to a range with nine times its length on both sides, or with a twentieth of the
  // view if that is less.
  around(from, to) {
    const room = Math.min(9 * Math.max(to - from, 1), (this.to - this.from) / 20);
    return this.show(Math.min(from, (from + to) / 2 - room), Math.max(to, (from + to) / 2 + room));
  }

  // pan moves the view by a part of its length, and at least by a window. It stays in the whole
  // range.
  pan(part) {
    const length = this.to - this.from;
    const by = Math.sign(part) * Math.max(Math.abs(part) * length, this.window || 1);
    const move = Math.min(Math.max(by, this.whole.from - this.from), this.whole.to - this.to);
    return move !== 0 && this.show(this.from + move, this.to + move);
  }

  // last is the last millisecond at which an interval of the view can start.
  get last() {
    return this.to - 1;
  }

  // range returns the view as a part of the address. Hdrsum reads the same intervals with both
  // numbers as -s and -e.
  get range() {
    return 't=' + this.from / 1000 + ',' + this.last / 1000;
  }

  // address returns the part of the address that leads to the view. It is empty for what the page
  // shows without one.
  get address() {
    if (this.tail !== null) return this.tail ? 'last=' + this.tail / 1000 : '';
    return this.isWhole && !this.live ? '' : this.range;
  }

  // follow shows the view of an address.
  follow(fragment) {
    const range = /[#&]t=(-?[\d.]+),(-?[\d.]+)/.exec(fragment);
    const next = range
      ? this.snap(Number(range[1]) * 1000, Number(range[2]) * 1000 + 1)
      : [this.whole.from, this.whole.to];
    if (next) [this.from, this.to] = next;
    if (!this.live) return;
    const last = /[#&]last=(\d+)/.exec(fragment);
    this.chase(last ? last[1] * 1000 : /[#&]t=/.test(fragment) ? null : 0);
  }

  // chase sets the tail.
  chase(tail) {
    this.tail = tail;
    this.lastTail = tail ?? this.lastTail;
    this.toEnd();
  }

  // toEnd moves the view to the end of the data, if it follows that.
  toEnd() {
    const { whole, tail } = this;
    if (tail !== null)
      [this.from, this.to] = (tail && this.snap(whole.to - tail, whole.to)) || [
        whole.from,
        whole.to,
      ];
  }
}
