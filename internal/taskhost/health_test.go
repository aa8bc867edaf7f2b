//go:build linux

package taskhost

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
)

func TestProbeByNetwork(t *testing.T) {
	done := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/well", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/nowhere", http.StatusFound) })
	mux.HandleFunc("/hangs", func(http.ResponseWriter, *http.Request) { <-done })
	s := httptest.NewServer(mux)
	defer s.Close()
	defer close(done)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent := l.Addr().String()
	defer l.Close()
	const patience, short = time.Minute, 10 * time.Millisecond
	for _, c := range []struct {
		name string
		ask  engine.Health
		want string // part of the error; "" for none
	}{
		{"connects", engine.Health{TCP: silent, Timeout: patience}, ""},
		{"nobody listens", engine.Health{TCP: "127.0.0.1:1", Timeout: patience}, "127.0.0.1:1: connection refused"},
		{"answers", engine.Health{HTTP: s.URL + "/well", Timeout: patience}, ""},
		{"an answer that is not followed", engine.Health{HTTP: s.URL + "/moved", Timeout: patience}, ""},
		{"not there", engine.Health{HTTP: s.URL + "/none", Timeout: patience}, "404 Not Found from " + s.URL + "/none"},
		{"nobody answers", engine.Health{HTTP: s.URL + "/hangs", Timeout: short}, "no answer from " + s.URL + "/hangs within 10ms"},
		{"a page of nobody", engine.Health{HTTP: "http://127.0.0.1:1/", Timeout: patience}, "http://127.0.0.1:1/: connection refused"},
	} {
		got := ""
		if err := probeByNetwork(&c.ask); err != nil {
			got = err.Error()
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLastWords(t *testing.T) {
	for said, want := range map[string]string{
		"": "", "\n": "", "one\n": ": one", "one\ntwo": ": two", strings.Repeat("a", 300): ": " + strings.Repeat("a", 200),
	} {
		if got := lastWords(said); got != want {
			t.Errorf("%q gives %q, want %q", said, got, want)
		}
	}
}
