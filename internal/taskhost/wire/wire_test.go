package wire

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

func TestRoundTrip(t *testing.T) {
	want := Message{Apply: &engine.Desired{Fence: 3, Attempt: 2, Tasks: []engine.Want{{
		Instance: job.Instance{Task: job.Task{Role: "worker", Index: 3}, Attempt: 2, Try: 1},
		State:    engine.Stopped, Signal: "TERM", Grace: 10 * time.Second,
	}}}}
	var b bytes.Buffer
	if err := Write(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := Read(&b); err != io.EOF {
		t.Errorf("at the end: %v, want EOF", err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, in := range map[string]string{
		"a length over the limit": "\xff\xff\xff\xff",
		"a frame cut short":       "\x00\x00\x00\x09{}",
		"a head cut short":        "\x00\x00",
		"no JSON":                 "\x00\x00\x00\x02}{",
		"a bad task name":         "\x00\x00\x00\x3d" + `{"apply":{"tasks":[{"instance":{"task":"worker","attempt":1}}]}}`[:0x3d],
	} {
		if m, err := Read(strings.NewReader(in)); err == nil {
			t.Errorf("%s: accepted as %+v", name, m)
		}
	}
}

// FuzzRead: whatever comes over the stream, Read ends, and what it accepts can
// be sent again.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	_ = Write(&b, Message{Hello: &Hello{Version: 1, Run: "a-b", Config: &Config{Dir: "/x"}}})
	f.Add(b.Bytes())
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, m); err != nil {
			t.Fatalf("accepted but cannot be sent: %v", err)
		}
		again, err := Read(&out)
		if err != nil || !reflect.DeepEqual(m, again) {
			t.Fatalf("%+v became %+v, %v", m, again, err)
		}
	})
}
