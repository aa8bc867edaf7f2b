// Package job is what a user writes: roles, replicas, commands, files and
// policies. A Spec is the one form of it; every format is read into a Spec, and
// its JSON is the wire and the stored form. The package does no I/O.
package job

// A Spec is one job, complete: defaults that stand at the top of a job file
// have been merged into its roles.
type Spec struct {
	Name       string            `json:"name,omitempty"`
	Framework  Framework         `json:"framework"`
	Roles      map[string]*Role  `json:"roles"`
	Code       *Code             `json:"code,omitempty"`
	Inputs     []Input           `json:"inputs,omitempty"`
	Outputs    []Output          `json:"outputs,omitempty"`
	Checkpoint string            `json:"checkpoint,omitempty"`
	Secrets    map[string]Secret `json:"secrets,omitempty"`

	// Success names whose exit 0 ends the run: all, any, none or a role.
	// Empty means the framework's own rule.
	Success string  `json:"success,omitempty"`
	Restart Restart `json:"restart,omitzero"`
	Limits  Limits  `json:"limits,omitzero"`
	Stop    Stop    `json:"stop,omitzero"`
	Cleanup Cleanup `json:"cleanup,omitzero"`
	Logs    Logs    `json:"logs,omitzero"`

	Suspend     bool              `json:"suspend,omitempty"`
	Queue       string            `json:"queue,omitempty"`
	Priority    int               `json:"priority,omitempty"`
	Isolation   string            `json:"isolation,omitempty"` // auto (default) or none
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`

	// What only one engine has stays as it was written until that engine reads it.
	Kubernetes map[string]any `json:"kubernetes,omitempty"`
	YARN       map[string]any `json:"yarn,omitempty"`
	Slurm      map[string]any `json:"slurm,omitempty"`
	SSH        map[string]any `json:"ssh,omitempty"`
}

// A Framework says how the tasks find each other.
type Framework struct {
	Name      string   `json:"name"`
	Inferred  bool     `json:"inferred,omitempty"`  // nobody named it
	Flavour   string   `json:"flavour,omitempty"`   // mpi, horovod
	Options   []string `json:"options,omitempty"`   // mpi, horovod
	Launcher  string   `json:"launcher,omitempty"`  // mpi, horovod
	Port      int      `json:"port,omitempty"`      // mxnet, torch, jax
	Van       string   `json:"van,omitempty"`       // mxnet
	Interface string   `json:"interface,omitempty"` // mxnet, torch, jax
	Heartbeat Duration `json:"heartbeat,omitempty"` // mxnet
	Key       string   `json:"key,omitempty"`       // tvm
}

// A Role is a set of alike tasks.
type Role struct {
	Replicas   int               `json:"replicas"`
	Procs      string            `json:"procs,omitempty"` // a number, or "gpus"
	Run        string            `json:"run,omitempty"`
	Command    []string          `json:"command,omitempty"`
	Args       []string          `json:"args,omitempty"`
	Setup      string            `json:"setup,omitempty"`
	Teardown   string            `json:"teardown,omitempty"`
	Workdir    string            `json:"workdir,omitempty"`
	Env        map[string]string `json:"env,omitempty"`
	EnvFrom    []string          `json:"env_from,omitempty"` // names whose values the submitter's environment has
	EnvFile    string            `json:"env_file,omitempty"`
	Image      *Image            `json:"image,omitempty"`
	Container  *Container        `json:"container,omitempty"`
	Resources  Resources         `json:"resources,omitzero"`
	Volumes    []Volume          `json:"volumes,omitempty"`
	Ports      []int             `json:"ports,omitempty"`
	Health     *Health           `json:"health,omitempty"`
	Place      *Place            `json:"place,omitempty"`
	Restart    *RoleRestart      `json:"restart,omitempty"`
	Kubernetes map[string]any    `json:"kubernetes,omitempty"`
}

// Code is what the tasks run in: an immutable snapshot of a folder, or of a
// commit of a repository. Of that, a path is the folder in it.
type Code struct {
	Path string `json:"path,omitempty"`
	Git  string `json:"git,omitempty"`
	Ref  string `json:"ref,omitempty"` // a branch, a tag or a commit; empty: what the repository puts first
}

// An Input is put in place, read-only, before the start.
type Input struct {
	Name string `json:"name,omitempty"`
	From string `json:"from"`
	Path string `json:"path,omitempty"`
	Env  string `json:"env,omitempty"`
}

// An Output is kept after the run.
type Output struct {
	Name string `json:"name,omitempty"`
	Path string `json:"path"`
	Env  string `json:"env,omitempty"`
	To   string `json:"to,omitempty"`
	When string `json:"when,omitempty"` // always, success or failure
}

// A Secret says where a secret comes from, never what it is.
type Secret struct {
	Env        string `json:"env,omitempty"`
	File       string `json:"file,omitempty"`
	Kubernetes string `json:"kubernetes,omitempty"`
	As         string `json:"as,omitempty"`
}

// Restart says what happens after a failure.
type Restart struct {
	Limit   int      `json:"limit,omitempty"`
	Scope   string   `json:"scope,omitempty"` // job (default), role or task
	When    string   `json:"when,omitempty"`  // failure (default) or retryable
	Backoff Duration `json:"backoff,omitempty"`
	Codes   *Codes   `json:"codes,omitempty"`
}

// Codes replaces the table of exit codes that "retryable" uses.
type Codes struct {
	Permanent []int `json:"permanent,omitempty"`
	Retryable []int `json:"retryable,omitempty"`
}

// RoleRestart is one role's exception to the job's Restart.
type RoleRestart struct {
	Scope string `json:"scope,omitempty"`
	When  string `json:"when,omitempty"`
}

// Limits end a run that takes too long. Zero means none, but for Rendezvous.
type Limits struct {
	Run        Duration `json:"run,omitempty"`
	Queue      Duration `json:"queue,omitempty"`
	Rendezvous Duration `json:"rendezvous,omitempty"`
	Stall      Duration `json:"stall,omitempty"`
}

// Stop is how tasks are asked to end.
type Stop struct {
	Signal string    `json:"signal,omitempty"`
	Grace  *Duration `json:"grace,omitempty"`
}

// Cleanup is what stays after the end.
type Cleanup struct {
	Tasks string   `json:"tasks,omitempty"`
	TTL   Duration `json:"ttl,omitempty"`
}

// Logs bounds what one instance may write. A task that writes more is failed.
type Logs struct {
	Limit Bytes `json:"limit,omitempty"`
}

// An Image is what a task's container is made from.
type Image struct {
	Name string `json:"name"`
	Pull string `json:"pull,omitempty"`
	Auth string `json:"auth,omitempty"`
}

// Container is how a task's container is started.
type Container struct {
	User       string   `json:"user,omitempty"`
	Network    string   `json:"network,omitempty"`
	Entrypoint []string `json:"entrypoint,omitempty"`
	Privileged bool     `json:"privileged,omitempty"`
	Options    []string `json:"options,omitempty"`
}

// Resources are per replica.
type Resources struct {
	CPUs       float64          `json:"cpus,omitempty"`
	Memory     Bytes            `json:"memory,omitempty"`
	GPUs       int              `json:"gpus,omitempty"`
	GPUType    string           `json:"gpu_type,omitempty"`
	Shm        Bytes            `json:"shm,omitempty"`
	Disk       Bytes            `json:"disk,omitempty"`
	Infiniband bool             `json:"infiniband,omitempty"`
	Custom     map[string]int64 `json:"custom,omitempty"`
}

// A Volume is a folder that a task sees.
type Volume struct {
	Source   string   `json:"source"`
	Path     string   `json:"path"`
	ReadOnly bool     `json:"read_only,omitempty"`
	Type     string   `json:"type,omitempty"`
	Options  []string `json:"options,omitempty"`
}

// Health probes a task.
type Health struct {
	HTTP     string   `json:"http,omitempty"`
	TCP      string   `json:"tcp,omitempty"`
	Command  []string `json:"command,omitempty"`
	Every    Duration `json:"every,omitempty"`
	Timeout  Duration `json:"timeout,omitempty"`
	Failures int      `json:"failures,omitempty"`
	Delay    Duration `json:"delay,omitempty"`
}

// Place selects nodes.
type Place struct {
	Labels  map[string]string `json:"labels,omitempty"`
	Nodes   []string          `json:"nodes,omitempty"`
	Exclude []string          `json:"exclude,omitempty"`
	Pack    string            `json:"pack,omitempty"`
	Spread  bool              `json:"spread,omitempty"`
}
