# SPDX-License-Identifier: Apache-2.0
# hcasim: one non-recursive make. Each folder lists its files in its dir.mk; everything is built under build/.
#
#   src-y       C and C++ files of build/hcasim (also linked into every unit test, but for main-y)
#   main-y      the file with main()
#   test-y      unit tests, one cmocka program a file
#   prog-y      further programs: name:file.c[,file.c]
#   fw-y        firmware files, cross-built for rv32imc
#   gen-y       generated headers, or a stamp of them; made before anything is compiled
VERSION := 0.2
SHELL := /bin/bash
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := all

O := build$(if $(SAN),/san)
V ?= 0
Q := $(if $(filter 0,$(V)),@)
say = $(if $(filter 0,$(V)),@printf '  %-4s %s\n' $(1) $(2))

src-y  :=
main-y :=
test-y :=
prog-y :=
fw-y   :=
gen-y  :=

dirs := model/interface model/sim model/engine model/rv32 model/vfio_user model/wire model/systemc fw host_driver traces testbench
define include-dir
d := $(1)
-include $(1)/dir.mk
endef
$(foreach x,$(dirs),$(eval $(call include-dir,$(x))))

# -fexceptions: SystemC unwinds its processes by C++ exceptions, through our C frames.
# No -march=native: the CRC chooses its instructions at run time.
CC  := gcc
CXX := g++
WARN   := -Wall -Wextra -Wshadow -Wvla -Wno-unused-parameter
CWARN  := $(WARN) -Wstrict-prototypes -Wmissing-prototypes -Woverride-init -Wdeclaration-after-statement
includes := . host_driver/uverbs/include host_driver/core/include host_driver/cm/include
COMMON := -O2 -g -fexceptions -fno-strict-aliasing $(addprefix -I,$(includes) $(O)/gen) -MMD -MP $(if $(WERROR),-Werror) $(EXTRA)
comma := ,
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
# Call chains of host threads are walked by frame pointers (testbench/os/calls.h), and a call is kept even when it is the last act
# of its caller. The engine is built without, but for guest_error(), which the checker of the driver calls.
framed   := host_driver/% testbench/% model/engine/base/engine.c
FRAMES   := -fno-omit-frame-pointer -fno-optimize-sibling-calls
# Names files and lines in call chains (testbench/os/symbols.c); without it only functions have names.
LIBDW    := $(wildcard /usr/include/elfutils/libdwfl.h)
CFLAGS   := -std=gnu11 $(COMMON) $(CWARN) $(SANFLAGS)
# -O3 saves 2 % of the instructions per packet. MEMSET makes gcc on x86-64 clear structures of some 100 bytes with vector stores,
# because its string instruction is slower.
MEMSET   := -mmemset-strategy=vector_loop:256:noalign$(comma)libcall:-1:noalign
ENGINE_CFLAGS := $(if $(SANFLAGS)$(findstring --coverage,$(EXTRA)),,-O3 $(if $(findstring clang,$(CC)),,$(if $(filter x86_64,$(shell uname -m)),$(MEMSET))))
CXXFLAGS := -std=c++17 $(COMMON) $(filter-out -Wshadow,$(WARN)) $(SANFLAGS)
LDFLAGS  := -rdynamic -Wl,--as-needed $(SANFLAGS)
LDLIBS   := -lsystemc $(if $(LIBDW),-ldw) -lelf -linih -ldl -lpthread -lm

FWCC      := riscv64-unknown-elf-gcc
FWCFLAGS  := -march=rv32imc -mabi=ilp32 -misa-spec=2.2 -std=gnu11 -Os -g -ffreestanding -fno-builtin -nostdlib \
             -ffunction-sections -fdata-sections -I. -MMD -MP -Wall -Wextra -Wshadow -Wno-unused-parameter \
             -Wstrict-prototypes -Wmissing-prototypes -Wno-main
FWLDFLAGS := -march=rv32imc -mabi=ilp32 -misa-spec=2.2 -nostdlib -static -Wl,--gc-sections

obj  = $(patsubst %,$(O)/obj/%.o,$(basename $(1)))
objs := $(call obj,$(src-y))
mainobj := $(call obj,$(main-y))
tests := $(patsubst %.c,$(O)/%,$(test-y))
progs := $(foreach p,$(prog-y),$(O)/$(firstword $(subst :, ,$(p))))
fwobjs := $(patsubst %,$(O)/obj/fw-%.o,$(basename $(fw-y)))
fwelf := $(if $(fw-y),$(O)/fw/hcasim-fw.elf)

# Without -j, as many files are compiled at a time as there are processors.
beside = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: all run test clean help deps
all: $(O)/deps.stamp
	$(Q)$(MAKE) --no-print-directory $(beside) build-all

.PHONY: build-all
build-all: $(if $(main-y),$(O)/hcasim) $(if $(SAN),,$(O)/hcasim-checked) $(progs) $(fwelf) $(O)/vm/guest-clock.so

help:
	@sed -n '/^#:/s/^#: \{0,1\}//p' Makefile

#: make            build; install missing packages first
#: make run        build, then run the default scenario on two linked HCAs
#: make test       build, then run every test; SKIP_VM=1 leaves out virtual machines; SAN=1 adds address and undefined-behaviour sanitizers;
#:                 DSAN=0 runs only a few scenarios with the driver's checker, too, not all (testbench/dsan/README.md);
#:                 PART="tools ends" runs only these files of testbench/scripts/parts/
#: make vm         boot two virtual machines with an HCA and a shell each; GUESTS=1 puts both HCAs into one
#: make vm-run     SCRIPT=x.sh [ARGS="..."] [ENV="A=1"] [GUESTS=1|2] [MODULES=dir] ...: run a script in them (testbench/vm/README.md)
#: make vm-exec    GUEST=a CMD='...': run a command in a guest of a running make vm or make vm-run
#: make vm-explore SCRIPT=x.sh [RUNS=20] [-j2]: run a script in simulated time under many seeds, and tell which fail (testbench/vm/README.md)
#: make vm-test    check the unmodified Linux driver and rdma-core; writes build/vm-test/results.csv
#: make golden     renew traces/golden/ from this build; read git diff before you commit it
#: make bench      measure instructions per packet, memory and the cost of traces; writes build/bench.csv
#: make extremes   run five scenarios with every parameter at both ends of its range; ten minutes; J=N runs at a time
#: make calibrate  compare published measurements with simulated ones; writes build/calibrate/
#: make calibrate-folds  predict each rate from all other points, to test the fitted parameters
#: make fuzz       run every fuzz target for SECONDS=60 with libFuzzer (clang) and both sanitizers
#: make matrix     run every scenario with the transport of each host in hardware or in software; NAMES="..." some; build/hcasim list --matrix
#: make attack     let a hostile guest attack serve for SECONDS=600; fails if the other guest ever waits longer than 50 ms
#: make mutants    put mistakes into copies of the host driver, one at a time, and see whether hcasim names them; ONLY=words, JOBS=n
#:                 GENERATE=n draws n mistakes by SEED=s in FILE=globs instead, ROWS=file takes your own (testbench/mutants/README.md)
#: make coverage   run every test in a gcov build; print which lines, branches and protocol cases were reached; SCENARIOS=1: the scenarios alone
#: make install    PREFIX=/usr/local DESTDIR=: install hcasim, its headers, the SystemC module, man page, completion; make uninstall
#: make deb        build the Debian package build/hcasim_VERSION_ARCHITECTURE.deb
#: make clean      remove build/
#: V=1             print whole commands

# A changed flag rebuilds everything that uses it.
$(O)/flags.stamp: FORCE
	@mkdir -p $(@D); echo '$(CFLAGS) $(FRAMES) $(CALLOUTS) $(ENTERED) $(VISITED) $(ENGINE_CFLAGS) $(CXXFLAGS) $(LDFLAGS) $(LDLIBS) $(FWCFLAGS)' | cmp -s - $@ || \
		echo '$(CFLAGS) $(FRAMES) $(CALLOUTS) $(ENTERED) $(VISITED) $(ENGINE_CFLAGS) $(CXXFLAGS) $(LDFLAGS) $(LDLIBS) $(FWCFLAGS)' > $@
.PHONY: FORCE
FORCE:

$(O)/obj/%.o: %.c $(O)/flags.stamp | $(gen-y)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(if $(filter model/engine/%,$(<D)/),$(ENGINE_CFLAGS)) $(if $(filter $(framed),$<),$(FRAMES)) -c -o $@ $<

$(O)/obj/%.o: %.cpp $(O)/flags.stamp | $(gen-y)
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS) -c -o $@ $<

$(O)/hcasim: $(objs) $(mainobj)
	$(call say,LD,$@)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# hcasim with a driver that tells testbench/dsan/ of each access to memory: see hear/callout.h there.
# The options are not given to the linker, so gcc's libraries stay out.
CALLOUTS := -DFIELD_STORES_INLINED -fstack-protector-strong -fsanitize=thread$(comma)bounds$(comma)shift-exponent -Wno-tsan --param tsan-instrument-func-entry-exit=0 $(foreach f,memcpy memmove memset malloc calloc free,-D$(f)=callout_$(f))
# The layers above mlx4 also tell each function that is entered (hear/entered.c), so none may disappear in its caller.
ENTERED := -fno-inline --param tsan-instrument-func-entry-exit=1
# mlx4 tells which of its functions run, also those that were inlined: a helper that computes accesses no memory.
VISITED := -finstrument-functions -finstrument-functions-exclude-file-list=model/,host_driver/platform.h,/usr/
called-out := $(call obj,$(filter host_driver/drv/% host_driver/mlx4/% host_driver/core/% host_driver/uverbs/% host_driver/cm/% host_driver/sm/% host_driver/net/%,$(src-y)))
software-out := $(call obj,$(filter host_driver/rvt/% host_driver/ipath/% host_driver/iwarp/%,$(src-y)))
$(O)/obj/checked/%.o: %.c $(O)/flags.stamp | $(gen-y)
	$(call say,CC,$< with call-outs)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(FRAMES) $(CALLOUTS) $(if $(filter host_driver/mlx4/%,$<),$(VISITED),$(ENTERED)) -c -o $@ $<

# A transport in software, iWARP's too, tells of its functions as the layers above do, but for this: a helper that only computes is told, too.
$(patsubst $(O)/obj/%,$(O)/obj/checked/%,$(software-out)): $(O)/obj/checked/%.o: %.c $(O)/flags.stamp | $(gen-y)
	$(call say,CC,$< with call-outs)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(FRAMES) $(CALLOUTS) -fno-inline $(VISITED) -c -o $@ $<
	$(Q)objcopy --redefine-sym __cyg_profile_func_enter=callout_entered --redefine-sym __cyg_profile_func_exit=callout_left $@

# The functions of the driver that checked-y wraps: the linker gives their callers __wrap_NAME.
wraps = -Wl$(subst $(eval) ,,$(patsubst %,$(comma)--wrap=%,$(shell grep -oh '^\(W.[^,]*\|WITH_PD.[a-z_]*\|ENDS.[a-z_]*\|ONLY_DATA.[a-z_]*\), [a-z][a-z0-9_]*' $(checked-y) | grep -o '[a-z0-9_]*$$')))
$(O)/hcasim-checked: $(filter-out $(called-out) $(software-out),$(objs)) $(patsubst $(O)/obj/%,$(O)/obj/checked/%,$(called-out) $(software-out)) $(call obj,$(checked-y)) $(mainobj)
	$(call say,LD,$@)
	$(Q)$(CXX) $(LDFLAGS) $(wraps) -o $@ $^ $(LDLIBS)

$(O)/libhca.a: $(objs)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcs $@ $^

# A test may replace a file of the product by defining all functions of it that are called: the linker then leaves the file in
# the library. If test and file both define a function, the linker reports an error, so a file is never replaced in part.
$(tests): $(O)/%: $(O)/obj/%.o $(O)/libhca.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS) -lcmocka

define prog-rule
$(O)/$(1): $(call obj,$(2)) $(O)/libhca.a
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CXX) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
endef
$(foreach p,$(prog-y),$(eval $(call prog-rule,$(firstword $(subst :, ,$(p))),$(subst $(comma), ,$(lastword $(subst :, ,$(p)))))))

$(O)/obj/fw-%.o: %.c $(O)/flags.stamp
	$(call say,FWCC,$<)
	@mkdir -p $(@D)
	$(Q)$(FWCC) $(FWCFLAGS) -c -o $@ $<

$(O)/obj/fw-%.o: %.S $(O)/flags.stamp
	$(call say,FWCC,$<)
	@mkdir -p $(@D)
	$(Q)$(FWCC) $(FWCFLAGS) -c -o $@ $<

$(fwelf): $(fwobjs) fw/link.ld
	$(call say,FWLD,$@)
	@mkdir -p $(@D)
	$(Q)$(FWCC) $(FWLDFLAGS) -T fw/link.ld -o $@ $(fwobjs) -lgcc

$(O)/deps.stamp: testbench/scripts/install_deps.sh
	@mkdir -p $(@D)
	$(Q)testbench/scripts/install_deps.sh
	$(Q)timeout 120 testbench/scripts/install_deps.sh /usr/include/elfutils/libdwfl.h:libdw-dev || \
		echo "no libdw-dev: failures name the driver's functions, but not their files and lines"
	@touch $@

run: all
	$(Q)$(O)/hcasim run

# Only the browser test of hcasim report needs Chromium; it is skipped where Chromium cannot be installed.
test: all
	$(Q)timeout 300 testbench/scripts/install_deps.sh chromium:chromium || echo "no chromium: hcasim report is not tested in a browser"
	$(Q)timeout 300 testbench/scripts/install_deps.sh clang-format:clang-format || echo "no clang-format: the layout of sources is not tested"
	$(Q)$(MAKE) --no-print-directory $(beside) build-tests
	$(Q)$(MAKE) --no-print-directory run-tests

.PHONY: build-tests run-tests
build-tests: build-all $(tests)
run-tests: build-tests
	$(Q)O=$(O) DSAN=$(DSAN) PART="$(PART)" testbench/scripts/run_tests.sh $(tests)

.PHONY: golden
golden: all
	$(Q)O=$(O) testbench/scripts/golden.sh renew

# The scripts take their settings from the environment. Downloads stay in HCASIM_CACHE (build/cache).
.PHONY: vm vm-run vm-explore vm-exec vm-test
vm vm-run vm-explore vm-exec vm-test: export O := $(O)
# make must not expand these, because $ and quotes are for the guest's shell
override ARGS := $(value ARGS)
override ENV := $(value ENV)
override CMD := $(value CMD)
vm vm-run vm-explore: export ENV := $(ENV)
vm: all
	$(Q)testbench/vm/run.sh

vm-run: all
	$(if $(SCRIPT),,$(error vm-run needs SCRIPT=x.sh))
	$(Q)testbench/vm/run.sh '$(SCRIPT)' $(ARGS)

# make -j2: two runs at a time
vm-explore: all
	$(if $(SCRIPT),,$(error vm-explore needs SCRIPT=x.sh))
	$(Q)JOBS='$(or $(JOBS),$(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),1)' testbench/vm/explore.sh '$(SCRIPT)' $(ARGS)

vm-exec: export CMD := $(CMD)
vm-exec: all
	$(if $(CMD),,$(error vm-exec needs GUEST=a CMD='...'))
	$(Q)testbench/vm/exec.sh '$(GUEST)' "$$CMD"

vm-test: all
	$(Q)testbench/vm/test.sh

# trace_off_ratio needs a build without trace points beside the ordinary one.
.PHONY: bench
bench: all
	$(Q)$(MAKE) --no-print-directory O=$(O)/untraced EXTRA=-DTRACE_ABSENT build-all
	$(Q)O=$(O) testbench/scripts/bench.sh

.PHONY: extremes
extremes: all
	$(Q)O=$(O) testbench/scripts/extremes.sh $(if $(J),-j $(J))
.PHONY: calibrate-folds
calibrate-folds: all
	$(Q)$(O)/hcasim perf --points testbench/perf/points.csv -o $(O)/folds.csv >/dev/null
	$(Q)O=$(O) testbench/perf/folds.sh $(O)/folds.csv

.PHONY: calibrate
calibrate: all
	$(Q)testbench/scripts/install_deps.sh gnuplot:gnuplot-nox
	$(Q)O=$(O) testbench/perf/calibrate.sh

# libFuzzer is clang's; nothing else needs clang.
FUZZ_FLAGS := CC=clang CXX=clang++ fuzz-main=libfuzzer SANFLAGS='-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' \
	LDLIBS='$(LDLIBS) -fsanitize=fuzzer'
# Unoptimised: the branches counted are those of the source.
COV_FLAGS := EXTRA='--coverage -O0' LDFLAGS='$(LDFLAGS) --coverage'
.PHONY: fuzz
fuzz: all
	$(Q)testbench/scripts/install_deps.sh clang:clang
	$(Q)$(MAKE) --no-print-directory O=$(O)/libfuzzer $(FUZZ_FLAGS) $(addprefix $(O)/libfuzzer/fuzz/,$(fuzz-targets))
	$(Q)O=$(O)/libfuzzer PLAIN=$(O) FUZZ_FW=$(fwelf) FUZZ_SECONDS=$(or $(SECONDS),60) TARGETS='$(or $(TARGETS),$(fuzz-targets))' testbench/fuzz/run.sh

.PHONY: matrix
matrix: all
	$(Q)O=$(O) testbench/scripts/matrix.sh $(NAMES)

# Each job builds a copy of the tree; MAKEFLAGS hands on the variables of this make, so that its objects fit.
.PHONY: mutants
mutants: all
	$(Q)O=$(O) testbench/scripts/mutants.py $(if $(GENERATE),generate --count $(GENERATE),run) $(if $(SEED),--seed $(SEED)) $(if $(FILE),--file '$(FILE)') $(if $(ROWS),--rows '$(ROWS)') $(if $(ONLY),--only '$(ONLY)') $(if $(JOBS),--jobs $(JOBS))

# Needs an idle machine: it measures stops of 50 ms.
.PHONY: attack
attack: all
	$(Q)STOP_MS=50 $(O)/tests/under_attack $(O)/hcasim $(or $(SECONDS),600)

# Old counts are deleted first. The report is printed even if a test fails.
.PHONY: coverage
coverage: all
	$(Q)$(MAKE) --no-print-directory O=$(O)/cov $(COV_FLAGS) build-all
	$(Q)find $(O)/cov -name '*.gcda' -delete
	-$(Q)$(if $(SCENARIOS),$(O)/cov/hcasim list | sed 's|  .*||' | xargs -P 2 -I{} sh -c '$(O)/cov/hcasim run {} -o $(O)/cov/traces/{} >/dev/null 2>&1 || echo {} failed',\
		TRACES=$(O)/cov/traces $(MAKE) --no-print-directory O=$(O)/cov $(COV_FLAGS) run-tests)
	$(Q)O=$(O)/cov LOGS=$(O)/cov/traces testbench/scripts/coverage.sh

# The library that a virtual platform links: the HCA as a SystemC module, and the driver for its hosts.
$(O)/libhcasim.a: $(call obj,$(filter model/% host_driver/% traces/%,$(src-y)))
	$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcs $@ $^

.PHONY: install uninstall deb
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
install-env = O='$(O)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' VERSION='$(VERSION)' CC='$(CC)' INCLUDES='$(includes)'
install: all $(O)/libhcasim.a
	$(Q)$(install-env) testbench/scripts/install.sh install

uninstall:
	$(Q)$(install-env) testbench/scripts/install.sh uninstall

# Debian keeps libraries in a folder for each architecture.
deb: all
	$(Q)testbench/scripts/install_deps.sh dpkg-shlibdeps:dpkg-dev
	@rm -rf $(O)/deb
	$(Q)$(MAKE) --no-print-directory install PREFIX=/usr LIBDIR=/usr/lib/$$($(CC) -print-multiarch) DESTDIR=$(CURDIR)/$(O)/deb/root
	$(Q)O='$(O)' VERSION='$(VERSION)' testbench/scripts/deb.sh $(O)/deb

clean:
	rm -rf build

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
