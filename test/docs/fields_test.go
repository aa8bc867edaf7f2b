//go:build linux

package docs

import "slices"

// A section is an object of the job file and what its fields mean.
type section struct {
	title  string
	path   string // in the schema
	fields []fieldDoc
	others []string // fields that another section is about
}

func (s section) leavesOut(name string) bool { return slices.Contains(s.others, name) }

// A fieldDoc is what the parser does not say of a field.
type fieldDoc struct {
	name, standard, meaning string
	refused                 string // a job that is refused because of it, while it is not built
}

func (f fieldDoc) text() string {
	if f.refused == "" {
		return f.meaning
	}
	return f.meaning + ". Not built yet: refused"
}

// Fields of a role may stand at the top too; there they are every role's.
var ofRole = []string{
	"replicas", "procs", "run", "command", "args", "setup", "teardown", "workdir", "env", "env_file", "image", "container", "resources",
	"volumes", "ports", "health", "place",
}

var sections = []section{
	{title: "The job", path: "file", others: append([]string{"jobs", "max_parallel", "stop_on_failure"}, ofRole...), fields: []fieldDoc{
		{"name", "the script's or folder's name", "a run is `name-xxxx`; the name alone means its newest run", ""},
		{"framework", "`mxnet` with servers, `torch` with several workers, else `plain`", "how the tasks find each other; see [frameworks](frameworks.md)", ""},
		{"workers", "1", "short for `roles.worker.replicas`", ""},
		{"servers", "0", "short for `roles.server.replicas` (tensorflow: `ps`)", ""},
		{"roles", "what the framework implies", "roles that differ", ""},
		{"code", "in place", "a folder, or a commit of a repository, that is frozen at submit; the tasks run in a copy of it", ""},
		{"inputs", "–", "put in place, read-only, before the start", ""},
		{"outputs", "`$MUSTER_OUTPUT_DIR`", "what else is kept; a text is a `path`", ""},
		{"checkpoint", "a folder of the run", "a folder of yours for `$MUSTER_CHECKPOINT_DIR`, from the file's, or in a volume: `NAME/sub`. It is made if it is not there, is never deleted, and is not listed by `muster files`", ""},
		{"secrets", "–", "variables or files that are never shown; see [security](security.md)", ""},
		{"success", "the framework's rule", "whose exit 0 ends the run: `all`, `any` or a role; `none`: nobody's, it stays up until stopped; see [failures](failures.md#serving)", ""},
		{"restart", "0", "what happens after a failure; a number is a `limit`; see [failures](failures.md#restarts)", ""},
		{"limits", "–", "what ends a run that takes too long", ""},
		{"stop", "–", "how tasks are asked to end", ""},
		{"cleanup", "–", "what stays after the end", ""},
		{"logs", "–", "how much a task may write", ""},
		{"suspend", "false", "accept it and do not start it before `muster resume`", ""},
		{"queue", "–", "for other engines; not used on this machine", ""},
		{"priority", "`normal` (0)", "who waits starts by priority, then by age; `low` is -10, `high` 10", ""},
		{"isolation", "`auto`", "`none` leaves out the namespaces; see [security](security.md#isolation)", ""},
		{"labels", "–", "for `muster ps -l`", ""},
		{"annotations", "–", "kept, for other programs", ""},
		{"kubernetes", "–", "for that engine; not used on this machine", ""},
		{"yarn", "–", "for that engine; not used on this machine", ""},
		{"slurm", "–", "for that engine; not used on this machine", ""},
		{"ssh", "–", "for that engine; not used on this machine", ""},
	}},
	{title: "A role, and the top as default of every role", path: "role", fields: []fieldDoc{
		{"replicas", "1", "how many", ""},
		{"procs", "1", "processes of each replica; see [frameworks](frameworks.md#processes-of-a-replica)", ""},
		{"run", "–", "a script for `bash -e` (else `sh -e`)", ""},
		{"command", "the image's", "a program and its arguments, without a shell; either this or `run`", ""},
		{"args", "–", "more arguments; alone only with an image", ""},
		{"setup", "–", "a script before the command of each replica; its failure is the task's, which then `could not be started`; see [failures](failures.md#setup-and-teardown)", ""},
		{"teardown", "–", "a script after the last process of each replica, however it ended; see [failures](failures.md#setup-and-teardown)", ""},
		{"workdir", "the code, else the image's, else yours", "where the tasks work", ""},
		{"env", "–", "variables, text as written; without a value, from your environment", ""},
		{"env_file", "–", "a file of `K=V` lines", ""},
		{"image", "none", "run in a container; see [containers](containers.md)", ""},
		{"container", "–", "how the container is started; with an image only", ""},
		{"resources", "–", "of each replica", ""},
		{"volumes", "–", "`source:path` or `source:path:ro`; with an image only. A name is bound with `--mount name=DIR`", ""},
		{"ports", "–", "the ports that each task serves on, held for it from before its start; 0 is any free one. `$MUSTER_PORT` has the first, `$MUSTER_PORTS` all; see [failures](failures.md#serving)", ""},
		{"health", "–", "how the tasks are asked whether they are well; one of `http`, `tcp`, `command`. A task that is not is ended", ""},
		{"place", "–", "for other engines; not used on this machine", ""},
		{"restart", "the job's", "this role's exception", ""},
		{"kubernetes", "–", "for that engine; not used on this machine", ""},
	}},
	{title: "framework", path: "file.framework", fields: []fieldDoc{
		{"name", "–", "which", ""},
		{"flavour", "`auto`", "mpi, horovod: `openmpi`, `mpich`, `intel`", ""},
		{"options", "–", "mpi, horovod: mpirun's own options", ""},
		{"launcher", "`mpirun`", "mpi, horovod: another one", ""},
		{"port", "a free one", "mxnet, torch, jax: where they meet", ""},
		{"van", "MXNet's", "mxnet: `zmq`, `p3`, `ibverbs`", ""},
		{"interface", "–", "mxnet, torch, jax: the network interface", ""},
		{"heartbeat", "MXNet's: none", "mxnet: how often members are asked", ""},
		{"key", "`muster`", "tvm: the servers' key", ""},
	}},
	{title: "code", path: "file.code", fields: []fieldDoc{
		{"path", "–", "the folder, from the file's; `.gitignore` and `.musterignore` hold, `.git` never comes along. With `git`, a folder in the repository", ""},
		{"git", "–", "a repository: `https://…`, `ssh://…`, `HOST:PATH`, or a path; see [below](#code-from-a-repository)", ""},
		{"ref", "the repository's HEAD", "for `git`: a branch, a tag or a commit", ""},
	}},
	{title: "inputs", path: "file.inputs", fields: []fieldDoc{
		{"name", "the last part of `from`", "what it is called", ""},
		{"from", "–", "a path, from the file's folder, or a URL", ""},
		{"path", "–", "where it is seen in the code; needs `code`", ""},
		{"env", "–", "a variable that has its path", ""},
	}},
	{title: "outputs", path: "file.outputs", fields: []fieldDoc{
		{"name", "–", "what it is called", ""},
		{"path", "–", "a path or pattern, in the tasks' folder", ""},
		{"env", "–", "a variable that has its path, which is then in `$MUSTER_OUTPUT_DIR`", ""},
		{"to", "–", "a folder to copy it to at the end", ""},
		{"when", "`always`", "`always`, `success`, `failure`", ""},
	}},
	{title: "secrets", path: "file.secrets", fields: []fieldDoc{
		{"env", "–", "a variable of yours", ""},
		{"file", "–", "a file of yours", ""},
		{"kubernetes", "–", "a Secret there", "secrets: {A: {kubernetes: x}}"},
		{"as", "a variable", "a file `$MUSTER_SECRETS_DIR/NAME`, or in a container an absolute path", ""},
	}},
	{title: "restart", path: "file.restart", fields: []fieldDoc{
		{"limit", "0", "how often", ""},
		{"scope", "`job`; `task` with `success: none`", "what is started again: `job`, `role`, `task`; the latter two for plain and tvm", ""},
		{"when", "`failure`", "`retryable`: only after such failures", ""},
		{"backoff", "5s", "before the first restart; doubles up to 5m", ""},
		{"codes", "–", "which exit codes are which", ""},
	}},
	{title: "restart.codes", path: "file.restart.codes", fields: []fieldDoc{
		{"permanent", "all others", "exit codes not worth another try", ""},
		{"retryable", "130, 137, 138, 143", "exit codes that are", ""},
	}},
	{title: "restart of a role", path: "role.restart", fields: []fieldDoc{
		{"scope", "the job's", "as the job's", ""},
		{"when", "the job's", "as the job's", ""},
	}},
	{title: "limits", path: "file.limits", fields: []fieldDoc{
		{"run", "none", "all attempts together", ""},
		{"queue", "none", "waiting for slots and GPUs", ""},
		{"rendezvous", "10m", "from the start of the last task until all have met", ""},
		{"stall", "none", "no task writes anything", ""},
	}},
	{title: "stop", path: "file.stop", fields: []fieldDoc{
		{"signal", "`TERM`", "to every process group", ""},
		{"grace", "10s", "then they are killed", ""},
	}},
	{title: "cleanup", path: "file.cleanup", fields: []fieldDoc{
		{"tasks", "`all`", "for other engines; on this machine nothing is ever left running", ""},
		{"ttl", "never", "so long after its end, the run is deleted by the next `muster ps` or `muster prune`", ""},
	}},
	{title: "logs", path: "file.logs", fields: []fieldDoc{
		{"limit", "none", "of one task's output; one that writes more is failed", ""},
	}},
	{title: "image", path: "role.image", fields: []fieldDoc{
		{"name", "–", "which", ""},
		{"pull", "`missing`", "`missing`, `always`, `never`", ""},
		{"auth", "–", "the secret that is a login for the registry; see [containers](containers.md#images-behind-a-login)", ""},
	}},
	{title: "container", path: "role.container", fields: []fieldDoc{
		{"user", "you", "uid or name", ""},
		{"network", "`host`", "another only for plain jobs", ""},
		{"entrypoint", "the image's", "another", ""},
		{"privileged", "false", "needs `--allow-privileged`", ""},
		{"options", "–", "of podman or docker; need `--allow-privileged`", ""},
	}},
	{title: "resources", path: "role.resources", fields: []fieldDoc{
		{"cpus", "unlimited", "enforced by cgroups where they can be used; sets OMP_NUM_THREADS", ""},
		{"memory", "unlimited", "as cpus; more is out of memory", ""},
		{"gpus", "0", "whole ones, for this run alone; CUDA_VISIBLE_DEVICES", ""},
		{"gpu_type", "–", "for other engines; not used on this machine", ""},
		{"shm", "the runtime's", "/dev/shm of a container", ""},
		{"disk", "–", "for other engines; not used on this machine", ""},
		{"infiniband", "false", "for other engines; not used on this machine", ""},
		{"custom", "–", "for other engines; not used on this machine", ""},
	}},
	{title: "volumes", path: "role.volumes", fields: []fieldDoc{
		{"source", "–", "a path, from the file's folder, or a name to be bound", ""},
		{"path", "–", "where the container sees it", ""},
		{"read_only", "false", "`:ro`", ""},
		{"type", "`bind`", "others are for other engines: refused", ""},
		{"options", "–", "for other engines: refused", ""},
	}},
	{title: "health", path: "role.health", fields: []fieldDoc{
		{"http", "–", "a URL, or a path at the first of `ports`; any answer below 400 is a good one", ""},
		{"tcp", "–", "a port, host:port, or `ports[0]`, the first of `ports`, to connect to", ""},
		{"command", "–", "a program that ends with 0, where the tasks work; with an image, in their container", ""},
		{"every", "10s", "how often", ""},
		{"timeout", "5s", "of one probe", ""},
		{"failures", "3", "how many in a row end the task", ""},
		{"delay", "0", "from the start of the task, its `setup` included, to the first probe", ""},
	}},
	{title: "place", path: "role.place", fields: []fieldDoc{
		{"labels", "–", "of the node", ""},
		{"nodes", "–", "only these", ""},
		{"exclude", "–", "not these", ""},
		{"pack", "–", "`node` keeps the role on one", ""},
		{"spread", "false", "one task per node", ""},
	}},
}
