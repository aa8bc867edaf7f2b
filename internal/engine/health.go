package engine

import "time"

// A Health says how the host asks a task whether it is well: by one of HTTP,
// TCP and Command. One that is not, Failures times in a row, is ended.
type Health struct {
	HTTP    string   `json:"http,omitempty"`    // a URL; any answer below 400 is a good one
	TCP     string   `json:"tcp,omitempty"`     // host:port, to connect to
	Command []string `json:"command,omitempty"` // run next to the task; 0 is well

	Every    time.Duration `json:"every"`
	Timeout  time.Duration `json:"timeout"`
	Delay    time.Duration `json:"delay,omitempty"` // from the start of the task to the first probe
	Failures int           `json:"failures"`
}
