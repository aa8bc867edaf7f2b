// Package chaos kills Muster's own processes, at named points and at random
// moments, and checks what is left: no acknowledged run lost, never two
// attempts at once, terminal phases fixed, nothing left behind, no log byte
// lost, no GPU given to two runs, no job of a group before what it needs. The
// checker is here; what it checks is made by the tests.
//
// MUSTER_CHAOS_ROUNDS is how many random rounds are run, MUSTER_CHAOS_SEED
// repeats those of a seed and MUSTER_CHAOS_ROUND only one of them.
// MUSTER_CHAOS_LONG takes the time that people take, MUSTER_CHAOS_CLOCK lets
// the tests step the clock of the machine, which must then be theirs alone.
package chaos
