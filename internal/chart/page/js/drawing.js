// Drawing of the whole page.
import { page } from './page.js';
import { buildToggles } from './legend.js';
import { drawTimeCharts, drawCurves } from './panels.js';
import { showMoments } from './moments.js';
import { drawPointer } from './pointer.js';
import { describe } from './describe.js';
import { buildTable } from './summary.js';
import { buildTiles, buildLatest } from './latest.js';

page.draw = toggles => {
  if (toggles) buildToggles();
  if (page.timed) {
    drawTimeCharts();
    showMoments();
  }
  drawCurves();
  buildTable();
  if (page.data.live) {
    buildTiles();
    buildLatest();
  }
  describe();
  drawPointer();
};
