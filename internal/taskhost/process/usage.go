//go:build linux

package process

import "time"

// ticksPerSecond is the kernel's USER_HZ, 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// A Meter turns the CPU ticks of a process tree into cores in use.
type Meter struct {
	ticks map[int]uint64
	at    time.Time
}

// Read returns the cores that the processes used since the last call, and their
// memory now.
func (m *Meter) Read(pids []int, now time.Time) (cores float64, memory int64) {
	used := map[int]uint64{}
	var spent uint64
	for _, pid := range pids {
		st, err := ReadStat(pid)
		if err != nil {
			continue
		}
		used[pid] = st.CPU
		memory += st.Memory
		if before, known := m.ticks[pid]; known || m.ticks != nil {
			spent += st.CPU - before
		}
	}
	if d := now.Sub(m.at).Seconds(); m.ticks != nil && d > 0 {
		cores = float64(spent) / ticksPerSecond / d
	}
	m.ticks, m.at = used, now
	return cores, memory
}
