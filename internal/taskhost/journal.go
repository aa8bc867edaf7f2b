//go:build linux

package taskhost

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"muster.dev/muster/internal/engine"
)

// A journal is where a host writes every start before it happens and every end
// before it is told, so that they are known when host and owner are gone. It is
// written without fsync: it must survive us, not the machine, with which the
// tasks end anyway.
type journal struct{ f *os.File }

func openJournal(runDir string) (*journal, error) {
	f, err := os.OpenFile(filepath.Join(runDir, JournalName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	// The last line of a host before us may have been cut short.
	if st, err := f.Stat(); err == nil && st.Size() > 0 {
		_, _ = f.WriteString("\n")
	}
	return &journal{f}, nil
}

func (j *journal) write(i engine.Instance) error {
	i.Usage = engine.Usage{}
	line, err := json.Marshal(i)
	if err != nil {
		return err
	}
	_, err = j.f.Write(append(line, '\n'))
	return err
}

// ReadJournal returns the last entry of every instance in a run's journal, in
// the order of their starts. A run without a journal has none.
func ReadJournal(runDir string) ([]engine.Instance, error) {
	f, err := os.Open(filepath.Join(runDir, JournalName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []engine.Instance
	at := map[string]int{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var i engine.Instance
		if err := json.Unmarshal(lines.Bytes(), &i); err != nil {
			continue // cut short by the death of its writer; what it began is judged by what is missing
		}
		k := i.Instance.String()
		if n, ok := at[k]; ok {
			all[n] = i
			continue
		}
		at[k] = len(all)
		all = append(all, i)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the journal of %s: %w", runDir, err)
	}
	return all, nil
}
