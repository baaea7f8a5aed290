//go:build race

package clitest

// raceRounds is how many times fewer rounds tests make with the race detector, which is ten times
// as slow: a race shows in few rounds.
const raceRounds = 4
