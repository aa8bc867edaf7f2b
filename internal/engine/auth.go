package engine

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// A Login is who one is to the registry of an image.
type Login struct {
	Secret string `json:"secret"` // its name in the job
	Config []byte `json:"config"` // as docker's config.json has it
}

// Registry is where an image comes from when its name is all that is known.
func Registry(image string) string {
	first, _, ok := strings.Cut(image, "/")
	if ok && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return first
	}
	return "docker.io"
}

// LoginFor makes a login of a secret: a docker config.json, whose other settings
// stay out, or user:password, which is then for the image's registry alone.
func LoginFor(image, secret string, value []byte) (*Login, error) {
	value = bytes.TrimSpace(value)
	var auths any
	if bytes.HasPrefix(value, []byte("{")) {
		var config struct {
			Auths map[string]any `json:"auths"`
		}
		if err := json.Unmarshal(value, &config); err != nil || len(config.Auths) == 0 { // the error may quote it
			return nil, errors.New(`is no docker config.json: it has no "auths"`)
		}
		auths = config.Auths
	} else {
		user, password, ok := strings.Cut(string(value), ":")
		if !ok || user == "" || password == "" || strings.ContainsAny(password, "\r\n") {
			return nil, errors.New("is neither user:password nor a docker config.json")
		}
		entry := map[string]string{"auth": base64.StdEncoding.EncodeToString(value)}
		list := map[string]any{Registry(image): entry}
		if Registry(image) == "docker.io" {
			list["https://index.docker.io/v1/"] = entry // as docker calls it
		}
		auths = list
	}
	b, err := json.Marshal(map[string]any{"auths": auths})
	return &Login{Secret: secret, Config: b}, err
}
