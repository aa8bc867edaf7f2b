//go:build linux

package enginetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"muster.dev/muster/internal/engine"
)

// An order is what an owner in a process of its own is to bring up.
type order struct {
	Run   engine.Run
	Wants []engine.Want
}

// beOwner is the life of such an owner: it says what it sees until it is killed.
func beOwner(e engine.Engine, text string) int {
	var o order
	err := json.Unmarshal([]byte(text), &o)
	out := json.NewEncoder(os.Stdout)
	if err == nil {
		err = bringUp(context.Background(), e, o.Run, o.Wants, func(seen engine.Observed) error { return out.Encode(seen) })
	}
	fmt.Fprintln(os.Stderr, "owner:", err)
	return 1
}

// ownElsewhere brings the gang up as its owner in another process, which can be
// killed.
func (g *gang) ownElsewhere() (*viewer, *exec.Cmd) {
	g.b.Helper()
	text, err := json.Marshal(order{g.run, g.wants})
	if err != nil {
		g.b.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		g.b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), orderVar+"="+string(text))
	cmd.Stderr = g.b.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		g.b.Fatal(err)
	}
	g.b.Cleanup(func() { _ = cmd.Process.Kill() })
	return g.watch(func(_ context.Context, seen func(engine.Observed) error) error {
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return fmt.Errorf("the owner is gone: %w", err)
			}
			var o engine.Observed
			if err := json.Unmarshal(line, &o); err != nil {
				return err
			}
			_ = seen(o)
		}
	}), cmd
}

// kill ends an owner as a crash would.
func (b *bench) kill(cmd *exec.Cmd) {
	b.Helper()
	if err := cmd.Process.Kill(); err != nil {
		b.Fatal(err)
	}
	_ = cmd.Wait() // says that it was killed
}
