package run

// A Machine is what the submitter of a run said that there is to give out.
// Whoever shares it out later may have been told otherwise, or nothing.
type Machine struct {
	Slots int      `json:"slots,omitempty"`
	GPUs  []string `json:"gpus,omitempty"`
}

// A Grant is what a run has been given of a machine, whole and to itself, until
// nothing of it is alive. A run that needs nothing scarce has an empty one.
type Grant struct {
	Slots int `json:"slots,omitempty"`
	// GPUs are the devices of each task, by its name.
	GPUs map[string][]string `json:"gpus,omitempty"`
}
