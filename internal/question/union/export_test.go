package union

// SetPipeMemory changes how much of pipes stays in memory, for tests, until the function returned
// is called.
func SetPipeMemory(bytes int) (restore func()) {
	old := pipeMemory
	pipeMemory = bytes
	return func() { pipeMemory = old }
}
