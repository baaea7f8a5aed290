// Prints logs as README.md describes.

const fs = require("fs");
const { HistogramLogReader } = require("hdr-histogram-js");

for (const path of process.argv.slice(2)) {
  const lines = [`= ${path}`];
  const reader = new HistogramLogReader(fs.readFileSync(path, "utf8"), 64);
  for (let h; (h = reader.nextIntervalHistogram(-Infinity)) !== null; ) {
    const start = Math.round(h.startTimeStampMsec);
    const end = Math.round(h.endTimeStampMsec);
    const fields = [h.tag === "NO TAG" ? "-" : h.tag, start, end - start, h.totalCount];
    for (let i = 0; i < h.countsArrayLength; i++) {
      const count = h.getCountAtIndex(i);
      if (count !== 0) {
        fields.push(`${h.valueFromIndex(i)}:${count}`);
      }
    }
    lines.push(fields.join("\t"));
  }
  fs.writeSync(1, lines.join("\n") + "\n");
}
