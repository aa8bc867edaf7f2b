//go:build linux

package process

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// GPUs returns the NVIDIA devices of this machine by their index, as the driver
// shows them; where only the device files are there, by these.
func GPUs() []string {
	cards, _ := filepath.Glob("/proc/driver/nvidia/gpus/*/information")
	if len(cards) > 0 {
		return indexes(len(cards))
	}
	var minors []int
	files, _ := filepath.Glob("/dev/nvidia[0-9]*")
	for _, f := range files {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(f), "nvidia"))
		if st, serr := os.Stat(f); err == nil && serr == nil && st.Mode()&os.ModeDevice != 0 {
			minors = append(minors, n)
		}
	}
	slices.Sort(minors)
	return indexes(len(minors))
}

// indexes counts from 0: the CUDA runtime numbers the devices it can see.
func indexes(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}
