// Package supervisor decides what should happen next to a run. It is pure: no
// I/O, no clock, no goroutine. The same code runs in the process of an attached
// run, in a YARN ApplicationMaster and in the Kubernetes operator, and whoever
// runs it may die at any moment: the next one continues from what it observes.
//
//	           places held,
//	Pending ──> Starting ──────> Running ──┬─ success ──> Ending ──> Succeeded
//	   │        all launched               ├─ failure ──> Ending ──> Failed
//	   │           ^                       ├─ failure, budget left ──> Restarting
//	   │           └── backoff over, earlier attempt gone ─────────────────┘
//	   ├─ stop ──> Stopped                 ├─ stop ─────> Ending ──> Stopped
//	   └─ suspend ─> Suspended <───────────┴─ suspend (all gone)
//	                    └── resume: a new attempt, which costs no restart
//
// What never happens, and is held by the property tests: an instance of attempt
// n+1 is wanted while one of an earlier attempt may be alive; a task is launched
// before every place is held; the budget is exceeded; a terminal phase changes,
// or is reached while an instance may be alive.
package supervisor
