package chart

const (
	// RowHeight is the height in pixels of a row: a log in a [Fleet] chart, or a change in a forest
	// plot.
	RowHeight = 15
	// MaxEffects is the largest number of changes in a forest plot.
	MaxEffects = 24
)

// FleetHeight returns the height in pixels of the rows of a number of logs.
func FleetHeight(logs int) float64 {
	const most = 1600
	return min(float64(logs)*RowHeight, most)
}

// ForestHeight returns the height in pixels of a forest plot with a number of changes.
func ForestHeight(effects int) float64 {
	const around = 70 // the title and the axis
	if effects == 0 {
		return 0
	}
	return float64(effects)*RowHeight + around
}
