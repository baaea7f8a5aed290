package union

// SetRunSize changes how much is sorted at a time, for tests, until the function returned is
// called.
func SetRunSize(size, memory int) (restore func()) {
	oldSize, oldMemory := runSize, runMemory
	runSize, runMemory = size, memory
	return func() { runSize, runMemory = oldSize, oldMemory }
}
