package chart

const (
	// RowHeight is the height of a row in pixels: of a log in a heat map, and of a change.
	RowHeight = 15
	// MostEffects is the number of changes that a comparison draws.
	MostEffects = 24
)

// FleetHeight returns the height in pixels that rows of so many logs need.
func FleetHeight(logs int) float64 {
	const most = 1600
	return min(float64(logs)*RowHeight, most)
}

// ForestHeight returns the height in pixels that so many changes need.
func ForestHeight(effects int) float64 {
	const around = 70 // the title and the axis
	if effects == 0 {
		return 0
	}
	return float64(effects)*RowHeight + around
}
