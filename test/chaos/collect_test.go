//go:build linux

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/engine/local"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// kept is all that a run's folder may hold after its end.
var kept = []string{"checkpoint", "outputs", "logs", "code", "host.lock", "host.log", "owner.lock", "owner.log"}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// fired is when somebody died at a crash point.
func fired(path string) time.Time {
	text, _ := os.Readlink(path)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// collect reads everything that the checker wants to see of a run that should
// have ended.
func (r *round) collect() (err error) {
	rec, found, err := r.bed.read(r.plan.Name)
	if err != nil {
		return err
	}
	h := &r.hist
	if found {
		r.id = rec.ID
		// Tasks must be gone when the end is stored, not some time later.
		h.Left = append(h.Left, describe("task alive after the end", r.bed.of(r.id, Task))...)
		h.Reads = append(h.Reads, rec)
		if err := r.awaitNothing(rec); err != nil {
			return err
		}
		if err := r.readAgain(); err != nil {
			return err
		}
		if h.Outputs, err = r.outputs(); err != nil {
			return err
		}
		h.Left = append(h.Left, r.panics()...)
	}
	h.Events, err = r.bed.events(r.plan.Name)
	return err
}

// panics finds what our own processes said when they broke.
func (r *round) panics() []string {
	said := map[string][]byte{"muster run": r.errors.Bytes()}
	for _, name := range []string{"owner.log", "host.log"} {
		said[name], _ = os.ReadFile(filepath.Join(r.bed.runDir(r.id), name))
	}
	var all []string
	for who, text := range said {
		if bytes.Contains(text, []byte("goroutine ")) {
			all = append(all, fmt.Sprintf("%s broke: %s", who, text))
		}
	}
	return all
}

func describe(what string, procs []proc) []string {
	var all []string
	for _, p := range procs {
		all = append(all, what+": "+p.String())
	}
	return all
}

// readAgain reads the record again, also after a command that looks at it.
func (r *round) readAgain() error {
	code, out, err := r.bed.muster("ps")
	if err != nil {
		return err
	}
	if code != 0 {
		return fmt.Errorf("muster ps: exit %d: %s", code, out)
	}
	again, _, err := r.bed.read(r.id)
	r.hist.Reads = append(r.hist.Reads, again)
	return err
}

// awaitNothing waits until nothing of the run is left, and notes what is.
func (r *round) awaitNothing(rec run.Run) error {
	var left []string
	asked := time.Now()
	err := await("nothing is left", 15*time.Second, func() (bool, error) {
		if r.disturbed() && time.Since(asked) > time.Second/2 {
			// An owner that died after the end may have been the last who knew.
			asked = time.Now()
			if _, _, err := r.bed.muster("ps"); err != nil {
				return false, err
			}
		}
		left = r.leftovers(rec)
		return len(left) == 0, nil
	})
	if len(left) > 0 {
		r.hist.Left = append(r.hist.Left, left...)
		return nil
	}
	return err
}

// disturbed says that something of ours was killed, or may be.
func (r *round) disturbed() bool { return r.point != "" || r.hist.hits(Owner, Keeper, Host) > 0 }

// leftovers is what there is of a run that should not be after its end.
func (r *round) leftovers(rec run.Run) []string {
	left := describe("process", r.bed.of(r.id, everything()...))
	for _, g := range cgroups(r.id) {
		left = append(left, "cgroup "+g)
	}
	files, _ := os.ReadDir(r.bed.runDir(r.id))
	for _, f := range files {
		if !slices.Contains(kept, f.Name()) {
			left = append(left, "file "+f.Name())
		}
	}
	for _, t := range rec.Tasks {
		for _, port := range t.Ports {
			// Without SO_REUSEADDR would be stricter, and fail for ports in TIME_WAIT.
			l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				left = append(left, fmt.Sprintf("port %d of %s: %v", port, t.Task, err))
				continue
			}
			_ = l.Close()
		}
	}
	return left
}

// outputs reads what is kept of every instance, as muster logs would.
func (r *round) outputs() (map[job.Instance]Output, error) {
	reader := local.New(local.Config{})
	of := engine.Run{ID: r.id, Dir: r.bed.runDir(r.id)}
	all, err := reader.Instances(of)
	if err != nil {
		return nil, err
	}
	outputs := map[job.Instance]Output{}
	for _, i := range all {
		var o Output
		for s, to := range map[engine.Stream]*[]byte{engine.Stdout: &o.Stdout, engine.Stderr: &o.Stderr} {
			for cursor := ""; ; {
				c, err := reader.Logs(context.Background(), of, i, s, cursor, 1<<20)
				if err != nil {
					return nil, err
				}
				if len(c.Data) == 0 {
					break
				}
				*to, cursor = append(*to, c.Data...), c.Cursor
			}
		}
		outputs[i] = o
	}
	return outputs, nil
}

// story is what a person needs to understand a round that went wrong.
func (r *round) story() string {
	rec := r.last()
	s := fmt.Sprintf("plan   %+v\nkills  %v\ncrash  %s\nacts   %+v\nrecord %s %s attempt %d restarts %d failures %d rev %d fence %d: %s\n",
		r.plan, r.kills, r.point, r.hist.Acts, rec.ID, rec.Phase, rec.Attempt, rec.Restarts, len(rec.Failures), rec.Rev, rec.Fence, rec.Reason)
	for _, f := range rec.Failures {
		s += fmt.Sprintf("failed attempt %d: %s %s %v %+v\n", f.Attempt, f.Kind, f.What, f.Task, f.Instance)
	}
	for _, name := range []string{"owner.log", "host.log", "journal", "host.json"} {
		if b, err := os.ReadFile(filepath.Join(r.bed.runDir(rec.ID), name)); err == nil && len(b) > 0 {
			s += fmt.Sprintf("--- %s\n%s\n", name, b)
		}
	}
	if b, err := os.ReadFile(r.bed.record(r.plan.Name)); err == nil {
		s += fmt.Sprintf("--- events\n%s", b)
	}
	for _, p := range r.bed.of(rec.ID, everything()...) {
		s += fmt.Sprintf("alive  %s\n", p)
	}
	return s
}
