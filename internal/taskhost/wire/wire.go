// Package wire is how an owner and a task host talk: frames of JSON over one
// stream, each behind its length. Either side may be old or hostile: a frame
// that is too long or not what it should be ends the conversation with an error
// that says so.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

// Version is the newest version of the protocol that this binary speaks. A host
// keeps the binary it was started with, so owners must accept older ones.
const Version = 1

// Oldest is the oldest version that it still understands.
const Oldest = 1

// MaxFrame bounds a frame. The largest is a Desired with many environments.
const MaxFrame = 64 << 20

// A Message is one frame; exactly one field is set.
type Message struct {
	Hello  *Hello          `json:"hello,omitempty"`
	Apply  *engine.Desired `json:"apply,omitempty"`
	Report *Report         `json:"report,omitempty"`
	Forget *Forget         `json:"forget,omitempty"`
	Refuse *Refuse         `json:"refuse,omitempty"`
}

// Hello opens a conversation, from both sides.
type Hello struct {
	Version int     `json:"version"`
	Run     string  `json:"run"`
	Fence   int64   `json:"fence"`
	Config  *Config `json:"config,omitempty"` // from the owner
	Pid     int     `json:"pid,omitempty"`    // from the host
}

// Config is what a host must know before its first task.
type Config struct {
	Dir      string        `json:"dir"`      // the run's folder
	Record   []byte        `json:"record"`   // by which later owners find the host; opaque
	Attached bool          `json:"attached"` // the tasks end when the owner does
	Signal   string        `json:"signal"`   // asks tasks to end when the leash breaks
	Grace    time.Duration `json:"grace"`
	LogLimit int64         `json:"log_limit,omitempty"`
	Own      []string      `json:"own,omitempty"` // starts a new owner, detached
}

// A Report is what changed since the one before; the first has everything.
type Report struct {
	Full    bool              `json:"full,omitempty"`
	Changed []engine.Instance `json:"changed,omitempty"`
	Dropped []job.Instance    `json:"dropped,omitempty"`
	Trouble string            `json:"trouble,omitempty"`
}

// Forget ends a host that has no task left.
type Forget struct{}

// Refuse ends a conversation.
type Refuse struct {
	Stale bool   `json:"stale,omitempty"`
	Busy  bool   `json:"busy,omitempty"` // another host runs this run
	Text  string `json:"text"`
}

// Write sends one message.
func Write(w io.Writer, m Message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	if len(body) > MaxFrame {
		return fmt.Errorf("a frame of %d bytes is over the limit of %d", len(body), MaxFrame)
	}
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	_, err = w.Write(append(frame, body...))
	return err
}

// Read receives one message. io.EOF means that the other side has closed the
// stream between two frames.
func Read(r io.Reader) (Message, error) {
	var head [4]byte
	var m Message
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > MaxFrame {
		return m, fmt.Errorf("a frame of %d bytes is over the limit of %d", n, MaxFrame)
	}
	// The length is not believed before its bytes are there.
	body, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return m, err
	}
	if len(body) < int(n) {
		return m, io.ErrUnexpectedEOF
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, fmt.Errorf("decode frame: %w", err)
	}
	return m, nil
}
