// The connection of a live page with its server, which sends data as server-sent events.

// silence is the time in milliseconds without any event after which a connection counts as lost:
// three times the pulse of package serve.
const silence = 15000;

// connect opens the connection, and opens it again whenever it is lost. It calls on.all and on.rows
// with the data of events, one after the other, and on.connected with whether there is a
// connection.
export function connect(url, on) {
  let queue = Promise.resolve();
  let source;
  let timer;
  const again = time => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      lost();
      open();
    }, time);
  };
  const lost = () => {
    source.close();
    on.connected(false);
  };
  const open = () => {
    source = new EventSource(url);
    again(silence);
    for (const name of ['all', 'rows', 'alive']) {
      source.addEventListener(name, event => {
        again(silence);
        // If the page cannot take an event, it connects again and gets all data.
        if (on[name])
          queue = queue
            .then(() => on[name](JSON.parse(event.data)))
            .catch(error => {
              console.error(error);
              lost();
              again(1000);
            });
      });
    }
    source.onopen = () => on.connected(true);
    source.onerror = () => {
      on.connected(false);
      // A browser gives up when a server answers with an error.
      if (source.readyState === EventSource.CLOSED) again(1000);
    };
  };
  open();
}
