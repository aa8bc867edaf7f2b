# Targets for people; CI calls the same ones through .ci/run.

SHELL       := /bin/bash
GO          ?= go
STATICCHECK := $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2
BUILD       := CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w'
ROUNDS      ?= 3000

.PHONY: help build cross dist test lint generate verify chaos fuzz bench demo demo-fail clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/muster, one static binary
	@scripts/need-go
	@$(BUILD) -o bin/muster ./cmd/muster

test: lint ## lint, then every test that this machine can run
	@# -count=1: many tests run a muster that they build, which Go's cache of results does not see
	$(GO) test -count=1 -timeout 30m $$($(GO) list ./... | grep -v /test/chaos)
	$(GO) test -count=1 -timeout 30m ./test/chaos # by itself: it fills disks and steps the clock

lint: ## gofmt, go vet, staticcheck
	@scripts/need-go
	@out=$$(gofmt -l cmd internal test); if [ -n "$$out" ]; then echo "not gofmt'ed:"; echo "$$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags crashpoints ./...
	$(STATICCHECK) ./...

generate: ## write anew what is made from other files: docs/commands.md, tables of docs/jobfile.md
	$(GO) test ./internal/cli -run TestCommandsDoc -update
	$(GO) test ./test/docs -run TestJobFileReference -update

verify: ## check that what is made from other files is up to date
	$(GO) mod verify
	$(GO) build ./... && git diff --exit-code go.mod go.sum

chaos: ## kill -9 at random, ROUNDS times
	MUSTER_CHAOS_ROUNDS=$(ROUNDS) MUSTER_CHAOS_LONG=1 $(GO) test -timeout 3h -count=1 -v ./test/chaos

fuzz: ## run every fuzz target for 30 seconds
	@scripts/fuzz 30s

bench: build ## measure against peers; prints a table and JSON
	$(GO) run ./test/bench

demo: ## build, then train a real MXNet network in 4 processes
	@scripts/demo

demo-fail: ## a worker that raises, then a run that is killed and resumes
	@scripts/demo fail

cross: ## build for every platform, into bin/OS-ARCH
	@scripts/cross bin

dist: ## make what is released: archives, deb, rpm, checksums
	@scripts/dist

clean: ## remove what was built here
	rm -rf bin dist
