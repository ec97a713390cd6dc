# Everything a developer does with this repository; `make` alone lists it.
# The only things to have beforehand: Python 3.11 to 3.13, Node 20 or later, make.

PYTHON ?= python3
BIN := .venv/bin
CDK := node_modules/.bin/cdk
UV_VERSION := $(shell sed -n 's/^uv==\([^ ;\\]*\).*/\1/p' requirements-dev.txt)
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header

# The CDK's own check of Node's age; package.json says which Node this project needs.
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

# Hundreds of processes start here: where this is set, as in many images, each would compile anew
# all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo apprentice-demo up down console logs status check test pytest test-integrations simulate chaos chaos-ledger bench cost memory fuzz browser screenshots \
	lint lint-templates format check-asl asl-validator synth openapi deploy lock clean

help: ## list what can be done
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

# --- what everything else needs ---------------------------------------------------------------

install: .venv/.installed node_modules/.installed ## install tools and packages (others do it)

.venv/.created:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo 'Autotune needs Python 3.11, 3.12 or 3.13, and this is:'; \
		     $(PYTHON) --version; \
		     echo 'Name another with: make PYTHON=/path/to/python3.12'; exit 1; } >&2
	@echo 'Making .venv ...'
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

.venv/.installed: .venv/.created requirements-dev.txt layers/sdk/pyproject.toml \
		layers/platform/pyproject.toml
	@echo 'Installing Python packages ...'
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation \
		--editable layers/sdk --editable layers/platform
	@touch $@

node_modules/.installed: package-lock.json
	@command -v node > /dev/null && command -v npm > /dev/null \
		&& node -e 'process.exit(parseInt(process.versions.node, 10) >= 20 ? 0 : 1)' \
		|| { echo 'Autotune needs Node 20 or later, with npm, and this is:'; \
		     node --version || true; exit 1; } >&2
	@echo 'Installing the CDK command line ...'
	@npm ci --silent
	@touch $@

# --- the local stack --------------------------------------------------------------------------

demo: install ## score real completions end to end, and stop everything again
	@$(BIN)/python -m local.demo

apprentice-demo: install ## have an apprentice and what others do answer the same stream, and compare cost and accuracy (SEEDS=5; AUTOTUNE_DATA_INTENTS names CLINC150's folder; WITH=stack INPUTS=360: through a local stack)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.apprentice $(if $(SEEDS),--seeds $(SEEDS)) $(if $(filter stack,$(WITH)),--stack) $(if $(INPUTS),--inputs $(INPUTS))

up: install ## start the local stack and keep it running
	@$(BIN)/python -m local up

down: install ## stop the local stack; its state stays on disk
	@$(BIN)/python -m local down

console: install ## show what the last demo did in the browser, until Ctrl-C (STACK=.autotune: what make up has)
	@$(BIN)/python -m local --directory $(or $(STACK),.autotune/demo) console $(if $(PRINT),--print)

status: install ## tell whether the local stack runs
	@$(BIN)/python -m local status || [ $$? -eq 3 ]  # 3: not running, which is an answer

logs: install ## print the functions' logs of the local stack (FOLLOW=1 goes on, ALL=1 all lines)
	@$(BIN)/python -m local logs $(if $(FOLLOW),--follow) $(if $(ALL),--all)

# --- checks -----------------------------------------------------------------------------------

check: install ## check style, types, import rules and the tests that a change touches (2 minutes)
	@$(BIN)/python -m tools.check $(if $(SINCE),--since $(SINCE))

test: install ## run every check and every test
	@$(MAKE) --no-print-directory --jobs 2 asl-validator browser
	@# Tests first, so that they begin first; beside them goes what is sooner over.
	@$(MAKE) --no-print-directory --jobs 2 pytest lint synth

# Three on two cores: one has the end-to-end tests, which mostly wait. Before them, tests are read once:
# each of the three would rewrite the asserts of all of them, and compile what they import.
pytest: install
	@$(BIN)/pytest --collect-only --quiet --quiet > /dev/null || true  # what it finds, the tests tell
	@$(BIN)/pytest --numprocesses 3 --dist loadscope

test-integrations: install ## run trainers and SDKs of other people against a running stack and a fake of providers
	@$(BIN)/python -m integrations

browser: tools/chromium/node_modules/.installed ## get the browser that tests need

tools/chromium/node_modules/.installed: tools/chromium/package-lock.json tools/browser.py | install
	@echo 'Unpacking a browser for tests ...'
	@$(BIN)/python -m tools.browser
	@mkdir -p $(@D)
	@touch $@

screenshots: browser ## take the pictures of the review page and of the console anew
	@$(BIN)/python -m tools.screenshots
	@$(BIN)/python -m tests.browser.screenshots

bench: browser ## measure cost and speed, and tell which targets are met (out/bench.md)
	@$(BIN)/python -m benchmarks

cost: install ## price a million completions and requests to models, and fail where that is over its target (10 minutes)
	@$(BIN)/python -m benchmarks cost llm --completions 10000 --rows 2000

memory: install ## print how much memory each parser takes at most (3 minutes)
	@$(BIN)/python -m tests.security.peaks

fuzz: install ## send hostile input for ten minutes (SEED=1 names the seed, MINUTES=60 the time)
	@$(BIN)/python -m tests.security.fuzz $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

simulate: install ## print how often intervals hold the truth, and edits are accepted, beside the promised rates (6 minutes)
	@$(BIN)/python -m tests.simulations $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED))

chaos: install ## break a running stack on purpose and prove that nothing is lost
	@$(BIN)/python -m tests.chaos

chaos-ledger: install ## send 20,000 requests to a fake of all providers that misbehaves, and compare the ledger with its bill (7 minutes on two quiet cores; REQUESTS=6000)
	@$(BIN)/python -m tests.chaos_ledger $(if $(REQUESTS),--requests $(REQUESTS))

lint: install lint-templates ## check style, types, import rules and CloudFormation templates
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# Which rules, and why not others, is in .cfnlintrc.yaml.
lint-templates: synth
	@$(BIN)/cfn-lint

format: install ## format the code and fix what can be fixed
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

check-asl: asl-validator ## check the state machines
	@$(BIN)/pytest --quiet tests/statemachines

# Placeholders become ARNs first: the validator knows the language, not CloudFormation.
asl-validator: install
	@mkdir -p build/asl
	@set -e; for machine in statemachines/*.asl.json; do \
		checked=build/asl/$$(basename $$machine); \
		sed -E \
			-e 's/\$$\{[A-Za-z0-9]*StateMachineArn\}/arn:aws:states:us-east-1:000000000000:stateMachine:Name/g' \
			-e 's/\$$\{[A-Za-z0-9]*FunctionArn\}/arn:aws:lambda:us-east-1:000000000000:function:Name/g' \
			-e 's/\$$\{[A-Za-z0-9]*\}/Name/g' \
			$$machine > $$checked; \
		node_modules/.bin/asl-validator --json-path $$checked; \
	done

openapi: install ## write docs/openapi.json from the routes
	@$(BIN)/python -m tools.openapi

synth: install ## synthesize the CDK app for AWS, with cdk-nag
	@$(CDK) synth --quiet --no-notices --no-version-reporting

# --- AWS --------------------------------------------------------------------------------------

deploy: install ## deploy to the AWS account of the current credentials
	@$(BIN)/python -m tools.check_quota
	@$(CDK) deploy --all --no-notices --no-version-reporting

# --- housekeeping -----------------------------------------------------------------------------

LOCKED := integrations/*/requirements.in benchmarks/peers/*/requirements.in \
	benchmarks/llm_peers/*/requirements.in benchmarks/gateways/*/requirements.in

lock: install ## pin the newest packages that pyproject.toml allows
	@$(LOCK) --upgrade --group dev --excludes tests/excluded.txt \
		--output-file requirements-dev.txt
	@$(LOCK) --upgrade --group runtime --excludes layers/dependencies/excluded.txt \
		--output-file layers/dependencies/requirements.txt
	@$(LOCK) --upgrade --group exports --output-file layers/exports/requirements.txt
	@$(LOCK) --upgrade --group oidc --output-file layers/oidc/requirements.txt
	@$(LOCK) --upgrade --group numbers --output-file layers/numbers/requirements.txt
	@$(LOCK) --upgrade --group similarity --excludes layers/similarity/excluded.txt \
		--output-file layers/similarity/requirements.txt
	@set -e; for folder in $(patsubst %/requirements.in,%,$(wildcard $(LOCKED))); do \
		excluded=$$folder/excluded.txt; test -f $$excluded || excluded=/dev/null; \
		$(LOCK) --upgrade --excludes $$excluded --output-file $$folder/requirements.txt \
			$$folder/requirements.in; \
	done

clean: ## remove what was built; installed packages and the local stack's state stay
	@rm -rf build cdk.out out .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv/*' -not -path './.venvs/*' -not -path './node_modules/*' -prune \
		-exec rm -rf {} +
