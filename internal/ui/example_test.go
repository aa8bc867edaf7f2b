package ui_test

import (
	"fmt"
	"io"
	"os"

	"muster.dev/muster/internal/ui"
)

// What a task wrote goes through Lines, Clean and a prefix to the screen.
func Example() {
	screen := ui.NewScreen(ui.Config{Out: os.Stdout, Err: io.Discard})
	style := screen.Style(ui.Out)
	prefix := ui.NewPrefixes(style, []string{"worker-0", "worker-1"}).Of("worker-1", ui.Err)
	lines := ui.NewLines(func(line []byte, partial bool) {
		screen.Print(ui.Out, prefix, ui.Clean(line, style.Colour))
	})
	fmt.Fprint(lines, "\x1b[31mTraceback\x1b[0m (most rec")
	fmt.Fprint(lines, "ent call last):\r\n\x1b]0;title\x07ValueError")
	lines.Flush()
	screen.Close()
	// Output:
	// worker-1    ! Traceback (most recent call last):
	// worker-1    ! ValueError
}
