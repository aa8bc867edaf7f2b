package ui

// minName is the room for scheduler-0, so that most jobs line up alike.
const minName = 11

// Prefixes makes what stands before each line of a task's output.
type Prefixes struct {
	style Style
	width int
}

// NewPrefixes returns prefixes that line up for tasks of these names.
func NewPrefixes(style Style, names []string) Prefixes {
	p := Prefixes{style: style, width: minName}
	for _, n := range names {
		p.width = max(p.width, Width(n))
	}
	return p
}

// Of returns "worker-0    | " for what a task wrote to its stdout and
// "worker-0    ! " for its stderr.
func (p Prefixes) Of(task string, from Stream) string {
	bar := " | "
	if from == Err {
		bar = " ! "
	}
	return p.style.Task(task, Pad(task, p.width)) + bar
}
