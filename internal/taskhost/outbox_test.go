//go:build linux

package taskhost

import (
	"net"
	"sync"
	"testing"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/taskhost/wire"
)

func readReport(t *testing.T, c net.Conn) *wire.Report {
	t.Helper()
	m, err := wire.Read(c)
	if err != nil || m.Report == nil {
		t.Fatalf("no report: %+v, %v", m, err)
	}
	return m.Report
}

// TestOutboxMerges has an owner that does not read. Nothing waits for it, and
// when it reads again, it is told how things stand and not how they came to.
func TestOutboxMerges(t *testing.T) {
	ours, theirs := net.Pipe() // a write waits for its read
	defer theirs.Close()
	held := instance(9, 1, engine.Holding)
	o := newOutbox(ours, []engine.Instance{held}, "")
	if r := readReport(t, theirs); !r.Full || len(r.Changed) != 1 {
		t.Fatalf("the first report is %+v, and has not everything", r)
	}
	const rounds, tasks = 1000, 3
	for n := range rounds {
		for i := range tasks {
			x := instance(i, 1, engine.Running)
			x.Usage.Output = int64(n)
			o.add([]engine.Instance{x}, nil, "")
		}
	}
	o.add(nil, []job.Instance{held.Instance}, "the disk is full")
	last := map[job.Instance]engine.Instance{}
	dropped, reports := false, 0
	for !dropped || last[instance(tasks-1, 1, "").Instance].Usage.Output != rounds-1 {
		r := readReport(t, theirs)
		reports++
		for _, i := range r.Changed {
			last[i.Instance] = i
		}
		for _, i := range r.Dropped {
			dropped = dropped || i == held.Instance
			delete(last, i)
		}
		if dropped && r.Trouble != "the disk is full" {
			t.Errorf("trouble %q", r.Trouble)
		}
	}
	if len(last) != tasks || reports > 2 {
		t.Errorf("%d reports of %v", reports, last)
	}
	o.close()
	<-o.done
}

// TestOutboxLastWord is what is added before the end, and given after it.
func TestOutboxLastWord(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	o := newOutbox(ours, nil, "")
	o.add([]engine.Instance{instance(0, 1, engine.Exited)}, nil, "")
	o.close()
	seen := 0
	for seen == 0 {
		seen += len(readReport(t, theirs).Changed)
	}
	<-o.done
}

// TestOutboxOwnerGone ends with the stream, so that nothing is kept for nobody.
func TestOutboxOwnerGone(t *testing.T) {
	ours, theirs := net.Pipe()
	o := newOutbox(ours, nil, "")
	_ = theirs.Close()
	<-o.done
	o.add([]engine.Instance{instance(0, 1, engine.Exited)}, nil, "")
	o.close()
}

// TestOutboxComesBack forgets that an instance was dropped when it is there again.
func TestOutboxComesBack(t *testing.T) {
	o := &outbox{changed: map[job.Instance]engine.Instance{}, dropped: map[job.Instance]bool{}}
	o.wake = sync.NewCond(&o.mu)
	i := instance(0, 1, engine.Holding)
	o.add(nil, []job.Instance{i.Instance}, "")
	o.add([]engine.Instance{i}, nil, "")
	if r, ok := o.take(); !ok || len(r.Dropped) != 0 || len(r.Changed) != 1 {
		t.Errorf("%+v", r)
	}
}
