package rendezvous

import (
	"encoding/json"
	"fmt"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// tensorflow is TensorFlow's cluster, which every member knows from TF_CONFIG.
type tensorflow struct{}

// tensorflowRoles are the roles that others dial; an evaluator stands aside.
var tensorflowRoles = []string{"chief", "worker", "ps"}

// tensorflowVars are the variables that tasks get.
var tensorflowVars = []string{"TF_CONFIG"}

func (tensorflow) Facts() Facts {
	return Facts{
		Name: "tensorflow", Success: "worker", Gathers: true, Helpers: []string{"ps"},
		Given: []string{"chief", "ps", "evaluator"}, Servers: "ps", Hangs: pythonEnd,
	}
}

func (tensorflow) Check(s *job.Spec) problem.List {
	l := checkRoles(s, "chief", "worker", "ps", "evaluator")
	if s.TaskCount("chief") == 0 {
		l = append(l, checkAtLeastOne(s, "worker")...)
	}
	for _, role := range []string{"chief", "evaluator"} {
		if n := s.TaskCount(role); n > 1 {
			l = append(l, invalid("roles."+role+".replicas", "must be at most 1 for tensorflow, is %d", n))
		}
	}
	l = append(l, checkProcs(s)...)
	l = append(l, checkOptions(s.Framework)...)
	l = append(l, checkScope(s, "a TensorFlow cluster cannot take a member back")...)
	return append(l, checkEnv(s, tensorflowVars...)...)
}

// complete knows parameter servers by their short form, and that a chief, where
// there is one, finishes the job. All roles run the same script.
func (tensorflow) complete(s *job.Spec) {
	rename(s, "server", "ps")
	if s.TaskCount("chief") > 0 && s.Success == "" {
		s.Success = "chief"
	}
	like := s.Roles["worker"]
	if like == nil || !hasCommand(like) {
		like = s.Roles["chief"]
	}
	if like == nil || !hasCommand(like) {
		return
	}
	for _, r := range s.Roles {
		if !hasCommand(r) {
			shareCommand(r, like)
		}
	}
}

func (tensorflow) Ports(_ *job.Spec, t job.Task) int {
	if t.Role == "evaluator" {
		return 0
	}
	return 1
}

// A tfConfig is TF_CONFIG.
type tfConfig struct {
	Cluster map[string][]string `json:"cluster"`
	Task    tfTask              `json:"task"`
}

type tfTask struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

func (f tensorflow) Launch(s *job.Spec, c Cluster, t job.Task) (Plan, error) {
	config := tfConfig{map[string][]string{}, tfTask{t.Role, t.Index}}
	members := 0
	for _, role := range tensorflowRoles {
		for i := range s.TaskCount(role) {
			m, err := c.member(job.Task{Role: role, Index: i}, 1)
			if err != nil {
				return Plan{}, err
			}
			config.Cluster[role] = append(config.Cluster[role], hostPort(m.Addr, m.Ports[0]))
			members++
		}
	}
	own, err := c.member(t, f.Ports(s, t))
	if err != nil {
		return Plan{}, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return Plan{}, fmt.Errorf("write TF_CONFIG: %w", err)
	}
	plan := Plan{Env: map[string]string{"TF_CONFIG": string(text)}}
	// A chief may only dial, and a gang of one may well not listen.
	if members > 1 && (t.Role == "worker" || t.Role == "ps") {
		plan.Joined = &engine.Probe{Listen: own.Ports[0]}
	}
	return plan, nil
}
