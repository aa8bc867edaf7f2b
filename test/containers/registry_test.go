//go:build linux

package containers

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A registry has one image, which it gives to one user alone.
type registry struct {
	*httptest.Server
	blobs    map[string][]byte // by digest
	types    map[string]string
	manifest string // a digest
	given    atomic.Int64
}

const (
	user     = "me"
	password = "s3cr3t:x"
	imageTop = "application/vnd.docker.distribution.manifest.v2+json"
)

// newRegistry serves a tar as the image muster/login:1.
func newRegistry(t *testing.T, tar string) *registry {
	t.Helper()
	r := &registry{blobs: map[string][]byte{}, types: map[string]string{}}
	content, err := os.ReadFile(tar)
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	z := gzip.NewWriter(&layer)
	_, _ = z.Write(content) // into memory
	_ = z.Close()
	type piece struct {
		Type   string `json:"mediaType"`
		Size   int    `json:"size"`
		Digest string `json:"digest"`
	}
	add := func(kind string, b []byte) piece {
		d := digest(b)
		r.blobs[d], r.types[d] = b, kind
		return piece{kind, len(b), d}
	}
	encode := func(v any) []byte {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	config := add("application/vnd.docker.container.image.v1+json", encode(map[string]any{
		"architecture": "amd64", "os": "linux", "config": map[string]any{"Env": []string{"PATH=/bin:/usr/bin"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{digest(content)}},
	}))
	r.manifest = add(imageTop, encode(map[string]any{
		"schemaVersion": 2, "mediaType": imageTop, "config": config,
		"layers": []piece{add("application/vnd.docker.image.rootfs.diff.tar.gzip", layer.Bytes())},
	})).Digest
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func digest(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

func (r *registry) host() string { return strings.TrimPrefix(r.URL, "http://") }

func (r *registry) image() string { return r.host() + "/muster/login:1" }

func (r *registry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if u, p, _ := q.BasicAuth(); u != user || p != password {
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
		return
	}
	d := filepath.Base(q.URL.Path)
	switch {
	case q.URL.Path == "/v2/":
		return
	case strings.HasSuffix(q.URL.Path, "/manifests/1"):
		r.given.Add(1)
		d = r.manifest
	}
	b, ok := r.blobs[d]
	if !ok {
		http.NotFound(w, q)
		return
	}
	w.Header().Set("Content-Type", r.types[d])
	w.Header().Set("Docker-Content-Digest", d)
	w.Header().Set("Content-Length", fmt.Sprint(len(b)))
	if q.Method != http.MethodHead {
		_, _ = w.Write(b)
	}
}

// registryLogin pulls with what a secret has, and only with that.
func registryLogin(t *testing.T, r *Runtime) {
	reg := newRegistry(t, filepath.Join(r.Dir, "image.tar"))
	if r.Name == "podman" { // docker takes any registry of this machine without TLS
		conf := filepath.Join(t.TempDir(), "registries.conf")
		if err := os.WriteFile(conf, fmt.Appendf(nil, "[[registry]]\nlocation = %q\ninsecure = true\n", reg.host()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Setenv("CONTAINERS_REGISTRIES_CONF", conf)
	}
	p := newPlace(t)
	job := func(pull string) string {
		return fmt.Sprintf("name: login\nframework: plain\nimage: {name: %q, pull: %s, auth: REG}\nsecrets: {REG: {env: LOGIN}, OTHER: {env: OTHER}}\nrun: env\n", reg.image(), pull)
	}
	p.write("job.yaml", job("missing"))
	p.write("always.yaml", job("always"))
	p.write("none.yaml", fmt.Sprintf("name: none\nframework: plain\nimage: %q\nrun: env\n", reg.image()))
	t.Setenv("OTHER", "seen")

	p.want(125, reg.host()+" wants a login (image.auth, or "+r.Name+" login)", "run", "-f", "none.yaml")
	t.Setenv("LOGIN", "no pair")
	p.want(125, "secrets.REG: is neither user:password nor a docker config.json", "run", "-f", "job.yaml")
	t.Setenv("LOGIN", user+":wr0ng")
	p.want(125, fmt.Sprintf("the image %s cannot be had from %s with the secret REG", reg.image(), reg.host()), "run", "-f", "job.yaml")
	if n := reg.given.Load(); n != 0 {
		t.Fatalf("the image was given away %d times", n)
	}

	t.Setenv("LOGIN", user+":"+password)
	out := p.want(0, "| OTHER=seen\n", "run", "-f", "job.yaml")
	if strings.Contains(out, "REG=") || strings.Contains(out, password) {
		t.Errorf("the task has the login:\n%s", out)
	}
	before := reg.given.Load()
	p.want(0, "| OTHER=seen\n", "run", "-f", "job.yaml") // it is here by now
	if n := reg.given.Load(); n != before {
		t.Errorf("it was fetched again, with pull: missing")
	}
	config, err := json.Marshal(map[string]any{"auths": map[string]any{reg.host(): map[string]any{"auth": "bWU6czNjcjN0Ong="}}, "credsStore": "none"})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("LOGIN", string(config))
	p.want(0, "| OTHER=seen\n", "run", "-f", "always.yaml")
	if n := reg.given.Load(); n == before {
		t.Errorf("it was not fetched again, with pull: always")
	}
	p.unsaid(t, password, "bWU6czNjcjN0Ong", "wr0ng")
}

// unsaid checks that no file that is kept has one of these.
func (p *place) unsaid(t *testing.T, words ...string) {
	t.Helper()
	_ = filepath.WalkDir(p.state, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		b, _ := os.ReadFile(path)
		for _, w := range words {
			if bytes.Contains(b, []byte(w)) {
				t.Errorf("%s has %q", path, w)
			}
		}
		return nil
	})
}
