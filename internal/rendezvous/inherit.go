package rendezvous

import (
	"slices"
	"strings"
)

// A task that inherits another gang's whereabouts joins that one, or waits for
// it for ever; so these never come from the caller's environment.
var (
	reservedPrefixes = []string{"DMLC_", "PS_", "OMPI_", "PMIX_", "PMI_", "PRTE_", "TORCHELASTIC_", "MUSTER_"}
	reservedNames    = []string{
		"PORT", // ps-lite binds it
		"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK",
		"GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_NAME", "ROLE_RANK", "ROLE_WORLD_SIZE",
		"MASTER_ADDR", "MASTER_PORT",
		"MPI_LOCALRANKID", "MPI_LOCALNRANKS",
		"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE",
		"HOROVOD_CONTROLLER", "HOROVOD_CPU_OPERATIONS",
		"JAX_COORDINATOR_ADDRESS", "JAX_COORDINATOR_BIND_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_LOCAL_DEVICE_IDS",
		"BYTEPS_LOCAL_RANK", "BYTEPS_LOCAL_SIZE", "BYTEPS_FORCE_DISTRIBUTED",
		"TVM_TRACKER_HOST", "TVM_TRACKER_PORT", "TVM_TRACKER_KEY", "TVM_SERVER_HOST", "TVM_SERVER_PORT",
		"TF_CONFIG", "MX_CONFIG",
	}
	// inherited are exceptions: settings of Muster itself, not of one run.
	inherited = []string{"MUSTER_STATE_DIR"}
)

// Reserved says that a variable belongs to a rendezvous, of whatever launcher,
// and is not inherited.
func Reserved(name string) bool {
	if slices.Contains(inherited, name) {
		return false
	}
	return slices.Contains(reservedNames, name) ||
		slices.ContainsFunc(reservedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// Strip returns the variables of env (NAME=value) that tasks may inherit.
func Strip(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return Reserved(name)
	})
}
