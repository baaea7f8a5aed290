package clitest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"
)

// openTerminal opens a pseudo-terminal with a number of columns. screen returns the text that a
// program writes to tty.
func openTerminal(columns int) (screen, tty *os.File, err error) {
	screen, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	var number uint32
	unlocked := int32(0)
	size := [4]uint16{50, uint16(columns)}
	for _, call := range []struct {
		request uintptr
		arg     unsafe.Pointer
	}{
		{syscall.TIOCGPTN, unsafe.Pointer(&number)},
		{syscall.TIOCSPTLCK, unsafe.Pointer(&unlocked)},
		{syscall.TIOCSWINSZ, unsafe.Pointer(&size)},
	} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, screen.Fd(), call.request, uintptr(call.arg)); errno != 0 {
			screen.Close()
			return nil, nil, errno
		}
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		screen.Close()
	}
	return screen, tty, err
}

// terminal is a command of scripts that runs another command whose standard input and output are a
// terminal: tty COLUMNS FILE STATUS command [arg ...]. FILE gets the text on the terminal, with ^[
// for the escape character.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: tty columns file status command [arg ...]")
	}
	columns, err := strconv.Atoi(args[0])
	ts.Check(err)
	screen, tty, err := openTerminal(columns)
	ts.Check(err)
	defer screen.Close()
	path, err := lookPath(ts, args[3])
	ts.Check(err)
	cmd := exec.Command(path, args[4:]...)
	cmd.Args[0] = args[3]
	cmd.Dir = ts.MkAbs(".")
	cmd.Stdin, cmd.Stdout = tty, tty
	var messages bytes.Buffer
	cmd.Stderr = &messages
	for _, name := range []string{"PATH", "HOME", "TERM", "NO_COLOR", "COLUMNS", "LOGS", "DIALECTS", "TESTDATA"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	shown := make(chan []byte)
	go func() {
		var all bytes.Buffer
		all.ReadFrom(screen) // ends with an error once nobody has the terminal open
		shown <- all.Bytes()
	}()
	err = cmd.Run()
	tty.Close()
	text := strings.NewReplacer("\r\n", "\n", "\x1b", "^[").Replace(string(<-shown))
	ts.Logf("[terminal]\n%s[stderr]\n%s", text, &messages)
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[2] {
		ts.Fatalf("exit status %s, %v, want %s", got, err, args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// lookPath returns the path of a command in the script's PATH.
func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, folder := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: not in PATH", name)
}
