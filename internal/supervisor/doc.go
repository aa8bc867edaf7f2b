// Package supervisor decides what should happen next to a run. It is pure: no
// I/O, no clock, no goroutine. The same code runs in the process of an attached
// run, in a YARN ApplicationMaster and in the Kubernetes operator, and whoever
// runs it may die at any moment: the next one continues from what it observes.
//
//	          granted, and no            all held, then
//	          other attempt alive        all started
//	Pending ─────────────────> Starting ─────────────> Running
//	  ^                        ^    └─────────┬───────────┘
//	  │          backoff over, │              │
//	  │          nothing alive │              │
//	  │                        └─ Restarting <┼─ a failure that is restarted
//	  │                                       ├─ success ───> Ending ──> Succeeded
//	  │                                       ├─ failure ───> Ending ──> Failed
//	  │                                       ├─ stop ──────> Ending ──> Stopped
//	  │                                       └─ suspend ───> Ending ──> Suspended
//	  └───────────── resume: a new attempt, which costs no restart ──────────┘
//
// Pending and Restarting can be stopped and suspended too, and Suspended can be
// stopped. limits.run ends every phase but Suspended, whose time it does not
// count; limits.queue ends the wait for a grant or for places. A failed attempt
// stays in its phase while its tasks are being ended, until its cause is chosen;
// Ending lasts until every instance is gone. A task or role that is restarted
// alone changes no phase.
//
// What never happens, and is held by the property tests: an instance of attempt
// n+1 is wanted while one of an earlier attempt may be alive; a task is launched
// before every place is held; the budget is exceeded; a terminal phase changes,
// or is reached while an instance may be alive; a run waits for nothing.
package supervisor
