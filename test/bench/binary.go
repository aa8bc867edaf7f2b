//go:build linux

package main

import (
	"os"
	"os/exec"
)

func measureBinary(b *bench) error {
	hello, err := b.hello()
	if err != nil {
		return err
	}
	r := b.report
	least := r.add("size of a static Go hello", "MB", sizeOf(hello), nil)
	r.add("size of muster", "MB", sizeOf(b.muster), least, atMost(30, "MB"))
	const floor, ours = "static Go hello", "muster version"
	results, err := race(b.rounds(50), []contender{
		{name: floor, once: toItsEnd(func() *exec.Cmd { return exec.Command(hello) })},
		{name: ours, once: toItsEnd(func() *exec.Cmd { return exec.Command(b.muster, "version") })},
	})
	if err != nil {
		return err
	}
	base := r.addResult(floor, "ms", results[floor], 0, nil)
	r.addResult(ours, "ms", results[ours], 0, base, atMost(10, "ms"))
	return nil
}

func sizeOf(path string) Samples {
	st, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return Samples{float64(st.Size()) / 1e6}
}
