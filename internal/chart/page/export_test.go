package page

// For tests that need package pagetest, which imports this one.
var (
	Sampled    = sampled
	AddWindows = addWindows
)
