# Prints logs as README.md describes.

import sys

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

sys.stdout.reconfigure(encoding="utf-8")
for path in sys.argv[1:]:
    print(f"= {path}")
    reader = HistogramLogReader(path, HdrHistogram(1, 2, 3))
    while (h := reader.get_next_interval_histogram(range_start_time_sec=-1e18, absolute=True)) is not None:
        start, end = round(h.get_start_time_stamp()), round(h.get_end_time_stamp())
        fields = [h.get_tag() or "-", start, end - start, h.get_total_count()]
        for i in range(h.counts_len):
            if count := h.get_count_at_index(i):
                fields.append(f"{h.get_value_from_index(i)}:{count}")
        print(*fields, sep="\t")
    reader.close()
