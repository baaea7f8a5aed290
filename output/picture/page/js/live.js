// A live page: its data keep coming by server-sent events.

// connect receives events in their order: all data, and rows that are added. State hears whether the page is connected.
export function connect(url, on) {
  let queue = Promise.resolve(), source, waiting = null;
  const open = () => {
    source = new EventSource(url);
    for (const name of ['all', 'rows']) {
      source.addEventListener(name, event => { queue = queue.then(() => on[name](JSON.parse(event.data))); });
    }
    source.onopen = () => on.state(true);
    source.onerror = () => {
      on.state(false);
      // A browser gives up when a server answers with an error.
      if (source.readyState === EventSource.CLOSED && !waiting) waiting = setTimeout(() => { waiting = null; open(); }, 1000);
    };
  };
  open();
}

// A Tail says which range follows the end of the data: the last span milliseconds, or all if that is 0. Null is a pause.
export class Tail {
  constructor() { this.span = 0; }

  // range returns what to show of a whole.
  range(whole) { return [this.span ? Math.max(whole.from, whole.to - this.span) : whole.from, whole.to]; }
}
