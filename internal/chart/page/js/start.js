// A page with data shows them. It is loaded once it is drawn: an open frame delays that. So what
// waits for the page, such as printing, gets the charts.
const drawing = document.body.appendChild(make('iframe', { hidden: true }));
drawing.contentDocument.open();
await begin(JSON.parse(element('data').textContent));
drawing.contentDocument.close();
drawing.remove();
document.documentElement.dataset.ready = Math.round(performance.now()); // milliseconds, for tests
