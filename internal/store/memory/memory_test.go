package memory_test

import (
	"testing"

	"muster.dev/muster/internal/store"
	"muster.dev/muster/internal/store/memory"
	"muster.dev/muster/internal/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.New() })
}
