package run

import (
	"context"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// A Service runs jobs. The command line talks to nothing else and cannot tell
// a local one from a remote one. Its methods may be called from any goroutine.
// Errors are problems: NotFound for an unknown run, Invalid, Refused or
// Conflict as their kinds say.
type Service interface {
	// Submit accepts a job. When it returns, the run is stored and will be
	// carried out whatever happens to the caller; if it is Attached, until
	// the calling process ends.
	Submit(ctx context.Context, s Submission) (Run, error)

	// Get returns the run called ref: its id, or a job's name for the newest
	// run of that job, or "" for the newest of all.
	Get(ctx context.Context, ref string) (Run, error)

	// List returns one page of runs, newest first.
	List(ctx context.Context, q Query) (Page, error)

	// Watch calls seen with the run now and after each change, until seen
	// returns an error, which it returns, ctx ends, or the run is done and
	// its last state has been seen. Live usage comes with the run.
	Watch(ctx context.Context, id string, seen func(Run) error) error

	// Logs calls got with the output of the run's tasks, in pieces that end
	// at line ends where the output has any, but for lines of many megabytes.
	// With Follow it goes on until the run is done and everything has been given.
	Logs(ctx context.Context, id string, q LogQuery, got func(LogChunk) error) error

	// Update says what should become of the run and returns once that is
	// stored. WantRemove deletes a run that is done.
	Update(ctx context.Context, id string, i Intent) (Run, error)
}

// A Submission is a job on its way to becoming a run.
type Submission struct {
	Spec     job.Spec
	Attached bool
	Origin   Origin

	// Env is what tasks inherit, RoleEnv what the roles add; neither is ever
	// stored in the record, as they may hold secrets.
	Env     []string
	RoleEnv map[string]map[string]string

	// Secrets has the values of the job's secrets, by name; they are never
	// stored in the record either.
	Secrets map[string][]byte

	// CodeURL is the repository of the code as it is fetched from, when that
	// says who one is; the job has it without, and this is stored nowhere.
	CodeURL string

	// Resume is the run, which must have ended, whose checkpoints the new one
	// begins with. An Origin that has Code asks for that snapshot again.
	Resume string
}

// A Query selects runs.
type Query struct {
	Active  bool // only those that have not ended
	Grouped bool // only those of any group
	Name    string
	Group   string // only those of this group
	Limit   int    // 0: no limit
	After   string // Page.Next of the page before
}

// A Page is some runs, and how to get the next page; "" is the end.
type Page struct {
	Runs []Run
	Next string
}

// A LogQuery selects output.
type LogQuery struct {
	Tasks   []string // names or patterns: worker-*; none means all
	Attempt int      // 0: the newest
	Since   time.Time
	Tail    int // lines per task and stream; -1: all
	Follow  bool
	Raw     bool // exact bytes, no line handling
}

// A LogChunk is whole lines of one instance's output, except where a program
// ended, or stays silent, in the middle of a line.
type LogChunk struct {
	Instance job.Instance
	Stream   engine.Stream
	Time     time.Time // of the first byte, where known
	Data     []byte
}
