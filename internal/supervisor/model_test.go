package supervisor

import (
	"maps"
	"slices"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// A model is an engine as hostile as its contract allows: it obeys late, what it
// tells is late or merged, instances end at any moment in any way, hosts die
// with what they have, and what is gone may be thrown away.
type model struct {
	orders []engine.Desired // not yet obeyed, in order
	truth  map[job.Instance]*engine.Instance
	news   []engine.Observed // not yet told, in order
	now    time.Time
	begun  map[job.Instance]bool // had a process once: never again
}

func newModel() *model {
	return &model{truth: map[job.Instance]*engine.Instance{}, begun: map[job.Instance]bool{}, now: epoch}
}

// sorted are some of the instances, in an order that does not depend on chance.
func (m *model) sorted(keep func(*engine.Instance) bool) []*engine.Instance {
	var all []*engine.Instance
	for _, i := range m.truth {
		if keep(i) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b *engine.Instance) int {
		return slices.Compare([]int{a.Attempt, a.Try, a.Task.Index, len(a.Task.Role)}, []int{b.Attempt, b.Try, b.Task.Index, len(b.Task.Role)})
	})
	return all
}

func (m *model) live() []*engine.Instance {
	return m.sorted(func(i *engine.Instance) bool { return !i.State.Gone() })
}

// processes are what has more than a place.
func (m *model) processes() []*engine.Instance {
	return m.sorted(func(i *engine.Instance) bool { return !i.State.Gone() && i.State != engine.Holding })
}

// snapshot is everything there is to tell.
func (m *model) snapshot() engine.Observed {
	seen := engine.Observed{Synced: true}
	for _, i := range m.sorted(func(*engine.Instance) bool { return true }) {
		seen.Instances = append(seen.Instances, *i)
	}
	return seen
}

func (m *model) changed() {
	m.now = m.now.Add(time.Millisecond)
	m.news = append(m.news, m.snapshot())
}

// obey carries out the oldest order.
func (m *model) obey() {
	if len(m.orders) == 0 {
		return
	}
	want := m.orders[0]
	m.orders = m.orders[1:]
	named := map[job.Instance]bool{}
	for _, w := range want.Tasks {
		named[w.Instance] = true
		switch w.State {
		case engine.Held:
			m.hold(w.Instance)
		case engine.Launched:
			m.launch(w.Instance)
		case engine.Stopped:
			m.stop(w.Instance)
		}
	}
	for _, i := range m.live() {
		if !named[i.Instance] {
			m.stop(i.Instance)
		}
	}
	m.changed()
}

func (m *model) hold(i job.Instance) {
	if m.truth[i] == nil && !m.begun[i] {
		m.truth[i] = &engine.Instance{Instance: i, State: engine.Holding, Addr: "127.0.0.1"}
	}
}

func (m *model) launch(i job.Instance) {
	m.hold(i)
	if t := m.truth[i]; t != nil && t.State == engine.Holding {
		t.State, t.Started = engine.Starting, m.now
		m.begun[i] = true
	}
}

func (m *model) stop(i job.Instance) {
	t := m.truth[i]
	switch {
	case t == nil || t.State.Gone():
	case t.State == engine.Holding:
		delete(m.truth, i)
	case t.State != engine.Stopping:
		t.State, t.Asked = engine.Stopping, true
	}
}

// move takes an instance one step on; die says how, if that is its end.
func (m *model) move(i *engine.Instance, die death) {
	switch i.State {
	case engine.Starting:
		i.State = engine.Running
	case engine.Running:
		if !i.Joined {
			i.Joined = true
			break
		}
		m.end(i, die)
	case engine.Stopping:
		m.end(i, die)
	}
	m.changed()
}

func (m *model) end(i *engine.Instance, die death) {
	i.State, i.Ended = engine.Exited, m.now
	die(i)
	m.begun[i.Instance] = true
	m.changed()
}

// killHost takes everything with it: places vanish, processes are lost.
func (m *model) killHost() {
	for _, i := range m.live() {
		if i.State == engine.Holding {
			delete(m.truth, i.Instance)
			continue
		}
		i.Ended = m.now
		lost(i)
	}
	m.changed()
}

// forget throws away what is gone.
func (m *model) forget() {
	maps.DeleteFunc(m.truth, func(_ job.Instance, i *engine.Instance) bool { return i.State.Gone() })
	m.changed()
}

// newOwner is what a new owner meets: the orders of the one before that had
// arrived are carried out, the others never are, and it is told everything.
func (m *model) newOwner(arrived int) {
	m.orders = m.orders[:min(arrived, len(m.orders))]
	for len(m.orders) > 0 {
		m.obey()
	}
	m.news = []engine.Observed{{}, m.snapshot()}
}
