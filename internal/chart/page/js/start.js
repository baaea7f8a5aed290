// Show the data of the page. An open frame delays the event load until the charts are drawn, so
// that a print, which waits for this event, has them.
const drawing = document.body.appendChild(make('iframe', { hidden: true }));
drawing.contentDocument.open();
await begin(JSON.parse(element('data').textContent));
drawing.contentDocument.close();
drawing.remove();
document.documentElement.dataset.ready = Math.round(performance.now()); // milliseconds, for tests
