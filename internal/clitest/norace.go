//go:build !race

package clitest

const raceRounds = 1
