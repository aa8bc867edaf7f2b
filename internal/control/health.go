//go:build linux

package control

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/job"
	"muster.dev/muster/internal/problem"
)

// How a task is probed where its job says nothing.
const (
	probeEvery    = 10 * time.Second
	probeTimeout  = 5 * time.Second
	probeFailures = 3
)

// healthOf is how a role's tasks are probed; nil when they are not.
func healthOf(r *job.Role) *engine.Health {
	h := r.Health
	if h == nil {
		return nil
	}
	to := &engine.Health{
		Command: h.Command, Delay: h.Delay.D(), Failures: cmp.Or(h.Failures, probeFailures),
		Every: cmp.Or(h.Every.D(), probeEvery), Timeout: cmp.Or(h.Timeout.D(), probeTimeout),
	}
	if h.TCP != "" {
		to.TCP, _ = probeAddress(h.TCP)
	}
	if h.HTTP != "" {
		to.HTTP, _ = probeURL(r)
	}
	return to
}

// probeAddress reads a port, or host:port.
func probeAddress(text string) (string, *problem.Error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = "127.0.0.1", text
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", problem.New(problem.Invalid, "%q is no port", text).WithHint("tcp: 8080, or tcp: HOST:8080")
	}
	return net.JoinHostPort(host, port), nil
}

// probeURL reads a URL, or a path that is asked for at the role's first port.
func probeURL(r *job.Role) (string, *problem.Error) {
	text := r.Health.HTTP
	if strings.HasPrefix(text, "/") {
		if len(r.Ports) == 0 {
			return "", problem.New(problem.Invalid, "a path alone needs the role's port").WithHint("ports: [8080], or http: http://127.0.0.1:8080%s", text)
		}
		text = fmt.Sprintf("http://127.0.0.1:%d%s", r.Ports[0], text)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", problem.New(problem.Invalid, "%q is no URL", r.Health.HTTP).WithHint("http: http://127.0.0.1:8080/healthz, or a path that begins with /")
	}
	return text, nil
}

// healthFaults lists the probes that cannot be made.
func healthFaults(s *job.Spec) (l problem.List) {
	for _, name := range s.RoleNames() {
		r := s.Roles[name]
		if r.Health == nil {
			continue
		}
		add := func(field string, e *problem.Error) {
			if e != nil {
				e.Field = "roles." + name + "." + field
				l = append(l, e)
			}
		}
		if r.Health.TCP != "" {
			_, e := probeAddress(r.Health.TCP)
			add("health.tcp", e)
		}
		if r.Health.HTTP != "" {
			_, e := probeURL(r)
			add("health.http", e)
		}
		if r.Image != nil && r.Health.Command != nil {
			add("health.command", problem.New(problem.Refused, "a command inside a container is not supported yet").WithHint("tcp or http"))
		}
		if r.Image != nil && r.Health.Command == nil && containerOf(r).Network != "host" {
			add("health", problem.New(problem.Refused, "a container with a network of its own cannot be reached from here").WithHint("network: host"))
		}
	}
	return l
}
