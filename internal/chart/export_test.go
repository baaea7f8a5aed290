package chart

// What tests see of a grid.

// Row returns the place of a value among the rows.
func (g *Grid) Row(v float64) float64 { return g.row(v) }

// RanIn returns for how long the logs of series ran in each column.
func (g *Grid) RanIn(all []Series) []float64 {
	g.setRan(all)
	return g.ran
}
