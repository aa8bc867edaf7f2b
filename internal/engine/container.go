package engine

// A ContainerEngine is an engine that can put tasks into containers.
type ContainerEngine interface {
	// FindRuntime looks for what makes containers, as env, the submitter's,
	// has it; a machine without one is a problem of kind Refused.
	FindRuntime(env []string) (*Runtime, error)
}

// The kinds of runtimes.
const (
	Podman = "podman"
	Docker = "docker"
)

// A Runtime is a program that makes containers.
type Runtime struct {
	Kind     string   `json:"kind"`
	Path     string   `json:"path"`
	Rootless bool     `json:"rootless,omitempty"` // containers belong to a user, not to root
	Labels   bool     `json:"labels,omitempty"`   // SELinux keeps containers from files that are not labelled for them
	Env      []string `json:"env,omitempty"`      // what the program itself needs
}

// A Container is what a task's process is put into.
type Container struct {
	Runtime Runtime `json:"runtime"`
	Image   string  `json:"image"`
	Pull    string  `json:"pull,omitempty"` // missing (default), always or never
	Login   *Login  `json:"login,omitempty"`

	// Entrypoint replaces the image's; Keep says that the launch's argv are
	// arguments to it, and that none means the image's own.
	Entrypoint []string `json:"entrypoint,omitempty"`
	Keep       bool     `json:"keep,omitempty"`

	User       string   `json:"user"`             // as the runtime takes it: 1000:1000
	Groups     []int    `json:"groups,omitempty"` // besides the user's own
	Network    string   `json:"network"`
	Privileged bool     `json:"privileged,omitempty"`
	Options    []string `json:"options,omitempty"` // for the runtime, as the user wrote them
	Mounts     []Mount  `json:"mounts,omitempty"`
	Shm        int64    `json:"shm,omitempty"` // bytes, 0 for the runtime's default
	GPUs       []string `json:"gpus,omitempty"`

	// Ranks says that the task is one of several that meet in the run's folder
	// and share memory there, as MPI's do.
	Ranks bool `json:"ranks,omitempty"`

	// Fallback is where the task works if neither the launch nor the image says.
	Fallback string `json:"fallback,omitempty"`
}

// MusterInside is where a container has our own program.
const MusterInside = "/.muster/init"

// A Mount is something of the machine that a container sees.
type Mount struct {
	Source   string `json:"source"`
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only,omitempty"`
}
