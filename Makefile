# Two commands do all set-up on a fresh Debian machine with Go: `make demo` and `make test`.
# `make test-short` is the everyday loop and needs nothing installed.

GO       ?= go
PREFIX   ?= $(HOME)/.local
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   = -s -w -X jig/internal/cli.version=$(VERSION)
PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
LINT      = $(GO) tool -modfile=.ci/lint.mod golangci-lint

export CGO_ENABLED = 0

.PHONY: help demo test test-short deps bench lint build build-all install fuzz generate catalog

help: ## say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

demo: build ## the main job on real files, without a key
	@bin/jig demo

test: deps ## install what the tests need, then run everything
	$(GO) vet ./...
	CGO_ENABLED=1 $(GO) test -race -timeout 20m $$($(GO) list ./... | grep -v -e internal/sandbox$$ -e internal/cli$$)
	# These are thousands of processes, which a race build slows down too much: what they run is raced above.
	$(GO) test -timeout 20m -parallel 4 ./internal/sandbox ./internal/cli
	cd internal/model/modeltest/sdk && $(GO) test ./...
	@$(MAKE) --no-print-directory build-all

test-short: ## the everyday loop: no root, no packages
	$(GO) test -short ./...

deps: ## what the tests need, through apt and npm; says what it installs
	@.ci/deps

bench: deps ## figures, with ratios against ripgrep and the floor
	$(GO) run ./bench

lint: ## the linter and the formatter's opinion
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not formatted:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(LINT) run ./...

build: ## bin/jig
	@$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/jig ./cmd/jig

build-all: ## every platform compiles
	@for p in $(PLATFORMS); do echo "build $$p"; \
	GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -trimpath -o /dev/null ./cmd/jig || exit 1; done

install: build ## into $(PREFIX)/bin
	install -D -m 755 bin/jig $(PREFIX)/bin/jig

generate: ## bring up to date what is written from the code
	$(GO) test ./internal/config ./internal/cli -run Current -update
	$(GO) test ./docs -run Current -update

catalog: ## the newest price lists into internal/model/catalog; needs the module proxy
	cd internal/model/catalog/gen && $(GO) run main.go

fuzz: ## two minutes for every fuzz target
	@.ci/fuzz 120s
