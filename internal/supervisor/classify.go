package supervisor

import (
	"fmt"
	"slices"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/run"
)

// The exit codes of the MXJob operator's documentation. Others are permanent:
// they are the program's own, and it would use them again.
var defaultRetryable = []int{130, 137, 138, 143}

// classify says whether the same failure is worth another try, and why.
func classify(i engine.Instance, codes *job.Codes) (run.Class, string) {
	switch {
	case i.State == engine.Lost:
		return run.NodeLost, "not the program's fault"
	case i.Cause == engine.ByPreempt, i.Cause == engine.ByEvict:
		return run.NodeLost, "its node took it away"
	case i.Cause == engine.ByOOM:
		return run.Permanent, "it would need the same memory again"
	case i.Cause == engine.ByLogLimit:
		return run.Permanent, "it would write as much again"
	case i.Cause == engine.ByHealth:
		return run.Retryable, "a fresh start may be well again"
	case i.Cause == engine.StartFailed && i.Taken != nil:
		return run.Retryable, "the port may be free by then"
	case i.Cause == engine.StartFailed:
		return run.Permanent, "it would not start the next time either"
	case i.Raised != nil && codes == nil:
		return run.Permanent, "an exception in your code"
	}
	code := i.ExitCode()
	if retryable(code, codes) {
		return run.Retryable, fmt.Sprintf("code %d usually comes from outside", code)
	}
	if i.Cause == engine.BySignal {
		return run.Permanent, "the program would do it again"
	}
	return run.Permanent, fmt.Sprintf("code %d is the program's own", code)
}

func retryable(code int, codes *job.Codes) bool {
	if codes == nil {
		return slices.Contains(defaultRetryable, code)
	}
	return slices.Contains(codes.Retryable, code) && !slices.Contains(codes.Permanent, code)
}
