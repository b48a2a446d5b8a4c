# `make demo` and `make test` install what they need by themselves. `make` alone lists what there is.

.DEFAULT_GOAL := help
SHELL := /bin/sh
BIN := .venv/bin
INSTALLED := .venv/.installed
DEPLOY_INSTALLED := .venv/.installed-deploy
UV_VERSION := 0.13.9
UV := .cache/lock/bin/uv
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
ARGS ?=
FAULTS ?= full
# Many tests start processes of this code: each would compile it anew where the environment forbids to keep the result.
unexport PYTHONDONTWRITEBYTECODE
# A process for each processor; the tests of a file stay in one.
PYTEST_OF := $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder --numprocesses
PYTEST := $(PYTEST_OF) auto

# Of make truth; whoever isn't root is asked by sudo. The other applications come into .cache by themselves, one by npm.
TRUTH_PACKAGES := mediawiki dokuwiki wordpress wordpress-theme-twentytwentythree php-cli php-sqlite3 php-mysql php-xml \
    php-mbstring php-intl php-gd mariadb-server-core mariadb-client-core

.PHONY: help install demo quick test tests deploy-test faults faults-together faults-alone ci times reference truth bench \
    bench-million bench-frontier lint matrix lock clean

help: ## list these targets
	@awk '/^[a-z-]+:.* ## / { split($$0, part, " ## "); sub(/:.*/, ""); printf "  make %-14s %s\n", $$0, part[2] }' $(MAKEFILE_LIST)

install: $(INSTALLED) ## make .venv with everything for the demo and the tests

# The stamp comes last: what stops an install, lets the next one begin again. --no-deps: the pins name them all.
$(INSTALLED): requirements-dev.txt pyproject.toml
	@$(PIP) --version >/dev/null 2>&1 || { \
	    for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	        $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	        echo "Installing into .venv with $$($$python --version)"; \
	        exec $$python -m venv --clear .venv; \
	    done; \
	    echo "No Python 3.11 or later with its venv module found; name one: make install PYTHON=/path/to/python" >&2; \
	    exit 1; \
	}
	@echo "Fetching the packages that requirements-dev.txt pins, once: a minute or two, silently"
	@$(PIP) install --no-deps --require-hashes -r requirements-dev.txt
	@echo "Installing Headroom itself, as this folder has it"
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
	@echo "Installed. \`. .venv/bin/activate\` puts its commands on the PATH"

demo: install ## crawl a small forum from a plan to items, with every server started for it
	@$(BIN)/python -m testbed $(ARGS)

quick: lint ## check the code and run the tests that start no server and no process, within a minute
	@$(PYTEST) -m "not faults and not deploy and not process" $(ARGS)

test: lint ## check the code and run the tests (some of them: make test ARGS='-k plan')
	@$(MAKE) --no-print-directory tests

# The part of the tests, as make ci times it.
tests: install
	@$(PYTEST) -m "not faults and not deploy" $(ARGS)

deploy-test: $(DEPLOY_INSTALLED) ## what deploy/ holds: on a real scrapyd, by systemd, Compose and Kubernetes' own schemas, as image steps
	@$(PYTEST_OF) 2 --part=deploy -m deploy $(ARGS)

$(DEPLOY_INSTALLED): requirements-deploy.txt $(INSTALLED)
	@$(PIP) install --no-deps --require-hashes -r requirements-deploy.txt
	@touch $@

# Most of them wait for what takes long in life too, so five processes share two processors well. Those that measure
# how long things take come last, with nothing beside them.
faults: install ## kill, freeze, cut off and fill everything (a short form, a quarter of an hour: make faults FAULTS=short)
	@$(MAKE) --no-print-directory faults-together
	@$(MAKE) --no-print-directory faults-alone

# The two parts of the faults, as make ci times them.
faults-together: install
	@FAULTS=$(FAULTS) $(PYTEST_OF) 5 --part=faults -m "faults and not alone" $(ARGS)

faults-alone: install
	@FAULTS=$(FAULTS) $(BIN)/python -m pytest --part=alone -m "faults and alone" $(ARGS)

ci: install ## all that CI checks, and how long each part takes, within half an hour on two processors
	@CI=true $(BIN)/python tests/ci.py

times: install $(DEPLOY_INSTALLED) ## record what the files of tests take (tests/times.json), which tells their order and budget
	@$(PYTEST) --record-times -m "not faults and not deploy"
	@$(PYTEST_OF) 2 --part=deploy --record-times -m deploy
	@$(MAKE) --no-print-directory faults FAULTS=short ARGS=--record-times

# Of all that the code says already: keys of files, settings, an item's fields, metrics.
reference: install ## write the pages, tables and schemas anew that are made from the code
	@for kind in site plan; do $(BIN)/scrapy $$kind schema > crawler/$${kind}s/$$kind.schema.json || exit; done
	@$(BIN)/python -m testbed.reference_pages
	@$(BIN)/scrapy items schema > crawler/base/item.schema.json
	@PYTHONPATH=.:tests $(BIN)/python -m documents.tables

truth: install ## real applications crawled, and every item compared with their own data, for a quarter of an hour
	@npm=$$(command -v npm >/dev/null || echo npm); \
	dpkg-query --show $(TRUTH_PACKAGES) $$npm >/dev/null 2>&1 || { \
	    sudo=$$(test "$$(id -u)" = 0 || echo sudo); \
	    echo "Installing Debian's packages of three applications, and what others need, once"; \
	    $$sudo apt-get --quiet --quiet update; \
	    $$sudo env DEBIAN_FRONTEND=noninteractive apt-get --quiet --quiet --yes --no-install-recommends \
	        install $(TRUTH_PACKAGES) $$npm >/dev/null || exit; \
	}
	@$(BIN)/python -m testbed.truth.corpus
	@$(BIN)/python -m testbed.truth $(ARGS)

bench: install ## ours and other crawlers side by side, for a quarter of an hour (make bench ARGS='--help')
	@$(BIN)/python -m benchmarks.side_by_side $(ARGS)

bench-million: install ## one worker over a million pages: does its memory stay as it is? (some 25 minutes, 10 GB of disk)
	@$(BIN)/python -m benchmarks.million $(ARGS)

bench-frontier: install ## ten million seeds on a million hosts against ten thousand (some 20 minutes, 7 GB of memory)
	@$(BIN)/python -m benchmarks.frontier --only scale --full
	@$(BIN)/python -m benchmarks.large_frontier --seeds 10000000

lint: install ## style, types and the layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# The tests that touch Scrapy, on each version of it and of Python, and Scrapy's own on both engines; niced, since it takes a processor for two hours.
matrix: install $(UV) ## the tests that touch Scrapy on its last four minor versions (make matrix ARGS='--all': and on each Python)
	@nice -n 10 $(BIN)/python tests/matrix.py $(ARGS)

$(UV): Makefile
	@$(or $(PYTHON),python3) -m venv .cache/lock
	@.cache/lock/bin/python -m pip --quiet --disable-pip-version-check install uv==$(UV_VERSION)
	@touch $@

# Universal: pins and hashes for every platform and Python from 3.11. --upgrade takes the newest that pyproject.toml allows.
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --upgrade \
    --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
LOCK := $(COMPILE) pyproject.toml --generate-hashes
PEERS := benchmarks/side_by_side/requirements
lock: $(UV) ## pin everything anew: pyproject.toml's dependencies, and those of the benchmark's peers
	@$(LOCK) --output-file requirements.txt
	@$(LOCK) --constraints requirements.txt --all-extras --group dev --output-file requirements-dev.txt
	@$(LOCK) --constraints requirements-dev.txt --group deploy --output-file requirements-deploy.txt
	@$(COMPILE) tests/scrapy_suite.in --constraints requirements-dev.txt --generate-hashes --output-file tests/scrapy_suite.txt
	@for name in trac sphinx; do \
	    $(COMPILE) testbed/applications/$$name.in --generate-hashes --output-file testbed/applications/$$name.txt || exit; \
	done
	@for file in $(PEERS)/*.in; do $(COMPILE) $$file --output-file $${file%.in}.txt || exit; done

clean: ## remove .venv, caches and what a demo wrote
	@rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist demo-output *.egg-info
	@find crawler testbed tests -name __pycache__ -type d -prune -exec rm -rf {} +
