package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// maxInit is what one package may take before main, in milliseconds. tries is
// how often a start is repeated: on a busy machine any single one may be slow,
// and the best of many is what the code itself takes.
const (
	maxInit = 0.5
	tries   = 40
)

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

func TestPackagesStartQuickly(t *testing.T) {
	if testing.Short() {
		t.Skip("builds cmd/muster")
	}
	bin := filepath.Join(t.TempDir(), "muster")
	build := exec.Command("go", "build", "-trimpath", "-o", bin, "./cmd/muster")
	build.Dir = root(t)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	best := map[string]float64{}
	for range tries {
		for name, took := range start(t, bin) {
			if b, seen := best[name]; !seen || took < b {
				best[name] = took
			}
		}
		if len(slow(best)) == 0 {
			return
		}
	}
	for name, took := range slow(best) {
		t.Errorf("%s takes %.2f ms to initialise, at best.\n\trule: no package takes more than %.1f ms before main\n\treason: every muster command, and every task host, pays for it", name, took, maxInit)
	}
}

// start runs the binary once and returns what each package took.
func start(t *testing.T, bin string) map[string]float64 {
	t.Helper()
	cmd := exec.Command(bin, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "MUSTER_STATE_DIR="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("muster version: %v\n%s", err, out)
	}
	took := map[string]float64{}
	for _, m := range initLine.FindAllStringSubmatch(string(out), -1) {
		ms, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			t.Fatalf("%q: %v", m[0], err)
		}
		took[m[1]] = ms
	}
	if len(took) == 0 {
		t.Fatalf("no package was seen to start:\n%s", out)
	}
	return took
}

func slow(best map[string]float64) map[string]float64 {
	over := map[string]float64{}
	for name, took := range best {
		if took > maxInit {
			over[name] = took
		}
	}
	return over
}
