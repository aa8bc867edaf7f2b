package run

import (
	"context"
	"time"
)

// A Pruner is a Service that can make room.
type Pruner interface {
	// Prune deletes what it is asked to, and says what that was; a dry one
	// only says it. What it finds in use it leaves alone.
	Prune(ctx context.Context, p Pruning) (Pruned, error)
}

// A Pruning says what is to be deleted. Runs whose cleanup.ttl is over are
// deleted in any case.
type Pruning struct {
	Ended     bool          // runs that have ended, and what belongs to no run
	OlderThan time.Duration // only those that ended so long ago
	Keep      int           // but not the newest of them
	Dry       bool
}

// Pruned is what was deleted.
type Pruned struct {
	Runs    []string `json:"runs"`
	Folders []string `json:"folders,omitempty"` // that belonged to no run
	Bytes   int64    `json:"bytes"`
}
