package cli

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"hdrkit/internal/scan"
)

// quick is how long a run may take without showing progress.
const quick = 2 * time.Second

func isTerminal(fd int) bool { return term.IsTerminal(fd) }

// ShowProgress shows on w, if it is a terminal and the scan takes long, how far it has come. Call the function returned
// when it has ended.
func ShowProgress(s *scan.Scan, w io.Writer, quiet bool) (stop func()) {
	if quiet || !Terminal(w) {
		return func() {}
	}
	var total int64
	for _, input := range s.Inputs {
		if input.Size == 0 {
			total = -1 // not known: a spinner
			break
		}
		total += input.Size
	}
	var mu sync.Mutex
	var bar *progressbar.ProgressBar
	var read int64
	begin := time.Now()
	s.Progress = func(n int) {
		mu.Lock()
		defer mu.Unlock()
		read += int64(n)
		if bar == nil && time.Since(begin) > quick {
			bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(w), progressbar.OptionShowBytes(true),
				progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		}
		if bar != nil {
			bar.Set64(read)
		}
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if bar != nil {
			bar.Finish()
		}
	}
}
