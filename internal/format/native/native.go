// Package native reads Muster's own job file, muster.yaml, into a job.Spec. It
// is strict, it reports everything that is wrong at once, and a hostile file
// costs it little. It does no I/O.
package native

import "muster.dev/muster/internal/job"

// What a job file may cost, far above what people write.
const (
	maxSize     = 1 << 20
	maxValues   = 100_000
	maxDepth    = 100
	maxProblems = 1000
)

// Parse reads a job file; name stands for it in the positions of problems. The
// error is a problem.List of all that is wrong, in the order of the file.
// Relative paths stay as they were written. Settings, each path=value, come
// over what the file has.
func Parse(name string, data []byte, sets ...string) (*job.Spec, error) {
	r := &report{file: name}
	root := loadWith(r, data, sets)
	if root == nil {
		return nil, r.err()
	}
	return parse(r, root)
}

func parse(r *report, root *value) (*job.Spec, error) {
	d := readFile(cursor{r: r, v: root})
	if d != nil {
		d.check()
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return &d.spec, nil
}
