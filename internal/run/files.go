package run

import (
	"context"
	"io"
	"time"
)

// Files is a Service that keeps the files of runs.
type Files interface {
	// Files lists what is kept of a run: outputs, checkpoints, its copy of
	// the code. Paths are relative, and begin with which of them it is.
	Files(ctx context.Context, id string) ([]File, error)

	// Open reads one of them; a path in the outputs may leave out "outputs/".
	// The caller closes it.
	Open(ctx context.Context, id, path string) (io.ReadCloser, error)
}

// A Taker is a Service that can carry out a run in place of an owner that does
// not answer.
type Taker interface {
	// Take owns the run from here on and returns when it has ended. Whoever
	// owned it before can do nothing more.
	Take(ctx context.Context, id string) error
}

// A File is one that is kept of a run.
type File struct {
	Path string    `json:"path"`
	Size int64     `json:"size"`
	Time time.Time `json:"time"`
}
