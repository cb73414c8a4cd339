# SPDX-FileCopyrightText: 2026 The Pinnace Authors
# SPDX-License-Identifier: Apache-2.0

SHELL := /usr/bin/env bash
.DEFAULT_GOAL := help
.SUFFIXES:

# Where "make run" keeps its data, and what else it passes on.
DATA_DIR ?= ./.pinnace
RUN_FLAGS ?=
# What "make test" runs, and what it passes to go test.
PACKAGES ?= ./...
TEST_FLAGS ?=
# Without symbol tables the binary is a third smaller; stack traces are as good.
# What "make parity" passes on: --only=csr/create/* for instance.
PARITY_FLAGS ?=
FUZZ_TIME ?= 1m
LDFLAGS ?= -s -w
IMAGE ?= pinnace:dev

##@ Work

.PHONY: help
help: ## Print this text
	@awk 'BEGIN {FS = ":.*## "} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z][a-z-]*:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/pinnace
	go build -ldflags="$(LDFLAGS)" -o bin/pinnace ./cmd/pinnace

.PHONY: run
run: build ## Build and start a server with its data in ./.pinnace (DATA_DIR), in the foreground
	bin/pinnace standalone --data-dir=$(DATA_DIR) $(RUN_FLAGS)

.PHONY: image
image: ## Build a container image (IMAGE)
	docker build --tag $(IMAGE) .

.PHONY: clean
clean: ## Remove what was built, and the data in ./.pinnace
	rm -rf bin .pinnace

##@ Tests

.PHONY: test
test: ## Run all tests with the race detector
	go test -race $(TEST_FLAGS) $(PACKAGES)

.PHONY: kube-binaries
kube-binaries: ## Build kube-apiserver, kube-controller-manager, kubectl and etcd into bin/kube, for parity
	hack/kube/build.sh

.PHONY: parity
parity: kube-binaries ## Play the parity corpus on kube-apiserver and on Pinnace, compare the answers; differences go to bin/parity
	go run ./hack/parity $(PARITY_FLAGS)

.PHONY: parity-fuzz
parity-fuzz: kube-binaries ## Send random pod templates to both, for FUZZ_TIME, and shrink what differs
	go run ./hack/parity --fuzz=$(FUZZ_TIME) $(PARITY_FLAGS)

.PHONY: parity-record
parity-record: kube-binaries ## Write the answers of kube-apiserver to the parity corpus
	go run ./hack/parity --record $(PARITY_FLAGS)

.PHONY: cover
cover: ## Print the coverage of pkg/registry and pkg/apis; fail under 90 %
	hack/cover.sh

##@ Checks, each with the command that mends what it finds

.PHONY: verify
verify: verify-boilerplate verify-mod verify-fmt verify-codegen verify-lint ## Run all checks

.PHONY: update
update: update-codegen update-boilerplate update-mod update-fmt ## Write everything that is written by a tool

.PHONY: verify-codegen update-codegen
verify-codegen: ## Check that generated code is up to date
	hack/verify-codegen.sh
update-codegen: ## Generate code: registries, defaults, OpenAPI
	hack/update-codegen.sh

.PHONY: verify-fmt update-fmt
verify-fmt: ## Check the format of Go code and the order of imports
	hack/verify-fmt.sh
update-fmt: ## Format Go code
	hack/update-fmt.sh

.PHONY: verify-mod update-mod
verify-mod: ## Check go.mod, also against what k8s.io/kubernetes asks for
	hack/verify-mod.sh
update-mod: ## Mend go.mod
	hack/update-mod.sh

.PHONY: verify-boilerplate update-boilerplate
verify-boilerplate: ## Check the headers of files
	hack/verify-boilerplate.sh
update-boilerplate: ## Write the header above Go files that have none
	hack/update-boilerplate.sh

.PHONY: verify-lint update-lint
verify-lint: ## Run the linters of .golangci.yml
	hack/verify-lint.sh
update-lint: ## Mend what the linters can mend
	hack/update-lint.sh
