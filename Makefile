# The two-command front; the build itself is meson + ninja.
#   make demo    install what is missing, build, show the main job
#   make test    everything CI runs
BUILD  ?= build
PREFIX ?= /usr/local
CORDON  = $(BUILD)/src/cli/cordon

.PHONY: all deps demo test bench fuzz check-style install clean quick

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && command -v ninja >/dev/null || $(MAKE) deps
	@meson setup $(BUILD) --prefix=$(PREFIX) >/dev/null

deps:
	@sh tools/deps

demo: deps all
	@CORDON=$(CORDON) sh examples/two-in-the-morning/demo

test: deps all
	@BUILD=$(BUILD) sh tests/run

# Unit and command-line tests only, for the edit loop.
quick: all
	@BUILD=$(BUILD) sh tests/run unit cli

bench: deps all
	@BUILD=$(BUILD) sh bench/run

FUZZ_SECONDS ?= 60
fuzz: deps
	@sh tools/fuzz $(FUZZ_SECONDS)

check-style: deps
	@sh tests/run checks

install: all
	@meson install -C $(BUILD) --no-rebuild $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

clean:
	rm -rf build build-*
