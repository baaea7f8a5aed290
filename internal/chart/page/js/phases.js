// Phases: times with a name, such as a deployment. They are shades behind the charts over time, and
// lanes above the lines.

// maxLanes is the number of names that have a lane: those that begin first.
const maxLanes = 5;
export const laneHeight = 16;

// lanesOf returns the lanes of the phases in the time of a page, each with a name and all phases of
// that name.
export function lanesOf({ phases = [], from, to }) {
  const all = new Map();
  for (const p of phases)
    if (p.start < to && p.end > from) {
      if (!all.has(p.name)) all.set(p.name, []);
      all.get(p.name).push(p);
    }
  return [...all].slice(0, maxLanes).map(([name, times]) => ({ name, times }));
}

// barsOf returns the left and right ends of phases in a chart, in pixels. Phases that touch share a
// bar.
export function barsOf(chart, times) {
  const { left, right } = chart.plot;
  const bars = [];
  for (const { start, end } of [...times].sort((a, b) => a.start - b.start)) {
    const from = Math.max(chart.px(start), left);
    const to = Math.min(Math.max(chart.px(end), from + 1), right);
    if (from >= right || chart.px(end) <= left) continue;
    const last = bars.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else bars.push([from, to]);
  }
  return bars;
}

// shadePhases shades the times of all phases behind the data.
export function shadePhases(chart, theme, { phases = [] }) {
  const { g, plot } = chart;
  Object.assign(g, { fillStyle: theme.band, globalAlpha: 0.4 });
  for (const [from, to] of barsOf(chart, phases))
    g.fillRect(from, plot.top, to - from, plot.bottom - plot.top);
  g.globalAlpha = 1;
}

// narrowBar is the width in pixels below which a bar of a lane is dark, so that it can be seen.
const narrowBar = 4;

// drawLanes draws lanes above a chart, as package draw does. A name stands in each bar that has
// room for it. If none has, it stands left of the lane, or right of a bar, or over the beginning of
// the lane.
export function drawLanes(chart, theme, lanes) {
  const { g, plot } = chart;
  lanes.forEach(({ name, times }, n) => {
    const top = plot.top - laneHeight * (lanes.length - n);
    const bars = barsOf(chart, times);
    for (const [from, to] of bars) {
      g.fillStyle = to - from < narrowBar ? theme.faint : theme.band;
      g.fillRect(from, top, to - from, laneHeight - 3);
    }
    Object.assign(g, { fillStyle: theme.text, textAlign: 'left', textBaseline: 'middle' });
    const width = g.measureText(name).width;
    const write = x => g.fillText(name, x, top + laneHeight / 2 - 1);
    const wide = bars.filter(([from, to]) => to - from >= width + 8);
    for (const [from, to] of wide) write((from + to - width) / 2);
    if (wide.length || !bars.length) return;
    if (width + 8 <= plot.left) return write(plot.left - 4 - width);
    const free = bars.find(([, to], i) => to + 4 + width <= (bars[i + 1]?.[0] ?? plot.right));
    if (free) return write(free[1] + 4);
    g.fillStyle = theme.background;
    g.fillRect(plot.left, top, width + 4, laneHeight - 3);
    g.fillStyle = theme.text;
    write(plot.left);
  });
}
