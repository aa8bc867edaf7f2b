package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/run"
	"muster.dev/muster/internal/ui"
)

// A view shows how a run stands: a line per role, redrawn in place on a
// terminal; elsewhere a plain line per change and one a minute.
type view struct {
	screen *ui.Screen
	style  ui.Style
	begun  time.Time
	said   string // what the last plain line was about
	saidAt time.Time
}

func newView(screen *ui.Screen, r run.Run) *view {
	v := &view{screen: screen, style: screen.Style(ui.Err), begun: time.Now()}
	v.print(headline(r))
	for _, note := range r.Notes {
		v.say("note: " + note)
	}
	return v
}

// headline is the first line of a run: what will run where, and from which code.
func headline(r run.Run) string {
	return fmt.Sprintf("%s   %s   %s", roles(r), whereLine(r), codeLine(r))
}

// whereLine is the place, what of it the run takes for itself, and the images.
func whereLine(r run.Run) string {
	where := r.Engine
	if where == "local" {
		where = fmt.Sprintf("local: %d cores", runtime.NumCPU())
	}
	if n := gpusOf(r); n > 0 {
		where += ", " + counted(n, "GPU")
	}
	var images []string
	for _, name := range r.Spec.RoleNames() {
		if image := r.Spec.Roles[name].Image; image != nil && !slices.Contains(images, image.Name) {
			images = append(images, image.Name)
		}
	}
	if len(images) > 0 {
		where += ", in " + ui.Names(images, 2)
	}
	return where
}

func codeLine(r run.Run) string {
	if r.Origin.Code == "" {
		return "code in place"
	}
	size := ui.ShortBytes(r.Origin.CodeSize)
	if r.Origin.CodeSize < 1000 {
		size += "B"
	}
	return fmt.Sprintf("code %s %s", r.CodeName(), size)
}

// roles is a run and what it consists of.
func roles(r run.Run) string {
	fw := r.Spec.Framework.Name
	if r.Origin.Inference != "" {
		fw += " (" + r.Origin.Inference + ")"
	}
	var list []string
	for _, name := range r.Spec.RoleNames() {
		list = append(list, counted(r.Spec.TaskCount(name), name))
	}
	return fmt.Sprintf("%s   %s: %s", r.ID, fw, strings.Join(list, ", "))
}

func (v *view) print(line string) { printFitted(v.screen, line) }

// say shows a remark of ours.
func (v *view) say(text string) { v.print("muster: " + text) }

// show brings the view up to date.
func (v *view) show(r run.Run) {
	if v.screen.Live() {
		v.screen.Status(v.block(r))
		return
	}
	change := fmt.Sprint(r.Phase, r.Attempt, r.Reason)
	passing := r.Reason == "" && r.Phase != run.Running // a phase that says nothing by itself
	if r.Done() || passing || change == v.said && time.Since(v.saidAt) < time.Minute {
		return
	}
	line := plain(r)
	if change == v.said {
		line += ", " + ui.Took(v.age(r))
		if running(r.Tasks) > 0 {
			line += ", last output " + ui.Ago(leastSilent(r))
		}
	}
	v.said, v.saidAt = change, time.Now()
	v.say(line)
}

// age is how long the run has been going on.
func (v *view) age(r run.Run) time.Duration {
	if r.Started.IsZero() {
		return time.Since(v.begun)
	}
	return max(time.Since(r.Started), 0)
}

// plain is a run in one line, for logs of CI systems.
func plain(r run.Run) string {
	switch {
	case r.Phase == run.Succeeded:
		return fmt.Sprintf("%s Succeeded in %s", r.ID, ui.Took(r.Took))
	case r.Done() && r.Started.IsZero():
		return fmt.Sprintf("%s %s: %s", r.ID, status(r), r.Reason)
	case r.Done():
		return fmt.Sprintf("%s %s after %s: %s", r.ID, status(r), ui.Took(r.Took), r.Reason)
	}
	s := fmt.Sprintf("%s %s %d/%d", r.ID, r.Phase, running(r.Tasks), len(r.Spec.Tasks()))
	if r.Attempt > 0 {
		s += fmt.Sprintf(", attempt %d", r.Attempt)
	}
	if r.Reason != "" {
		s += ": " + r.Reason
	}
	return s + resumeWords(r)
}

// resumeWords is what starts a run that would else wait for ever.
func resumeWords(r run.Run) string {
	if r.Phase != run.Suspended {
		return ""
	}
	return "; muster resume " + r.ID + " starts it"
}

// block is a line per role.
func (v *view) block(r run.Run) []string {
	var lines []string
	for _, role := range r.Spec.RoleNames() {
		var of []engine.Instance
		for _, t := range r.Tasks {
			if t.Task.Role == role {
				of = append(of, t)
			}
		}
		lines = append(lines, roleLine(role, of, r.Spec.TaskCount(role), v.age(r)))
	}
	if r.Reason != "" {
		narrower := v.style
		narrower.Width-- // the last column of status lines stays free
		for _, part := range fitted(narrower, string(r.Phase)+": "+r.Reason+resumeWords(r)) {
			lines = append(lines, v.style.Yellow(part))
		}
	}
	return lines
}

func roleLine(role string, of []engine.Instance, replicas int, age time.Duration) string {
	var cpu float64
	var mem int64
	silent := time.Duration(-1)
	for _, t := range of {
		cpu += t.Usage.CPU
		mem += t.Usage.Memory
		if !t.Over() && (silent < 0 || t.Usage.Silent < silent) {
			silent = t.Usage.Silent
		}
	}
	line := fmt.Sprintf("%-11s %d/%d %s   %s", role, running(of), replicas, stateWord(of), ui.Timer(age))
	if mem > 0 {
		line += fmt.Sprintf("   cpu %3.0f%%   mem %s", 100*cpu, ui.ShortBytes(mem))
	}
	if silent >= 10*time.Second {
		line += "   silent " + ui.Took(silent)
	}
	return line
}

// stateWord is the state that most needs telling.
func stateWord(of []engine.Instance) string {
	word := "waiting"
	for _, s := range []engine.State{engine.Exited, engine.Running, engine.Holding, engine.Starting, engine.Stopping, engine.Clearing, engine.Lost} {
		for _, t := range of {
			if t.State == s {
				word = string(s)
			}
		}
	}
	return word
}

func running(of []engine.Instance) int {
	n := 0
	for _, t := range of {
		if t.State == engine.Running {
			n++
		}
	}
	return n
}

func leastSilent(r run.Run) time.Duration {
	least := time.Duration(-1)
	for _, t := range r.Tasks {
		if !t.Over() && (least < 0 || t.Usage.Silent < least) {
			least = t.Usage.Silent
		}
	}
	return max(least, 0)
}
