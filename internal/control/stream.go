//go:build linux

package control

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

const (
	readSize = 256 << 10
	// patience is how long the beginning of a line waits for its end.
	patience = time.Second
	// longest is how much of a line waits for its end at all: whoever writes a
	// line without end must not fill our memory.
	longest = 1 << 20
)

// A stream is one output of one instance, being read.
type stream struct {
	f        *follower
	instance job.Instance
	name     engine.Stream
	cursor   string
	dated    func(int64) time.Time

	rest     []byte // read, but not given: the beginning of a line
	restAt   int64  // its offset
	restTime time.Time
	next     *run.LogChunk // the piece to give next, while draining
}

// begin sets the stream to where the query wants it to start.
func (s *stream) begin(first bool) (err error) {
	if s.dated, err = s.f.reader.Dated(s.f.run, s.instance, s.name); err != nil {
		return err
	}
	if first && s.f.q.Tail >= 0 {
		return s.seekTail(s.f.q.Tail)
	}
	return nil
}

// seekTail skips all but the last n lines.
func (s *stream) seekTail(n int) error {
	ctx := context.Background()
	var starts []int64 // of the last n lines, oldest first
	at, lineStart := int64(0), int64(0)
	for cursor := ""; ; {
		c, err := s.f.reader.Logs(ctx, s.f.run, s.instance, s.name, cursor, readSize)
		if err != nil {
			return err
		}
		if len(c.Data) == 0 {
			break
		}
		for rest := c.Data; ; {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				at += int64(len(rest))
				break
			}
			at += int64(i) + 1
			starts = append(starts, lineStart)
			if len(starts) > n {
				starts = starts[1:]
			}
			lineStart, rest = at, rest[i+1:]
		}
		cursor = c.Cursor
	}
	if at > lineStart { // a last line without an end
		starts = append(starts, lineStart)
		if len(starts) > n {
			starts = starts[1:]
		}
	}
	from := at
	if len(starts) > 0 {
		from = starts[0]
	}
	s.cursor, s.restAt = strconv.FormatInt(from, 10), from
	return nil
}

// load reads the next piece to drain: lines that were written at one time.
func (s *stream) load(ctx context.Context) error {
	for s.next == nil {
		if len(s.rest) == 0 || bytes.IndexByte(s.rest, '\n') < 0 {
			n, err := s.read(ctx)
			if err != nil {
				return err
			}
			if n == 0 {
				s.take(len(s.rest), !s.f.q.Follow)
				return nil
			}
		}
		s.takeTimed()
	}
	return nil
}

func (s *stream) read(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	c, err := s.f.reader.Logs(ctx, s.f.run, s.instance, s.name, s.cursor, readSize)
	if err != nil {
		return 0, err
	}
	if len(s.rest) == 0 {
		s.restAt, s.restTime = c.Offset, time.Now()
	}
	s.rest, s.cursor = append(s.rest, c.Data...), c.Cursor
	return len(c.Data), nil
}

// whole is the length of the lines at the front that have their end, or of a
// line that is too long to wait for it.
func (s *stream) whole() int {
	end := bytes.LastIndexByte(s.rest, '\n') + 1
	if end == 0 && len(s.rest) >= longest {
		return len(s.rest)
	}
	return end
}

// takeTimed makes the whole lines at the front that share a date the next piece.
func (s *stream) takeTimed() {
	end := s.whole()
	if end == 0 {
		return
	}
	when := s.dated(s.restAt)
	if !when.IsZero() {
		for at := 0; at < end; {
			n := bytes.IndexByte(s.rest[at:end], '\n') + 1
			if n == 0 { // the line that is too long
				n = end - at
			}
			if at > 0 && !s.dated(s.restAt+int64(at)).Equal(when) {
				end = at
				break
			}
			at += n
		}
	}
	s.take(end, true)
}

// take makes the first n bytes the next piece, if they are wanted.
func (s *stream) take(n int, give bool) {
	if n == 0 || !give {
		return
	}
	when := s.dated(s.restAt)
	if s.f.q.Since.IsZero() || when.IsZero() || !when.Before(s.f.q.Since) {
		s.next = &run.LogChunk{Instance: s.instance, Stream: s.name, Time: when, Data: s.rest[:n:n]}
	}
	s.rest = s.rest[n:]
	s.restAt += int64(n)
}

// giveNew gives what has come since the last look.
func (s *stream) giveNew(ctx context.Context, last bool) error {
	for {
		n, err := s.read(ctx)
		if err != nil {
			return err
		}
		end := s.whole()
		if last && n < readSize || n == 0 && (time.Since(s.restTime) > patience || s.f.q.Raw) {
			end = len(s.rest)
		}
		if end > 0 {
			c := run.LogChunk{Instance: s.instance, Stream: s.name, Time: time.Now(), Data: s.rest[:end:end]}
			s.rest, s.restAt, s.restTime = s.rest[end:], s.restAt+int64(end), time.Now()
			if err := s.f.got(c); err != nil {
				return err
			}
		}
		if n < readSize {
			return nil
		}
	}
}
