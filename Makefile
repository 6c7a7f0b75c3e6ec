# The entry point. Everything is built by CMake and Ninja under build/; the presets are in CMakePresets.json.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help answers build demo shots test attack tsan campaign bench big-report install lint fuzz format docs clean package package-aarch64 test-packages test-cluster setup-build setup-test setup-lint setup-package setup-cluster sanitized

SECONDS ?= 600
MINUTES ?= 10
TARGET ?= all
PREFIX ?= /usr/local
CHECK_SCRIPTS := layers sizes docs tables printing
OUR_CXX = $$(git ls-files --cached --others --exclude-standard '*.cc' '*.h')

help:
	@echo "make build    build/release/debrief, after setting up what is missing"
	@echo "make demo     build, then look into a hung job (examples/hung-job); the answer is in build/demo"
	@echo "make test     build release and sanitizers, then run every test"
	@echo "make test-cluster   debrief under Slurm (four nodes here), mpirun and GNU parallel (root)"
	@echo "make bench    run the benchmarks"
	@echo "make big-report   the report of a million events and ten thousand compilations, in build/bench-data/report_big_out"
	@echo "make shots    screenshots of every view at three widths, light and dark, in build/shots [JOBS='FOLDER...']"
	@echo "make install  debrief, the recorder and its Python package below PREFIX=/usr/local"
	@echo "make package  tarball, wheel and .deb in build/packages; make test-packages installs each in a bare system (root)"
	@echo "make package-aarch64   the same for 64-bit ARM, cross-built, and run under qemu (root)"
	@echo "make lint     formatting, clang-tidy and the check scripts"
	@echo "make fuzz     fuzz every importer [SECONDS=600] [TARGET=op_trace]"
	@echo "make attack   mutated inputs, hostile readers and broken machines [MINUTES=10]"
	@echo "make tsan     unit tests, goldens, serve, watch and verdicts with the thread sanitizer, in a build of its own"
	@echo "make format   format the C++ sources in place"
	@echo "make campaign score the verdict on all recorded fault jobs, in the layouts of twelve launchers"
	@echo "make docs     write docs/tables.md anew from the tables.def files"
	@echo "make answers  the first screen of every recorded job, in build/answers.md"
	@echo "make clean    remove what was built (not node_modules/)"

setup-build setup-test setup-lint setup-package setup-cluster: setup-%:
	@tools/setup.sh $*

# Configuring is a rule of its own: Ninja does it again by itself whenever that is needed.
build/%/build.ninja:
	@echo "configuring build/$*"
	@mkdir -p build/$*
	@cmake --preset $* >build/$*/configure.log 2>&1 || { cat build/$*/configure.log; exit 1; }

build: setup-build
	@$(MAKE) -s build/release/build.ninja
	@ninja -C build/release debrief

demo: build
	build/release/debrief examples/hung-job -o build/demo

shots: build setup-test
	@node tests/browser/shots.mjs --binary build/release/debrief --out build/shots $(JOBS)

# Address and undefined-behaviour sanitizers and the fuzzers are one build.
sanitized: setup-test
	@$(MAKE) -s build/fuzz/build.ninja
	@ninja -C build/fuzz

# Both builds beside each other: what one leaves idle while it links, the other uses.
test: setup-test
	@$(MAKE) -s build/release/build.ninja build/fuzz/build.ninja
	@ninja -C build/fuzz -j$$(nproc) & \
	  ninja -C build/release -j$$(nproc); release=$$?; wait $$! && exit $$release
	@ctest --test-dir build/release --output-on-failure -j$$(($$(nproc) + 1))

# Starts and stops a Slurm of its own; LARGE=--large adds 16,384 ranks (2.4 GB in TMPDIR).
test-cluster: setup-cluster build
	@python3 tests/scale/run.py --binary build/release/debrief
	@python3 tests/scale/tasks.py --binary build/release/debrief
	@python3 tests/cluster/run.py --binary build/release/debrief $(LARGE)

attack: build
	@python3 tests/attack/run.py --minutes $(MINUTES)

# Once in a while: it costs a build of its own, and a quarter of an hour.
tsan: setup-test
	@$(MAKE) -s build/tsan/build.ninja
	@ninja -C build/tsan debrief debrief_unit
	@tests/tsan/run.sh

campaign: build
	@python3 tests/campaign/score.py tests/campaign/jobs.tar.xz --half kept --at-least tests/campaign/shares.json
	@python3 tests/campaign/score.py tests/campaign/jobs.tar.xz --half tune --at-least tests/campaign/shares.json

bench: build
	@ninja -C build/release debrief_benches
	@python3 bench/run.py

big-report: build
	@python3 bench/run.py report_feel

install: build
	@ninja -C build/release debrief_recorder debrief_recorder_shared debrief_python
	@cmake --install build/release --prefix $(PREFIX)

package: setup-package build
	@ninja -C build/release debrief_recorder debrief_recorder_shared debrief_python
	@rm -rf build/packages
	@python3 tools/package --build build/release --out build/packages

# For 64-bit ARM, cross-built on a Debian that gets the architecture arm64 for it (root).
package-aarch64: setup-package
	@tools/setup_aarch64.sh
	@$(MAKE) -s build/aarch64/build.ninja
	@ninja -C build/aarch64 debrief debrief_recorder debrief_recorder_shared debrief_op_trace
	@rm -rf build/packages-aarch64
	@python3 tools/package --build build/aarch64 --out build/packages-aarch64
	@python3 tests/packages/run.py --packages build/packages-aarch64

test-packages: package
	@python3 tests/packages/run.py --packages build/packages --chroot build/bare-debian

# clang-tidy sees the units that the build compiles, a whole folder each, behind the same precompiled headers: looking through the
# standard library anew for every file takes five times as long. Generated code is there once it is configured.
PRECOMPILED := $(patsubst %,CMakeFiles/%.dir/cmake_pch.hxx.pch,debrief_core debrief_telling debrief debrief_unit)
lint: setup-lint
	@clang-format-19 --dry-run -Werror $(OUR_CXX)
	@set -e; for check in $(CHECK_SCRIPTS); do python3 tools/check_$$check.py; done
	@$(MAKE) -s build/lint/build.ninja
	@ninja -C build/lint $(PRECOMPILED) >build/lint/configure.log
	@run-clang-tidy-19 -quiet -p build/lint -j2 '($(CURDIR)/(src|python|bench)/|/Unity/).*' >build/tidy.log 2>&1 || \
	  { grep -E 'warning:|error:' build/tidy.log | sort -u; exit 1; }
	@echo "lint: nothing to complain about"

fuzz: setup-test sanitized
	@tests/fuzz/run.sh $(SECONDS) $(TARGET)

format: setup-lint
	@clang-format-19 -i $(OUR_CXX)

docs:
	@python3 tools/check_tables.py --update

answers: build
	@python3 tools/answers.py

clean:
	rm -rf build/release build/debug build/asan build/tsan build/fuzz build/lint build/demo build/bench-data
