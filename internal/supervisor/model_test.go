package supervisor

import (
	"maps"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// A model is an engine as hostile as its contract allows: it obeys late, finds
// and frees places one by one, what it tells is late or merged, instances end at
// any moment in any way, hosts die with what they have, and what is gone may be
// thrown away.
type model struct {
	orders  []engine.Desired      // not yet obeyed, in order
	coming  map[job.Instance]bool // places that are being looked for
	leaving map[job.Instance]bool // places that are being freed
	truth   map[job.Instance]*engine.Instance
	begun   map[job.Instance]bool // has ended or begun: is never there again
	news    []engine.Observed     // not yet told, in order
	now     time.Time
}

func newModel() *model {
	return &model{
		truth: map[job.Instance]*engine.Instance{}, now: epoch,
		coming: map[job.Instance]bool{}, leaving: map[job.Instance]bool{}, begun: map[job.Instance]bool{},
	}
}

// sorted are some of the instances, in an order that does not depend on chance.
func (m *model) sorted(keep func(*engine.Instance) bool) []*engine.Instance {
	var all []*engine.Instance
	for _, i := range m.truth {
		if keep(i) {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b *engine.Instance) int { return job.CompareInstances(a.Instance, b.Instance) })
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
	clear(m.coming)
	for _, w := range want.Tasks {
		named[w.Instance] = true
		switch w.State {
		case engine.Held:
			m.lookFor(w.Instance)
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

func (m *model) lookFor(i job.Instance) {
	if m.truth[i] == nil && !m.begun[i] {
		m.coming[i] = true
	}
}

// place finds the place that has been looked for, or frees the one to be freed.
func (m *model) place(i job.Instance) {
	if m.coming[i] {
		m.truth[i] = &engine.Instance{Instance: i, State: engine.Holding, Addr: "127.0.0.1"}
	} else {
		delete(m.truth, i)
	}
	delete(m.coming, i)
	delete(m.leaving, i)
	m.changed()
}

// moving are the places that come or go.
func (m *model) moving() []job.Instance {
	all := slices.Concat(slices.Collect(maps.Keys(m.coming)), slices.Collect(maps.Keys(m.leaving)))
	slices.SortFunc(all, func(a, b job.Instance) int { return strings.Compare(a.String(), b.String()) })
	return all
}

// launch starts a process in a place that has been told; where there is none it
// looks for one first.
func (m *model) launch(i job.Instance) {
	m.lookFor(i)
	if t := m.truth[i]; t != nil && t.State == engine.Holding && !m.leaving[i] {
		t.State, t.Started = engine.Starting, m.now
		m.begun[i] = true
	}
}

func (m *model) stop(i job.Instance) {
	t := m.truth[i]
	switch {
	case t == nil || t.State.Gone():
	case t.State == engine.Holding:
		m.leaving[i] = true
	case t.State != engine.Stopping:
		t.State, t.Asked = engine.Stopping, true
	}
}

// move takes an instance one step on; die says how, if that is its end.
func (m *model) move(i *engine.Instance, joins bool, die death) {
	switch {
	case i.State == engine.Starting:
		i.State = engine.Running
	case i.State == engine.Running && !i.Joined && joins:
		i.Joined = true
	case i.State == engine.Running, i.State == engine.Stopping:
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

// killHost takes everything with it: orders on their way, places, which vanish,
// and processes, which are lost.
func (m *model) killHost() {
	m.orders = nil
	clear(m.coming)
	clear(m.leaving)
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

// amnesia is a reboot that takes the record of what ran with it.
func (m *model) amnesia() {
	m.killHost()
	for _, i := range m.sorted(func(i *engine.Instance) bool { return i.State == engine.Lost }) {
		delete(m.truth, i.Instance)
		delete(m.begun, i.Instance)
	}
	m.news = nil
	m.changed()
}

// forget throws away what is gone, as far as the owner has taken note of it.
func (m *model) forget(noted []engine.Instance) {
	for _, i := range noted {
		if t := m.truth[i.Instance]; t != nil && t.State.Gone() && i.State.Gone() {
			delete(m.truth, i.Instance)
		}
	}
	m.changed()
}

// newOwner is what a new owner meets: the orders of the one before that had
// arrived are carried out, the others never are, and it is told everything.
func (m *model) newOwner(arrived int) {
	m.orders = m.orders[:min(arrived, len(m.orders))]
	for len(m.orders) > 0 {
		m.obey()
	}
	for _, i := range m.moving() {
		m.place(i)
	}
	m.news = []engine.Observed{{}, m.snapshot()}
}
