package launch

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

// healthOf is how a task of a role that serves on these ports is probed; nil
// when it is not.
func healthOf(r *job.Role, listen []int) *engine.Health {
	h := r.Health
	if h == nil {
		return nil
	}
	to := &engine.Health{
		Command: h.Command, Delay: h.Delay.D(), Failures: cmp.Or(h.Failures, probeFailures),
		Every: cmp.Or(h.Every.D(), probeEvery), Timeout: cmp.Or(h.Timeout.D(), probeTimeout),
	}
	if h.TCP != "" {
		to.TCP, _ = probeAddress(h.TCP, listen)
	}
	if h.HTTP != "" {
		to.HTTP, _ = probeURL(h.HTTP, listen)
	}
	return to
}

// probeAddress reads a port, host:port, or ports[0], which is the first of the
// role's ports, whatever its number is.
func probeAddress(text string, listen []int) (string, *problem.Error) {
	const forms = "tcp: 8080, tcp: HOST:8080, or tcp: ports[0], the first of the role's ports"
	if item, ok := strings.CutPrefix(text, "ports["); ok {
		n, err := strconv.Atoi(strings.TrimSuffix(item, "]"))
		if err != nil || n < 0 || n >= len(listen) || text != fmt.Sprintf("ports[%d]", n) {
			return "", problem.New(problem.Invalid, "%q is none of the role's %d ports", text, len(listen)).WithHint(forms)
		}
		return loopbackAt(listen[n]), nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = "127.0.0.1", text
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return "", problem.New(problem.Invalid, "%q is no port", text).WithHint(forms)
	}
	return net.JoinHostPort(host, port), nil
}

func loopbackAt(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }

// probeURL reads a URL, or a path that is asked for at the role's first port.
func probeURL(text string, listen []int) (string, *problem.Error) {
	full := text
	if strings.HasPrefix(text, "/") {
		if len(listen) == 0 {
			return "", problem.New(problem.Invalid, "a path alone needs the role's port").WithHint("ports: [0] or ports: [8080], or http: http://127.0.0.1:8080%s", text)
		}
		full = "http://" + loopbackAt(listen[0]) + text
	}
	u, err := url.Parse(full)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", problem.New(problem.Invalid, "%q is no URL", text).WithHint("http: http://127.0.0.1:8080/healthz, or a path that begins with /")
	}
	return full, nil
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
			_, e := probeAddress(r.Health.TCP, r.Ports)
			add("health.tcp", e)
		}
		if r.Health.HTTP != "" {
			_, e := probeURL(r.Health.HTTP, r.Ports)
			add("health.http", e)
		}
		if r.Image != nil && r.Health.Command == nil && r.ContainerOr().Network != "host" {
			add("health", problem.New(problem.Refused, "a container with a network of its own cannot be reached from here").WithHint("network: host"))
		}
	}
	return l
}
