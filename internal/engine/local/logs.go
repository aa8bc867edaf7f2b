//go:build linux

package local

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
	"muster.dev/muster/internal/taskhost"
)

// Logs implements engine.LogReader. The cursor is an offset.
func (e *Engine) Logs(_ context.Context, run engine.Run, i job.Instance, s engine.Stream, cursor string, limit int) (engine.Chunk, error) {
	at := int64(0)
	if cursor != "" {
		var err error
		if at, err = strconv.ParseInt(cursor, 10, 64); err != nil || at < 0 {
			return engine.Chunk{}, problem.New(problem.Invalid, "%q is not a log cursor of this engine", cursor)
		}
	}
	path := filepath.Join(taskhost.LogDir(run.Dir, i), string(s))
	// Most looks find nothing new: one call must be enough to see that.
	var now unix.Stat_t
	if unix.Stat(path, &now) == nil && now.Size <= at {
		return engine.Chunk{Offset: at, Cursor: strconv.FormatInt(at, 10)}, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Chunk{Offset: at, Cursor: strconv.FormatInt(at, 10)}, nil
	}
	if err != nil {
		return engine.Chunk{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return engine.Chunk{}, err
	}
	size := min(max(st.Size()-at, 0), int64(limit))
	buf := make([]byte, size)
	n, err := f.ReadAt(buf, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return engine.Chunk{}, err
	}
	return engine.Chunk{Data: buf[:n], Offset: at, Cursor: strconv.FormatInt(at+int64(n), 10)}, nil
}

// Dated implements engine.LogReader: an index beside the output says how long
// it was at which time.
func (e *Engine) Dated(run engine.Run, i job.Instance, s engine.Stream) (func(int64) time.Time, error) {
	b, err := os.ReadFile(filepath.Join(taskhost.LogDir(run.Dir, i), "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	const record = 24
	column := 8
	if s == engine.Stderr {
		column = 16
	}
	field := func(n, at int) int64 { return int64(binary.LittleEndian.Uint64(b[n*record+at:])) }
	count := len(b) / record
	return func(offset int64) time.Time {
		n := sort.Search(count, func(n int) bool { return field(n, column) > offset })
		if n == count {
			return time.Time{}
		}
		return time.Unix(0, field(n, 0))
	}, nil
}

// Instances implements engine.LogReader.
func (e *Engine) Instances(run engine.Run) ([]job.Instance, error) {
	dirs, err := filepath.Glob(filepath.Join(run.Dir, "logs", "*", "*.*"))
	if err != nil {
		return nil, err
	}
	var all []job.Instance
	for _, d := range dirs {
		var i job.Instance
		t, err := job.ParseTask(filepath.Base(filepath.Dir(d)))
		if err != nil {
			continue
		}
		if _, err := fmt.Sscanf(filepath.Base(d), "%d.%d", &i.Attempt, &i.Try); err != nil {
			continue
		}
		i.Task = t
		all = append(all, i)
	}
	slices.SortFunc(all, job.CompareInstances)
	return all, nil
}
