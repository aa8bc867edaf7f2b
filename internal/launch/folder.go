package launch

import (
	"path/filepath"

	"muster.dev/muster/internal/job"
)

// What of a run's folder its tasks see.
const (
	CodeDir    = "code"
	InputsDir  = "inputs"
	OutputsDir = "outputs"
	SecretsDir = "secrets" // files, for the life of the run

	// CheckpointDir is for checkpoints, unless the job has another place.
	CheckpointDir = "checkpoint"
)

// Checkpoints is where the tasks of a run keep their checkpoints: in the run's
// own folder, or in one of the user's, which we make and never delete.
func Checkpoints(s *job.Spec, runDir string) string {
	if s.Checkpoint != "" {
		return s.Checkpoint
	}
	return filepath.Join(runDir, CheckpointDir)
}

// SecretFile is how a secret's file is called in its folder. One that a
// container shows elsewhere has a place of its own.
func SecretFile(name string, s job.Secret) string {
	if filepath.IsAbs(s.As) {
		return "as-" + name
	}
	return filepath.Base(s.As)
}
