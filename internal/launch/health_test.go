package launch

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
)

func TestHealthOf(t *testing.T) {
	for _, c := range []struct {
		name string
		role job.Role
		want *engine.Health
	}{
		{"none", job.Role{}, nil},
		{"a port", job.Role{Health: &job.Health{TCP: "80"}}, &engine.Health{TCP: "127.0.0.1:80", Every: probeEvery, Timeout: probeTimeout, Failures: probeFailures}},
		{
			"a port by its place", job.Role{Ports: []int{8080, 9090}, Health: &job.Health{TCP: "ports[1]"}},
			&engine.Health{TCP: "127.0.0.1:9090", Every: probeEvery, Timeout: probeTimeout, Failures: probeFailures},
		},
		{
			"a path", job.Role{Ports: []int{8080, 9090}, Health: &job.Health{HTTP: "/ok?a=1", Every: job.Duration(time.Second), Timeout: job.Duration(time.Minute), Failures: 1, Delay: job.Duration(time.Hour)}},
			&engine.Health{HTTP: "http://127.0.0.1:8080/ok?a=1", Every: time.Second, Timeout: time.Minute, Failures: 1, Delay: time.Hour},
		},
	} {
		if got := healthOf(&c.role, c.role.Ports); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestHealthFaults(t *testing.T) {
	image := &job.Image{Name: "serve:1"}
	for _, c := range []struct {
		name string
		role job.Role
		want string // part of the problem; "" for none
	}{
		{"no probe", job.Role{}, ""},
		{"a port", job.Role{Health: &job.Health{TCP: "80"}}, ""},
		{"a port elsewhere", job.Role{Health: &job.Health{TCP: "[::1]:80"}}, ""},
		{"no port", job.Role{Health: &job.Health{TCP: "web"}}, `roles.web.health.tcp: "web" is no port`},
		{"too high a port", job.Role{Health: &job.Health{TCP: "localhost:65536"}}, "is no port"},
		{"no port by its number", job.Role{Ports: []int{0}, Health: &job.Health{TCP: "0"}}, "is no port; tcp: 8080, tcp: HOST:8080, or tcp: ports[0]"},
		{"a port by its place", job.Role{Ports: []int{0}, Health: &job.Health{TCP: "ports[0]"}}, ""},
		{"a place that is not there", job.Role{Ports: []int{0}, Health: &job.Health{TCP: "ports[1]"}}, `"ports[1]" is none of the role's 1 ports`},
		{"a place that is no number", job.Role{Ports: []int{0}, Health: &job.Health{TCP: "ports[+0]"}}, "is none of"},
		{"a URL", job.Role{Health: &job.Health{HTTP: "https://localhost/ok"}}, ""},
		{"a path and a port", job.Role{Ports: []int{80}, Health: &job.Health{HTTP: "/ok"}}, ""},
		{"a path and no port", job.Role{Health: &job.Health{HTTP: "/ok"}}, "ports: [0] or ports: [8080], or http: http://127.0.0.1:8080/ok"},
		{"no URL", job.Role{Health: &job.Health{HTTP: "localhost:80"}}, "is no URL"},
		{"a command", job.Role{Health: &job.Health{Command: []string{"x"}}}, ""},
		{"a command in a container", job.Role{Image: image, Health: &job.Health{Command: []string{"x"}}}, ""},
		{"a port of a container", job.Role{Image: image, Health: &job.Health{TCP: "80"}}, ""},
		{"a port of a network of its own", job.Role{Image: image, Container: &job.Container{Network: "none"}, Health: &job.Health{TCP: "80"}}, "network: host"},
	} {
		c.role.Replicas = 1
		text := ""
		for _, p := range healthFaults(&job.Spec{Roles: map[string]*job.Role{"web": &c.role}}) {
			text += p.Field + ": " + p.Text + "; " + p.Hint + "\n"
		}
		if (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}
