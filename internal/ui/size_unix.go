//go:build linux || darwin

package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

// size asks the terminal behind f for its size; only terminals answer.
// It goes through SyscallConn because Fd would make f block its thread.
func size(f *os.File) (width, height int, ok bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, 0, false
	}
	var ws *unix.Winsize
	var asked error
	err = conn.Control(func(fd uintptr) {
		ws, asked = unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	})
	if err != nil || asked != nil {
		return 0, 0, false
	}
	return int(ws.Col), int(ws.Row), true
}
