//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	memoryLimit   = 512 << 20 // of hdrlive
	memoryMore    = 100e6     // that it may take beside it
	memoryWindows = 2
	memoryTime    = 5 * time.Minute
)

// runMemory follows a log of very many tags. One receiver is away, another one takes all rows.
func (b *bench) runMemory(command string) error {
	path := filepath.Join(b.dir, "node.hdr")
	if err := b.writeTags(path); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	away, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	away.Close()
	var arrived atomic.Int64
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err == nil {
			arrived.Add(int64(bytes.Count(body, []byte{'\n'})))
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	all := filepath.Join(b.dir, "all.hdr")
	c := exec.Command(command, path, "-s", "start", "-memory", fmt.Sprint(memoryLimit), "-of", all, "-state", filepath.Join(b.dir, "state"),
		"-push", "http://"+away.Addr().String()+"/write?db=away", "-push", "http://"+listener.Addr().String()+"/write?db=there")
	c.Stderr = os.Stderr
	begin := time.Now()
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		c.Wait()
		close(ended)
	}()
	want := int64(b.memory * memoryWindows)
	for time.Since(begin) < memoryTime && arrived.Load() < want {
		select {
		case <-ended:
			return fmt.Errorf("hdrlive has ended: %v, after %d rows of %d", c.ProcessState, arrived.Load(), want)
		case <-time.After(100 * time.Millisecond):
		}
	}
	c.Process.Signal(syscall.SIGTERM)
	<-ended
	usage(c, time.Since(begin))
	merged, err := countLines(all)
	fmt.Printf("%d rows: %d in the merged log, %d at the receiver\n", want, merged, arrived.Load())
	peak := float64(peakBytes(c))
	switch {
	case err != nil:
		return err
	case merged < want || arrived.Load() < want:
		return fmt.Errorf("rows are missing")
	case peak > memoryLimit+memoryMore:
		return fmt.Errorf("%.0f MB are more than -memory and %.0f MB", peak/1e6, memoryMore/1e6)
	}
	return nil
}

// writeTags writes a log that has a line of each tag in each window.
func (b *bench) writeTags(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	w.WriteString(head(1_700_000_000))
	line := b.lines[0][0]
	for second := range memoryWindows {
		for tag := range b.memory {
			fmt.Fprintf(w, "Tag=service-%07d"+line[bytes.IndexByte([]byte(line), ','):], tag, second)
		}
	}
	return w.Flush()
}

// countLines counts the lines of tags.
func countLines(path string) (n int64, err error) {
	text, err := os.ReadFile(path)
	return int64(bytes.Count(text, []byte("\nTag="))), err
}
