package problem

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

func TestErrorSaysWhereWhatAndWhy(t *testing.T) {
	e := &Error{Kind: Invalid, Where: "muster.yaml:7:5", Field: "roles.worker.replica", Text: "unknown field"}
	if got, want := e.Error(), "muster.yaml:7:5: roles.worker.replica: unknown field"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w := Wrap(Refused, io.EOF, "read %s", "x")
	if got, want := w.Error(), "read x: EOF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(w, io.EOF) {
		t.Error("the cause is lost")
	}
}

func TestKindOf(t *testing.T) {
	tests := []struct {
		name string
		err  error
		want Kind
	}{
		{"an error of ours", New(NotFound, "no run x"), NotFound},
		{"one that was wrapped", fmt.Errorf("get x: %w", New(Stale, "taken over")), Stale},
		{"a list", List{New(Invalid, "a"), New(Refused, "b")}, Invalid},
		{"a wrapped list", fmt.Errorf("check: %w", List{New(Refused, "b")}), Refused},
		{"another error", io.EOF, Internal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := KindOf(tt.err); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWithHintLeavesTheOriginal(t *testing.T) {
	e := New(Refused, "no GPU")
	h := e.WithHint("--gpus %d", 0)
	if e.Hint != "" || HintOf(fmt.Errorf("plan: %w", h)) != "--gpus 0" {
		t.Errorf("got %q and %q", e.Hint, h.Hint)
	}
}

func TestListErr(t *testing.T) {
	if err := (List{}).Err(); err != nil {
		t.Errorf("an empty list is the error %v", err)
	}
	err := List{New(Invalid, "a"), New(Invalid, "b")}.Err()
	if err == nil || err.Error() != "a\nb" {
		t.Errorf("got %v", err)
	}
}
