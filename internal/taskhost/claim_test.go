//go:build linux

package taskhost

import (
	"errors"
	"testing"
)

// A host that hears of its owner only after another has come gets no claim.
func TestBar(t *testing.T) {
	dir := t.TempDir()
	first, err := takeClaim(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := Bar(dir, 2); !errors.Is(err, ErrBusy) {
		t.Errorf("with a host: %v", err)
	}
	_ = first.f.Close()
	if err := Bar(dir, 2); err != nil {
		t.Errorf("without one: %v", err)
	}
	var stale staleClaim
	if _, err := takeClaim(dir, 1); !errors.As(err, &stale) {
		t.Errorf("one that comes late: %v", err)
	}
	if err := Bar(dir, 1); !errors.As(err, &stale) {
		t.Errorf("an owner that comes late: %v", err)
	}
	mine, err := takeClaim(dir, 2)
	if err != nil {
		t.Fatalf("the newer owner's own: %v", err)
	}
	_ = mine.f.Close()
}
