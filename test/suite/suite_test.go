package suite

import (
	"fmt"
	"testing"
)

// A recorder is a T that says what was asked of it.
type recorder struct{ did string }

func (*recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) { r.did = "skip: " + fmt.Sprintf(format, args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.did = "fail: " + fmt.Sprintf(format, args...)
}

func TestRequire(t *testing.T) {
	const (
		skipped = "skip: the suite mxnet cannot run: no pip"
		failed  = "fail: the suite mxnet is required by MUSTER_REQUIRED_SUITES and cannot run: no pip"
	)
	for _, c := range []struct{ name, variable, reason, want string }{
		{"can run", "all", "", ""},
		{"cannot, nobody asks", "", "no pip", skipped},
		{"cannot, another is required", "torch,mxnet2", "no pip", skipped},
		{"cannot and is required", "mxnet", "no pip", failed},
		{"cannot and is required among others", "torch, mxnet", "no pip", failed},
		{"cannot and all are required", "all", "no pip", failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(Variable, c.variable)
			r := &recorder{}
			Require(r, "mxnet", c.reason)
			if r.did != c.want {
				t.Errorf("did %q, want %q", r.did, c.want)
			}
		})
	}
}
