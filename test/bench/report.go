//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
)

// A report is what bench publishes.
type report struct {
	Machine machine  `json:"machine"`
	Figures []figure `json:"figures"`

	item item
	load string
}

// A figure is one measured thing, beside a reference from the same run.
type figure struct {
	Item   string  `json:"item"`
	Name   string  `json:"name"`
	Unit   string  `json:"unit,omitempty"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	N      int     `json:"n"`
	Load   string  `json:"load"` // of the machine, when its item began

	Against string  `json:"against,omitempty"` // name of the reference
	Ratio   float64 `json:"ratio,omitempty"`   // median over the reference's

	Target string `json:"target,omitempty"`
	Met    *bool  `json:"met,omitempty"`
	Absent string `json:"absent,omitempty"` // why there is no figure
}

// A target is what a figure should be.
type target struct {
	text string
	met  func(figure) bool
}

func atMost(limit float64, unit string) target {
	return target{fmt.Sprintf("<= %g %s", limit, unit), func(f figure) bool { return f.Median <= limit }}
}

// neverOver is for what must hold in every round.
func neverOver(limit float64, unit string) target {
	return target{fmt.Sprintf("never over %g %s", limit, unit), func(f figure) bool { return f.Max <= limit }}
}

func ratioAtMost(limit float64) target {
	return target{fmt.Sprintf("ratio <= %g", limit), func(f figure) bool { return f.Ratio <= limit }}
}

func ratioAtLeast(limit float64) target {
	return target{fmt.Sprintf("ratio >= %g", limit), func(f figure) bool { return f.Ratio >= limit }}
}

func (r *report) begin(i item) { r.item, r.load = i, loadAverage() }

// add records a figure. ref may be nil.
func (r *report) add(name, unit string, s Samples, ref *figure, targets ...target) *figure {
	f := figure{Item: r.item.key, Name: name, Unit: unit, N: len(s), Load: r.load}
	if len(s) > 0 {
		f.Median, f.Min, f.Max = s.Median(), slices.Min(s), slices.Max(s)
	}
	if ref != nil && ref.Median != 0 {
		f.Against, f.Ratio = ref.Name, f.Median/ref.Median
	}
	for _, t := range targets {
		met := t.met(f) && (f.Met == nil || *f.Met)
		f.Met = &met
		f.Target = strings.TrimPrefix(f.Target+", "+t.text, ", ")
	}
	r.Figures = append(r.Figures, f)
	return &f
}

// absent records that a peer is not here.
func (r *report) absent(name, why string) {
	r.Figures = append(r.Figures, figure{Item: r.item.key, Name: name, Absent: why, Load: r.load})
}

// addResult records one value of a contender, or that it is absent.
func (r *report) addResult(name, unit string, res result, i int, ref *figure, targets ...target) *figure {
	if res.absent != "" {
		r.absent(name, res.absent)
		return nil
	}
	return r.add(name, unit, res.of(i), ref, targets...)
}

func (r *report) publish(w io.Writer, file string) error {
	if err := r.table(w); err != nil {
		return err
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if file != "" {
		return os.WriteFile(file, append(b, '\n'), 0o644)
	}
	_, err = fmt.Fprintf(w, "\n%s\n", b)
	return err
}

func (r *report) table(w io.Writer) error {
	fmt.Fprintln(w, r.Machine.sentence())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for _, f := range r.Figures {
		if f.Item != last {
			last = f.Item
			i := slices.IndexFunc(items, func(i item) bool { return i.key == last })
			fmt.Fprintf(t, "\n(%s) %s; load %s\n", last, items[i].title, f.Load)
			fmt.Fprintln(t, "\tmedian\tmin\tmax\tn\tratio\tagainst\ttarget\t")
		}
		fmt.Fprintln(t, f.row())
	}
	return t.Flush()
}

func (f figure) row() string {
	if f.Absent != "" {
		return fmt.Sprintf("%s\tabsent: %s", f.Name, f.Absent)
	}
	ratio, verdict := "", ""
	if f.Against != "" {
		ratio = number(f.Ratio)
	}
	if f.Met != nil && *f.Met {
		verdict = f.Target + ": met"
	} else if f.Met != nil {
		verdict = f.Target + ": NOT MET"
	}
	return fmt.Sprintf("%s\t%s %s\t%s\t%s\t%d\t%s\t%s\t%s\t",
		f.Name, number(f.Median), f.Unit, number(f.Min), number(f.Max), f.N, ratio, f.Against, verdict)
}

// number gives three digits, or all before the point.
func number(v float64) string {
	switch {
	case v >= 100 || v == float64(int(v)):
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// A machine is what the figures were taken on.
type machine struct {
	Cores      int    `json:"cores"`
	CPU        string `json:"cpu"`
	MemoryMB   uint64 `json:"memory_mb"`
	Kernel     string `json:"kernel"`
	Filesystem string `json:"filesystem"` // of the state directories
	Go         string `json:"go"`
	Muster     string `json:"muster"`
	Load       string `json:"load"`
	LoadAfter  string `json:"load_after"`
	Quick      bool   `json:"quick,omitempty"`
}

func newReport(b *bench) *report {
	m := machine{Cores: runtime.NumCPU(), CPU: cpuModel(), Kernel: kernel(), Go: runtime.Version(), Load: loadAverage()}
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		m.MemoryMB = info.Totalram * uint64(info.Unit) >> 20
	}
	m.Filesystem, _ = output("stat", "-f", "-c", "%T", b.dir)
	m.Filesystem = strings.TrimSpace(m.Filesystem)
	v, _ := output(b.muster, "version")
	m.Muster = strings.TrimSpace(v)
	return &report{Machine: m}
}

func (m machine) sentence() string {
	return fmt.Sprintf("%d cores (%s), %d MB, Linux %s, state on %s; %s; load %s before, %s after",
		m.Cores, m.CPU, m.MemoryMB, m.Kernel, m.Filesystem, m.Muster, m.Load, m.LoadAfter)
}

func cpuModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for _, line := range strings.Split(string(b), "\n") {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func kernel() string {
	b, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(b))
}

func loadAverage() string {
	b, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(b), " ")
	return one
}
