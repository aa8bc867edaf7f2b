package rendezvous

import (
	"strconv"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// tvm is TVM's remote tuning: servers offer devices to a tracker, under a key,
// and a tuner asks the tracker for them. Only the tuner ends by itself.
type tvm struct{}

var tvmTracker = job.Task{Role: "tracker", Index: 0}

// tvmVars are the variables that tasks get. TVM's own tools read the tracker's.
var tvmVars = []string{"TVM_TRACKER_HOST", "TVM_TRACKER_PORT", "TVM_TRACKER_KEY", "TVM_SERVER_HOST", "TVM_SERVER_PORT"}

// tvmKey is the key of a job that names none.
const tvmKey = "muster"

// tvmRuns are what the roles that only serve run. Without an end to the range
// they would take another port than the one that the others dial.
var tvmRuns = map[string]string{
	"tracker": `python3 -m tvm.exec.rpc_tracker --host "$TVM_TRACKER_HOST" --port "$TVM_TRACKER_PORT" --port-end "$((TVM_TRACKER_PORT + 1))"`,
	"server": `python3 -m tvm.exec.rpc_server --host "$TVM_SERVER_HOST" --port "$TVM_SERVER_PORT" --port-end "$((TVM_SERVER_PORT + 1))"` +
		` --tracker "$TVM_TRACKER_HOST:$TVM_TRACKER_PORT" --key "$TVM_TRACKER_KEY"`,
}

func (tvm) Facts() Facts {
	return Facts{
		Name: "tvm", Success: "tuner", Gathers: true, TakesBack: true, Helpers: []string{"tracker", "server"},
		Given: []string{"tracker", "server"}, Servers: "server", Hangs: pythonEnd,
	}
}

func (tvm) Check(s *job.Spec) problem.List {
	l := checkRoles(s, "tracker", "server", "tuner")
	l = append(l, checkOne(s, "tracker")...)
	l = append(l, checkAtLeastOne(s, "server")...)
	l = append(l, checkAtLeastOne(s, "tuner")...)
	l = append(l, checkProcs(s)...)
	l = append(l, checkOptions(s.Framework, "key")...)
	return append(l, checkEnv(s, tvmVars...)...)
}

// complete takes the workers for tuners, and adds the tracker and the commands
// of those that only serve.
func (tvm) complete(s *job.Spec) {
	rename(s, "worker", "tuner")
	tuner := s.Roles["tuner"]
	if tuner == nil {
		return
	}
	imply(s, "tracker", tuner)
	for role, run := range tvmRuns {
		if r := s.Roles[role]; r != nil && !ownCommand(r, tuner) {
			r.Run, r.Command, r.Args = run, nil, nil
			sharePlace(r, tuner)
		}
	}
}

func (tvm) Ports(_ *job.Spec, t job.Task) int {
	if t.Role == "tuner" {
		return 0
	}
	return 1
}

func (f tvm) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	tracker, err := c.member(tvmTracker, 1)
	if err != nil {
		return Plan{}, err
	}
	own, err := c.member(t, f.Ports(s, t))
	if err != nil {
		return Plan{}, err
	}
	key := s.Framework.Key
	if key == "" {
		key = tvmKey
	}
	plan := Plan{Env: map[string]string{
		"TVM_TRACKER_HOST": tracker.Addr, "TVM_TRACKER_PORT": strconv.Itoa(tracker.Ports[0]), "TVM_TRACKER_KEY": key,
	}}
	if t.Role == "server" {
		plan.Env["TVM_SERVER_HOST"], plan.Env["TVM_SERVER_PORT"] = own.Addr, strconv.Itoa(own.Ports[0])
	}
	if t.Role != "tuner" { // which may have much to do before it asks
		plan.Joined = &engine.Probe{Listen: own.Ports[0]}
	}
	return plan, nil
}
