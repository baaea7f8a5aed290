// Package counts counts the values of histograms that are above a percentile, or up to a value.
package counts

import (
	"math"

	"hdrkit/hdrlog/histogram"
	"hdrkit/internal/base/unit"
)

// Few is the least number of values above a percentile. With fewer, tables mark the percentile, and
// it proves nothing: one more request could change it.
const Few = 10

// Above returns how many values rank above a percentile.
func Above(h *histogram.Histogram, percentile float64) int64 {
	return AboveOf(h.TotalCount(), percentile)
}

// AboveOf returns how many of count values rank above a percentile.
func AboveOf(count int64, percentile float64) int64 {
	rank := math.Ceil(math.Nextafter(percentile, 0) * float64(count) / 100)
	return count - int64(min(rank, float64(count)))
}

// ShareOver returns the percentage of the values of h, divided by ratio, that are above a limit.
// Values in the slot of the limit are not above. The result is NaN if nothing was recorded.
func ShareOver(h *histogram.Histogram, limit, ratio float64) float64 {
	return 100 * float64(h.TotalCount()-UpTo(h, limit, ratio, true)) / float64(h.TotalCount())
}

// Apdex returns the Application Performance Index of the values of h, divided by ratio: values up
// to the threshold count fully, and values up to four times the threshold count half. The result is
// NaN if nothing was recorded.
func Apdex(h *histogram.Histogram, threshold, ratio float64) float64 {
	satisfied := UpTo(h, threshold, ratio, true)
	tolerated := UpTo(h, 4*threshold, ratio, true) - satisfied
	return (float64(satisfied) + float64(tolerated)/2) / float64(h.TotalCount())
}

// UpTo returns the number of values of h, divided by ratio, in slots below that of a value and, if
// inclusive, in that slot.
func UpTo(h *histogram.Histogram, value, ratio float64, inclusive bool) int64 {
	layout := h.Layout()
	slot := layout.IndexOf(h.Max())
	if raw := value * ratio / h.Ratio(); raw < float64(h.Max()) {
		slot = min(slot, layout.IndexOf(int64(max(raw, 0)))+1) // one more, since division and multiplication round
	}
	for ; slot >= 0; slot-- {
		lowest, highest := layout.LowestAt(slot), layout.HighestAt(slot)
		if inclusive && unit.Divide(h.Float(lowest), ratio) <= value || unit.Divide(h.Float(highest), ratio) < value {
			return h.CountBetween(0, highest)
		}
	}
	return 0
}
