package engine

import (
	"strings"
	"testing"
)

func TestRegistry(t *testing.T) {
	for image, want := range map[string]string{
		"busybox": "docker.io", "mxnet/python:1.9": "docker.io", "ghcr.io/a/b@sha256:1": "ghcr.io",
		"127.0.0.1:5000/x": "127.0.0.1:5000", "localhost/x:1": "localhost", "host:5000/x:1": "host:5000",
	} {
		if got := Registry(image); got != want {
			t.Errorf("%s: got %s", image, got)
		}
	}
}

func TestLoginFor(t *testing.T) {
	for _, tt := range []struct{ name, image, value, want, err string }{
		{"a pair", "r.io/x", "me:s3cret\n", `{"auths":{"r.io":{"auth":"bWU6czNjcmV0"}}}`, ""},
		{"a colon in a password", "r.io/x", "me:a:b", `{"auths":{"r.io":{"auth":"bWU6YTpi"}}}`, ""},
		{"docker's own", "x", "me:pw", `{"auths":{"docker.io":{"auth":"bWU6cHc="},"https://index.docker.io/v1/":{"auth":"bWU6cHc="}}}`, ""},
		{"a config", "r.io/x", ` {"auths":{"r.io":{"auth":"s3cret"}},"credsStore":"x"}`, `{"auths":{"r.io":{"auth":"s3cret"}}}`, ""},
		{"a config that refers elsewhere", "x", `{"credsStore":"s3cret"}`, "", `has no "auths"`},
		{"half a config", "x", `{"auths":{"s3cret`, "", `has no "auths"`},
		{"no pair", "x", "s3cret", "", "is neither"},
		{"nothing", "x", "", "", "is neither"},
		{"lines", "x", "a:s3cret\nb:c", "", "is neither"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := LoginFor(tt.image, "NAME", []byte(tt.value))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || string(l.Config) != tt.want || l.Secret != "NAME" {
				t.Errorf("got %+v, %v", l, err)
			}
		})
	}
}
