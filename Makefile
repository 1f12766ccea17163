# hcasim: one non-recursive make. Each folder lists its files in its dir.mk; everything is built under build/.
#
#   src-y       C and C++ files of build/hcasim (also linked into every unit test, but for main-y)
#   main-y      the file with main()
#   test-y      unit tests, one cmocka program a file
#   prog-y      further programs: name:file.c[,file.c]
#   fw-y        firmware files, cross-built for rv32imc
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

dirs := model/interface model/sim model/engine model/rv32 model/vfio_user model/systemc fw host_driver traces testbench
define include-dir
d := $(1)
-include $(1)/dir.mk
endef
$(foreach x,$(dirs),$(eval $(call include-dir,$(x))))

# -fexceptions: SystemC unwinds its processes by C++ exceptions, through our C frames.
# sized for speed without -march=native: CRC dispatches at run time.
CC  := gcc
CXX := g++
WARN   := -Wall -Wextra -Wshadow -Wvla -Wno-unused-parameter
CWARN  := $(WARN) -Wstrict-prototypes -Wmissing-prototypes -Woverride-init -Wdeclaration-after-statement
includes := . host_driver/uverbs/include host_driver/core/include host_driver/cm/include
COMMON := -O2 -g -fexceptions -fno-strict-aliasing $(addprefix -I,$(includes) $(O)/gen) -MMD -MP $(if $(WERROR),-Werror) $(EXTRA)
comma := ,
SANFLAGS := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
CFLAGS   := -std=gnu11 $(COMMON) $(CWARN) $(SANFLAGS)
# The data path: 2 % fewer instructions a packet than at -O2. Structures of some 100 bytes are cleared by vector stores, not by a
# string instruction, which takes longer than all of them (gcc on x86-64).
MEMSET   := -mmemset-strategy=vector_loop:256:noalign$(comma)libcall:-1:noalign
ENGINE_CFLAGS := $(if $(SANFLAGS)$(findstring --coverage,$(EXTRA)),,-O3 $(if $(findstring clang,$(CC)),,$(if $(filter x86_64,$(shell uname -m)),$(MEMSET))))
CXXFLAGS := -std=c++17 $(COMMON) $(filter-out -Wshadow,$(WARN)) $(SANFLAGS)
LDFLAGS  := -rdynamic -Wl,--as-needed $(SANFLAGS)
LDLIBS   := -lsystemc -lelf -linih -ldl -lpthread -lm

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

.PHONY: all run test clean help deps
all: $(O)/deps.stamp
	$(Q)$(MAKE) --no-print-directory build-all

.PHONY: build-all
build-all: $(if $(main-y),$(O)/hcasim) $(progs) $(fwelf)

help:
	@sed -n '/^#:/s/^#: \{0,1\}//p' Makefile

#: make            build (installs what is missing first)
#: make run        build and run the default scenario on two linked HCAs
#: make test       build and run every test; SKIP_VM=1 without virtual machines; SAN=1 with address and undefined-behaviour sanitizers
#: make vm         two linked HCAs in two virtual machines with Debian's kernel and drivers, a shell in each; GUESTS=1 both in one
#: make vm-run     SCRIPT=x.sh [ARGS="..."] [ENV="A=1"] [GUESTS=1|2] [PACKAGES="a b"] [MODULES=dir] ...: a script in them (testbench/vm/README.md)
#: make vm-exec    GUEST=a CMD='...': a command in a guest of a make vm or make vm-run that goes on
#: make vm-test    the checks of the unmodified Linux driver and rdma-core; build/vm-test/results.csv
#: make golden     renew traces/golden/ from this build: look at what git diff says before you commit it
#: make bench      measure instructions a packet, memory, trace cost; writes build/bench.csv
#: make extremes   every parameter at both ends of its range, in five scenarios; some ten minutes, goes on where it was; J=N at a time
#: make calibrate published measurements beside simulated ones, plots, sensitivities; build/calibrate/
#: make fuzz       give every fuzz target SECONDS=60 of libFuzzer (clang), with both sanitizers
#: make attack     serve with a hostile guest for SECONDS=600: the other guest's longest stop, which may not be over 50 ms
#: make coverage   run every test in a gcov build; what of the engine, and of the protocol, was exercised
#: make clean      remove build/
#: V=1             print whole commands

# A changed flag rebuilds what it touched.
$(O)/flags.stamp: FORCE
	@mkdir -p $(@D); echo '$(CFLAGS) $(ENGINE_CFLAGS) $(CXXFLAGS) $(LDFLAGS) $(LDLIBS) $(FWCFLAGS)' | cmp -s - $@ || \
		echo '$(CFLAGS) $(ENGINE_CFLAGS) $(CXXFLAGS) $(LDFLAGS) $(LDLIBS) $(FWCFLAGS)' > $@
.PHONY: FORCE
FORCE:

$(O)/obj/%.o: %.c $(O)/flags.stamp
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(if $(filter model/engine/%,$(<D)/),$(ENGINE_CFLAGS)) -c -o $@ $<

$(O)/obj/%.o: %.cpp $(O)/flags.stamp
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CXXFLAGS) -c -o $@ $<

$(O)/hcasim: $(objs) $(mainobj)
	$(call say,LD,$@)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(O)/libhca.a: $(objs)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)ar rcs $@ $^

# A test may define functions of neighbouring stages itself: its own count (muldefs).
$(tests): $(O)/%: $(O)/obj/%.o $(O)/libhca.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -Wl,-z,muldefs -o $@ $^ $(LDLIBS) -lcmocka

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
	@touch $@

run: all
	$(Q)$(O)/hcasim run

# Chromium is for one test, which is skipped where it cannot be installed.
test: all
	$(Q)timeout 300 testbench/scripts/install_deps.sh chromium:chromium || echo "no chromium: hcasim report is not tested in a browser"
	$(Q)$(MAKE) --no-print-directory run-tests

.PHONY: run-tests
run-tests: build-all $(tests)
	$(Q)O=$(O) testbench/scripts/run_tests.sh $(tests)

.PHONY: golden
golden: all
	$(Q)O=$(O) testbench/scripts/golden.sh renew

# The machines take their settings from the environment; what is downloaded stays in HCASIM_CACHE (build/cache).
.PHONY: vm vm-run vm-exec vm-test
vm vm-run vm-exec vm-test: export O := $(O)
# $ and quotes reach the guest's shell as they are written here
override ARGS := $(value ARGS)
override ENV := $(value ENV)
override CMD := $(value CMD)
vm vm-run: export ENV := $(ENV)
vm: all
	$(Q)testbench/vm/run.sh

vm-run: all
	$(if $(SCRIPT),,$(error vm-run needs SCRIPT=x.sh))
	$(Q)testbench/vm/run.sh '$(SCRIPT)' $(ARGS)

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
#: make calibrate-folds each rate as the other points predict it: are the fitted parameters explained?
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

# On a machine that has nothing else to do.
.PHONY: attack
attack: all
	$(Q)STOP_MS=50 $(O)/tests/under_attack $(O)/hcasim $(or $(SECONDS),600)

# Counts begin anew; a failing test does not keep what was exercised from being told.
.PHONY: coverage
coverage: all
	$(Q)$(MAKE) --no-print-directory O=$(O)/cov $(COV_FLAGS) build-all
	$(Q)find $(O)/cov -name '*.gcda' -delete
	-$(Q)TRACES=$(O)/cov/traces $(MAKE) --no-print-directory O=$(O)/cov $(COV_FLAGS) run-tests
	$(Q)O=$(O)/cov LOGS=$(O)/cov/traces testbench/scripts/coverage.sh

clean:
	rm -rf build

-include $(shell find $(O)/obj -name '*.d' 2>/dev/null)
