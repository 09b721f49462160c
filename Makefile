# Each target creates and updates .venv; `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What `make run` needs, and everything else: tools for tests, lint and documentation.
RUN_STAMP := $(VENV)/.installed-for-run
STAMP := $(VENV)/.installed
# Without compiled files, every test that starts Python would compile everything again: collection alone takes three times as long.
unexport PYTHONDONTWRITEBYTECODE
comma := ,
said = $(1)$(if $(2),$(comma)$(2))$(if $(3),$(comma)$(3))
say = @if [ -t 1 ]; then printf '\033[1m▸ %s\033[0m\n' "$(said)"; else printf '▸ %s\n' "$(said)"; fi

.PHONY: help run test lint format soak coverage bench conformance schema proto vendor docs clean

help:  ## show this list
	@printf 'Quarterdeck. The two commands to know: make run, make test\n\n'
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(RUN_STAMP): pyproject.toml src/quarterdeck/_version.py
	$(call say,installing Quarterdeck into $(VENV) (the first time: about half a minute))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo '$(PYTHON) is too old: Python 3.11 or newer is required. Select one with make PYTHON=python3.12 …'; exit 2; }
	@$(PYTHON) .ci/install $(VENV) --editable '.[host,terminal,testing]'
	@touch $@

$(STAMP): $(RUN_STAMP)
	$(call say,installing the tools for tests and documents into $(VENV) (the first time: about a minute and a half))
	@$(PYTHON) .ci/install $(VENV) --editable '.[all]' --group dev
	@touch $@

run: $(RUN_STAMP)  ## a first look: a host with two sessions in a scratch folder, in your terminal and on a web page (AGENT=claude: not simulated)
	$(call say,quarterdeck demo --serve: a host with two sessions in a scratch folder)
	@$(BIN)/quarterdeck demo --serve $(if $(AGENT),--agent '$(AGENT)')

test: lint  ## lint, types, layering, all tests, and the fast ones on each other Python that is installed
	@.ci/shell-tools
	@.ci/browser
	$(call say,pytest)
	@.ci/pytest $(BIN)/python -n $${PYTEST_WORKERS:-auto}
	@.ci/other-pythons

lint: $(STAMP)  ## ruff, mypy --strict, import-linter
	$(call say,ruff)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	$(call say,mypy --strict)
	@$(BIN)/mypy
	$(call say,import-linter)
	@$(BIN)/lint-imports

format: $(STAMP)  ## let ruff format and fix what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

soak: $(STAMP)  ## the long tests: fuzz, policy against the real CLI and bash, chaos, API, properties, both SDKs (hours; SEED=… repeats one)
	@.ci/shell-tools
	$(call say,the long tests (the first time fetches the official SDK, 160 MB))
	@QUARTERDECK_SOAK=1 QUARTERDECK_INSTALL_PEER=1 $(if $(SEED),QUARTERDECK_SEED=$(SEED)) \
		$(BIN)/python -m pytest -n $${PYTEST_WORKERS:-auto} --timeout 36000 tests/chaos tests/store tests/compat tests/remote tests/client/transcripts \
		$$(grep -rlE --include='test_*.py' '^(import|from) (soak|hypothesis)' tests)

coverage: $(STAMP)  ## which lines the tests reach: a summary per room, and build/coverage/index.html
	$(call say,pytest with coverage (twice as long as without))
	@$(BIN)/python tests/coverage_report.py

conformance: $(STAMP)  ## test the protocol against five CLI versions and write docs/compatibility.md
	$(call say,the official SDKs with our tools (the first time fetches them and five CLIs: 1 GB))
	@mkdir -p build
	@PYTHONPATH=tests $(BIN)/python -m conformance_peers.run build/peers.json
	$(call say,scenarios against five CLIs and the simulator (about fifteen minutes))
	@PYTHONPATH=tests $(BIN)/python -m conformance --write docs --peers build/peers.json
	@$(BIN)/python -m quarterdeck.cli.doctor.compatibility docs/compatibility.json

schema: $(STAMP)  ## regenerate the structs of the Agent Client Protocol from its published schema (needs npm)
	$(call say,the structs of ACP)
	@$(BIN)/python tests/gateways/acp/generate_schema.py

proto: $(STAMP)  ## regenerate proto/quarterdeck/v1 and its Python code from the host's tables
	$(call say,proto/quarterdeck/v1)
	@PYTHONPATH=tests $(BIN)/python -m gateways.grpc.generate

bench: $(STAMP)  ## run the benchmarks against the official SDK and write docs/benchmarks.md
	$(call say,benchmarks (about twenty minutes; the first time fetches the official SDK, 160 MB))
	@$(BIN)/python -m benchmarks

vendor:  ## fetch the web page's libraries from npm, as listed in vendor.json (CHECK=1: only compare)
	$(call say,the libraries of the page)
	@.ci/vendor-page $(if $(CHECK),--check)

docs: $(STAMP)  ## build and check the documentation site in build/site (make docs SERVE=1 serves it on http://127.0.0.1:8000)
	$(call say,mkdocs (half a minute))
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs $(if $(SERVE),serve --dev-addr 127.0.0.1:8000,build --strict --clean)
	@$(if $(SERVE),,$(BIN)/python -m pytest -q tests/docs/check_site.py)

clean:  ## remove everything that was built here
	rm -rf $(VENV) $(VENV)-* build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
