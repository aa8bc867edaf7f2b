package launch

import (
	"maps"
	"strings"
	"testing"

	"muster.dev/muster/internal/job"
)

func TestPortEnv(t *testing.T) {
	if got := portEnv(nil); got != nil {
		t.Errorf("%v for a task that does not serve", got)
	}
	want := map[string]string{"MUSTER_PORT": "8080", "MUSTER_PORTS": "8080,40000"}
	if got := portEnv([]int{8080, 40000}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestPortFaults(t *testing.T) {
	roles := func(web, api job.Role) map[string]*job.Role { return map[string]*job.Role{"web": &web, "api": &api} }
	one := func(ports ...int) job.Role { return job.Role{Replicas: 1, Ports: ports} }
	for _, c := range []struct {
		name  string
		roles map[string]*job.Role
		want  string // the problems; "" for none
	}{
		{"none", roles(one(), one()), ""},
		{"different ones", roles(one(80, 81), one(82)), ""},
		{"free ones for many", roles(job.Role{Replicas: 4, Ports: []int{0, 0}}, one(0)), ""},
		{"one for many", roles(job.Role{Replicas: 2, Ports: []int{0, 80}}, one()), "roles.web.ports[1]: 2 tasks cannot all have port 80 of this machine; use 0 and $MUSTER_PORT"},
		{"one for the processes of a replica", roles(job.Role{Replicas: 1, Procs: "2", Ports: []int{80}}, one()), "roles.web.ports[0]: 2 tasks cannot"},
		{"one for two roles", roles(one(80), one(80)), "roles.web.ports[0]: role api has port 80 already"},
		{"one twice", roles(one(80, 80), one()), "roles.web.ports[1]: role web has port 80 already"},
		{"nobody's", roles(job.Role{Ports: []int{80}}, one(80)), ""},
		{
			"a network of its own", roles(job.Role{Replicas: 1, Ports: []int{80}, Image: &job.Image{Name: "a"}, Container: &job.Container{Network: "bridge"}}, one()),
			"roles.web.ports[0]: a container with a network of its own cannot be reached at a port of this machine; network: host",
		},
	} {
		text := ""
		for _, p := range portFaults(&job.Spec{Roles: c.roles}) {
			text += p.Field + ": " + p.Text + "; " + p.Hint + "\n"
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}
