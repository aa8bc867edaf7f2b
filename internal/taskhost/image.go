//go:build linux

package taskhost

import (
	"fmt"

	"muster.dev/muster/internal/engine"
	"muster.dev/muster/internal/taskhost/container"
)

// An image is one that the run's containers are made from. It is fetched once,
// not by every task.
type image struct {
	config  container.ImageConfig
	ready   bool
	waiting []func(container.ImageConfig, error)
}

// withImage calls then, in the loop, when the image is on this machine, or when
// it cannot be had.
func (h *host) withImage(c *engine.Container, then func(container.ImageConfig, error)) {
	i := h.images[c.Image]
	switch {
	case i == nil:
		i = &image{waiting: []func(container.ImageConfig, error){then}}
		h.images[c.Image] = i
	case i.ready:
		then(i.config, nil)
		return
	default:
		i.waiting = append(i.waiting, then)
		return
	}
	if c.Pull == "always" {
		h.pull(c)
		return
	}
	h.inspect(c, func(answer) {
		if c.Pull == "never" {
			h.haveImage(c, container.ImageConfig{}, fmt.Errorf("the image %s is not on this machine, and image.pull is never", c.Image))
			return
		}
		h.pull(c)
	})
}

// inspect reads an image's config, or calls missing.
func (h *host) inspect(c *engine.Container, missing func(answer)) {
	h.aside(container.InspectCommand(c), c.Runtime.Env, func(a answer) {
		if !a.ok {
			missing(a)
			return
		}
		config, err := container.ParseImage([]byte(a.stdout))
		h.haveImage(c, config, err)
	})
}

func (h *host) pull(c *engine.Container) {
	refused := func(a answer) { h.haveImage(c, container.ImageConfig{}, container.Refusal(c, a.stderr)) }
	p, err := container.NewPull(h.config.Dir, c)
	if err != nil {
		refused(answer{stderr: err.Error()})
		return
	}
	h.aside(p.Argv, p.Env, func(a answer) {
		p.Done()
		if !a.ok {
			refused(a)
			return
		}
		h.inspect(c, refused)
	})
}

// haveImage tells those who wait. What could not be had is tried again by the
// next attempt.
func (h *host) haveImage(c *engine.Container, config container.ImageConfig, err error) {
	i := h.images[c.Image]
	i.config, i.ready = config, err == nil
	if err != nil {
		delete(h.images, c.Image)
	}
	for _, then := range i.waiting {
		then(config, err)
	}
	i.waiting = nil
}
