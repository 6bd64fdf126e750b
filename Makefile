# The two-command front; the build itself is meson + ninja.
#   make demo    install what is missing, build, show the main job
#   make test    everything CI runs
BUILD  ?= build
PREFIX ?= /usr/local
# The program itself is linked against musl where that is installed: a glibc program spends a third of a
# millisecond before main() asking the processor for its caches. The library is built for the system's libc.
MUSL   := $(shell command -v musl-gcc 2>/dev/null)
STATIC  = $(if $(MUSL),$(BUILD)-musl,$(BUILD))
CORDON  = $(STATIC)/src/face/cli/cordon

# ccache, where it is installed, finds what another checkout compiled.
export CCACHE_NOHASHDIR = 1

# A release: the source and the static programs with what they consist of in dist/, and the checks that take too long for test.
DIST ?= dist
.PHONY: dist release-check uninstall
dist: deps
	@tools/dist source $(DIST)
	@tools/dist static $(DIST)
release-check: deps all
	@sh tools/deps release
	@exec env BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) sh tests/run release

.PHONY: all deps demo show test test-engines test-mcp test-bwrap test-agents everyday bench fuzz soak check-style install clean quick test-vm

all: $(BUILD)/build.ninja $(STATIC)/build.ninja
	@tools/build $(BUILD)
	@tools/build $(STATIC)
	@mkdir -p $(STATIC)/src/face/libexec/cordon
	@for p in $(abspath $(BUILD))/src/*/cordon-* $(abspath $(BUILD))/src/*/*/cordon-* $(abspath $(BUILD))/cordon-* $(abspath $(STATIC))/src/selftest/cordon-selftest $(abspath $(STATIC))/src/face/cli/cordon-review $(abspath $(STATIC))/src/wall/init/cordon-init $(abspath $(STATIC))/src/face/bwrap/cordon-bwrap $(abspath $(STATIC))/src/wall/wasm/cordon-wasm $(CURDIR)/.deps/quickjs.wasm; do [ ! -f "$$p" ] || ln -sf "$$p" $(STATIC)/src/face/libexec/cordon/; done

$(BUILD)-musl/build.ninja:
	@CC="$(CURDIR)/tools/musl-cc" meson setup $(BUILD)-musl --prefix=$(PREFIX) --buildtype=release -Doptimization=2 -Dprogram_only=true >/dev/null

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && command -v ninja >/dev/null || $(MAKE) deps
	@meson setup $(BUILD) --prefix=$(PREFIX) $(SETUP) >/dev/null

deps:
	@sh tools/deps

# Make again, because what was installed decides what is built.
demo:
	@echo "demo 1/3: packages that the build needs"
	@sh tools/deps demo
	@echo "demo 2/3: building (ninja; a minute or two the first time)"
	@$(MAKE) --no-print-directory all
	@echo "demo 3/3: two in the morning"
	@$(MAKE) --no-print-directory show

show: all
	@CORDON=$(CORDON) sh examples/two-in-the-morning/demo
	@echo
	@CORDON=$(CORDON) sh examples/two-in-the-morning/night

test: deps all
	@exec env BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) sh tests/run

# Unit tests and a smoke test of each part, for the edit loop: under a minute.
quick: all
	@exec env BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) sh tests/run quick

# Debian's kernels in QEMU, pure control groups v2: minutes, so not a part of test. docs/test-vm.md has the last result.
test-vm: deps all
	@BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) sh tools/test-vm $(VMS)

# Slurm, podman, docker and kubectl from Debian's packages, started and ended by the tests. docs/slurm.md, docs/scale.md.
test-engines: all
	@sh tools/deps engines
	@exec env BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) sh tests/run engines

bench: deps all
	@BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) sh bench/table

# Random boxes for so many minutes; after each round nothing of them may be left.
MINUTES ?= 10
soak: deps all
	@LEDGER_KILLS=10000 $(BUILD)/tests/unit/test_ledger_append | tail -n 1
	@BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) tools/soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

# A hundred everyday command lines, first tries counted, beside bubblewrap, firejail and podman. tests/everyday/README.md.
everyday: all
	@sh tools/deps everyday
	@CORDON=$(abspath $(CORDON)) tests/everyday/run --peers

# Official tools and servers of the Model Context Protocol from npm, which it installs for the time of the test.
test-mcp: all
	@sh tests/mcp/run $(abspath $(CORDON))

# bubblewrap's own tests, from Debian's source packages, with cordon-bwrap in its place; then srt and Codex from npm on top of it.
test-bwrap: all
	@sh tests/bwrap/run $(abspath $(STATIC)/src/face/bwrap/cordon-bwrap)

# Coding agents from npm behind `cordon agent`, each with a hostile turn of a local API.
test-agents: all
	@sh tests/agents/run $(abspath $(CORDON))

FUZZ_SECONDS ?= 60
fuzz: deps
	@sh tools/fuzz $(FUZZ_SECONDS)

check-style: deps
	@exec env BUILD=$(BUILD) CORDON=$(abspath $(CORDON)) sh tests/run checks

# A build directory remembers the prefix it was made with: another PREFIX is told to it first.
define install_from
@grep -qF '"name": "prefix", "value": "$(PREFIX)"' $(1)/meson-info/intro-buildoptions.json || \
	{ meson configure $(1) -Dprefix=$(PREFIX) && ninja -C $(1) --quiet >/dev/null; }
@meson install -C $(1) --no-rebuild --quiet $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
endef
install: all
	$(call install_from,$(BUILD))
	$(call install_from,$(STATIC))
	@[ ! -f .deps/quickjs.wasm ] || install -D -m 755 .deps/quickjs.wasm $(DESTDIR)$(PREFIX)/libexec/cordon/quickjs.wasm

uninstall:
	@DESTDIR="$(if $(DESTDIR),$(abspath $(DESTDIR)))" tools/uninstall $(BUILD) $(filter-out $(BUILD),$(STATIC))

clean:
	rm -rf build build-* dist
