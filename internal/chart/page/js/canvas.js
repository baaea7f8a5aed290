// A chart on canvases: its axes and its limits. All sizes are in CSS pixels.
import { titled } from './numbers.js';

// A Chart is two canvases with axes. The lower one shows the data and is drawn once for each view.
// The upper one, over, shows the pointer. The room left of the axes is at least indent, and at
// least usual unless the chart is narrow, as on a phone. A narrow chart has the labels of limits
// inside. Last is set for the lowest of several charts, which has the labels of time. Places are
// set for a chart with facets: the plot of each series.
export class Chart {
  constructor(canvas, over) {
    Object.assign(this, { canvas, over, indent: 0, usual: 0, last: true });
  }

  // begin clears the chart and returns the context of the lower canvas. Below is the height of the
  // labels under the horizontal axis.
  begin(height, below) {
    this.width = this.canvas.clientWidth || 600;
    this.height = height;
    this.places = null;
    this.g = this.clear(this.canvas);
    this.clear(this.over);
    this.narrow = this.width < 600;
    this.plot = {
      left: 0,
      right: this.width - (this.narrow ? 6 : 16),
      top: 10,
      bottom: height - below,
    };
    return this.g;
  }

  clear(canvas) {
    const ratio = globalThis.devicePixelRatio || 1;
    const g = canvas.getContext('2d');
    const width = Math.round(this.width * ratio);
    const height = Math.round(this.height * ratio);
    canvas.parentElement.style.height = this.height + 'px';
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, this.width, this.height);
    g.font = '13px "Liberation Sans", Arial, Helvetica, sans-serif';
    return g;
  }

  px(v) {
    return this.plot.left + this.x.at(v) * (this.plot.right - this.plot.left);
  }
  py(v) {
    return this.plot.bottom - this.y.at(v) * (this.plot.bottom - this.plot.top);
  }

  // atX and atY return the values of the axes at a pixel.
  atX(x) {
    return this.x.inverse(
      Math.min(Math.max((x - this.plot.left) / (this.plot.right - this.plot.left), 0), 1),
    );
  }
  atY(y) {
    return this.y.inverse(
      Math.min(Math.max((this.plot.bottom - y) / (this.plot.bottom - this.plot.top), 0), 1),
    );
  }

  // fit makes room for the labels of the vertical axis, and for texts right of the chart. It drops
  // the labels that would overlap the label below them, at the given height of the axis.
  fit(right, height = this.plot.bottom - this.plot.top) {
    let last = -Infinity;
    for (const t of this.y.ticks) {
      const at = this.y.at(t.value) * height;
      if (t.label && at - last < 13) t.label = '';
      else if (t.label) last = at;
    }
    const width = texts => Math.ceil(Math.max(0, ...texts.map(t => this.g.measureText(t).width)));
    this.plot.left = Math.max(
      this.indent,
      this.narrow ? 0 : this.usual,
      (this.narrow ? 22 : 32) + width(this.y.ticks.map(t => t.label)),
    );
    if (right.length && !this.narrow) this.plot.right = Math.floor(this.plot.right - width(right));
    // While the browser lays the page out, the chart can be too narrow for its labels.
    this.plot.right = Math.max(this.plot.right, this.plot.left + 1);
  }

  // axes draws the axes. Null is no title. A horizontal axis without a title has no labels either.
  axes(theme, xTitle, yTitle) {
    const { g, plot } = this;
    Object.assign(g, {
      strokeStyle: theme.grid,
      fillStyle: theme.text,
      lineWidth: 1,
      textBaseline: 'middle',
      textAlign: 'right',
    });
    for (const t of this.y.ticks) {
      if (!t.label) continue;
      const y = Math.round(this.py(t.value)) + 0.5;
      stroke(g, [
        [plot.left, y],
        [plot.right, y],
      ]);
      g.fillText(t.label, plot.left - 7, y);
    }
    g.textBaseline = 'top';
    for (const t of this.x.ticks) {
      if (!t.label) continue;
      const x = Math.round(this.px(t.value)) + 0.5;
      const lines = t.label.split('\n');
      const half = g.measureText(lines[0]).width / 2;
      stroke(g, [
        [x, plot.top],
        [x, plot.bottom],
      ]);
      if (xTitle === null) continue;
      g.textAlign = x + half > this.width ? 'right' : x - half < 0 ? 'left' : 'center';
      lines.forEach((line, i) => g.fillText(line, x, plot.bottom + 7 + 15 * i));
    }
    g.textAlign = 'center';
    if (xTitle !== null) g.fillText(xTitle, (plot.left + plot.right) / 2, this.height - 17);
    if (yTitle !== null) {
      g.save();
      g.translate(2, (plot.top + plot.bottom) / 2);
      g.rotate(-Math.PI / 2);
      const texts = [
        yTitle,
        yTitle.split(' of ')[0],
        yTitle.split(' of ')[0].replace(' per second', '/s'),
      ].map(text => titled(this.y, text));
      g.fillText(
        texts.find(text => g.measureText(text).width < plot.bottom - plot.top) ?? texts.at(-1),
        0,
        0,
      );
      g.restore();
    }
    g.strokeStyle = theme.faint;
    stroke(g, [
      [plot.left + 0.5, plot.top],
      [plot.left + 0.5, plot.bottom + 0.5],
      [plot.right, plot.bottom + 0.5],
    ]);
  }

  clip(g = this.g) {
    g.save();
    g.beginPath();
    g.rect(
      this.plot.left,
      this.plot.top - 4,
      this.plot.right - this.plot.left + 4,
      this.plot.bottom - this.plot.top + 8,
    );
    g.clip();
  }

  message(theme, text) {
    Object.assign(this.g, { fillStyle: theme.faint, textAlign: 'center', textBaseline: 'middle' });
    this.g.fillText(
      text,
      (this.plot.left + this.plot.right) / 2,
      (this.plot.top + this.plot.bottom) / 2,
    );
  }

  dashed(colour, points) {
    Object.assign(this.g, { strokeStyle: colour, lineWidth: 1.3 });
    this.g.setLineDash([5, 3]);
    stroke(this.g, points);
    this.g.setLineDash([]);
  }

  // labelLimits writes the labels of limits beside the chart, without overlaps.
  labelLimits(theme, limits) {
    Object.assign(this.g, {
      textAlign: this.narrow ? 'right' : 'left',
      textBaseline: 'middle',
      fillStyle: theme.limit,
    });
    const [x, above] = this.narrow ? [this.plot.right - 4, 8] : [this.plot.right + 8, 0];
    let highest = Infinity;
    for (const l of [...limits].sort((a, b) => a.value - b.value)) {
      highest = Math.min(this.py(l.value) - above, highest - 16);
      this.g.fillText(l.label, x, highest);
    }
  }
}

export function stroke(g, points) {
  g.beginPath();
  points.forEach((p, i) => (i ? g.lineTo(p[0], p[1]) : g.moveTo(p[0], p[1])));
  g.stroke();
}

export function dot(g, x, y, radius) {
  g.beginPath();
  g.arc(x, y, radius, 0, 7);
  g.fill();
}
