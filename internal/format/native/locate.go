package native

import (
	"go.yaml.in/yaml/v3"

	"muster.dev/muster/internal/job"
)

// Locate says where a file has a field of its job, or of one of its jobs if it
// is a group: file:line:column, and the field as the file has it. It is for
// what turns out to be wrong with a file that could be read.
func Locate(name string, data []byte, sets []string, inGroup string, path ...string) (where, field string) {
	r := &report{file: name}
	root := loadWith(r, data, sets)
	if root == nil || root.kind != yaml.MappingNode {
		return "", ""
	}
	d := draftOf(cursor{r: r, v: root}, inGroup)
	if d == nil {
		return "", ""
	}
	at := d.locate(path)
	return r.where(at.v.pos), at.trail.String()
}

func draftOf(c cursor, inGroup string) *draft {
	if inGroup == "" {
		return readFile(c)
	}
	defaults := readGroupTop(c, &job.Group{})
	jobs := c.v.member("jobs")
	if jobs == nil || jobs.member(inGroup) == nil {
		return nil
	}
	own := cursor{c.r, c.trail.then("jobs").then(inGroup), jobs.member(inGroup)}
	return readJob(withDefaults(own, defaults))
}
