# SPDX-License-Identifier: Apache-2.0
# The rooms from the bottom to the top (scripts/check_rooms.py); scenarios stand above them.
src-y += $(addprefix $(d)/os/, calls.c child.c place.c compile.c outdir.c symbols.c)
src-y += $(addprefix $(d)/dsan/hear/, callout.c wrote.c trail.c history.c entered.c chain.c reached.c)
src-y += $(addprefix $(d)/dsan/own/, order.c own.c doorbell.c waiting.c late.c cq_waits.c receives.c headers.c link.c)
src-y += $(addprefix $(d)/dsan/held/, objects.c claims.c releases.c taken.c counted.c heap.c counts.c pins.c)
src-y += $(addprefix $(d)/dsan/threads/, threads.c locks.c lockset.c waits.c flags.c busy.c handlers.c locals.c freed.c setters.c)
src-y += $(addprefix $(d)/dsan/asked/, asked.c request.c completion.c context.c context_qp.c context_parts.c command.c wanted.c members.c queried.c init_hca.c buffers.c special.c ethernet.c)
src-y += $(addprefix $(d)/dsan/device/, function.c dead.c given.c caps.c)
src-y += $(addprefix $(d)/dsan/mads/, mads.c leave.c ifc.c groups.c told.c connections.c smi.c timeouts.c rejects.c)
src-y += $(addprefix $(d)/dsan/, checker.c software.c guest.c report.c)
checked-y += $(addprefix $(d)/dsan/hear/, hooks.c hooks_device.c hooks_taken.c hooks_icm.c hooks_managed.c hooks_core.c hooks_cm.c hooks_ways.c hooks_rdma.c came.c hooks_came.c hooks_came_rdma.c hooks_process.c hooks_handlers.c hooks_rw.c)
checked-y += $(addprefix $(d)/dsan/asked/, page_lists.c running.c posted.c user_posted.c converted.c attributes.c flushed.c)
src-y += $(addprefix $(d)/explore/, schedule.c explorer.c plan.c)
src-y += $(addprefix $(d)/machine/, acts.c holds.c refusals.c stall.c host.c host_irq.c host_memory.c host_wait.c machine.c process.c oob.c posix.c posix_thread.c programs.c ethernet.c)
src-y += $(addprefix $(d)/language/, ladder_match.c told.c tb.c software.c observe.c verbs.c requests.c completions.c areas.c setup.c account.c counters.c)
src-y += $(addprefix $(d)/language/, services.c inject.c harm.c manage.c connect.c kernel_verbs.c iwarp.c iwarp_hosts.c iwarp_rdma.c iwarp_wire.c iwarp_message.c processes.c start_program.c old_words.c)
src-y += $(addprefix $(d)/soak/, soak_model.c soak_setup.c soak_traffic.c soak_loose.c soak_change.c soak.c)
src-y += $(addprefix $(d)/perf/, ask.c points.c workloads.c world.c latency.c rate.c timers.c row.c report.c plot.c perf.c)
src-y += $(addprefix $(d)/app/, cli.c cli_help.c cli_complete.c catalog.c behaviours.c matrix.c run.c dump.c ending.c explain.c tools.c sweep.c sweep_table.c explore.c explore_child.c explore_told.c)
src-y += $(addprefix $(d)/app/, serve.c serve_report.c iwarp.c iwarp_rows.c ctl.c ctl_commands.c ctl_dump.c)
src-y += $(sort $(wildcard $(d)/scenarios/*/*.c))
main-y += $(addprefix $(d)/app/, main.c exit.c)
test-y += $(addprefix $(d)/app/tests/, cli_test.c ctl_test.c)
test-y += $(d)/os/tests/outdir_test.c
test-y += $(addprefix $(d)/dsan/tests/, callout_test.c order_test.c claims_test.c own_test.c late_test.c asked_test.c heap_test.c counted_test.c caps_test.c ethernet_test.c guest_test.c)
threads-tests := threads_test lockset_test freed_test trail_test
test-y += $(patsubst %,$(d)/dsan/tests/%.c,$(threads-tests))
$(patsubst %,$(O)/$(d)/dsan/tests/%,$(threads-tests)): $(O)/obj/$(d)/dsan/tests/played_threads.o
test-y += $(d)/explore/tests/schedule_test.c
test-y += $(d)/language/tests/ladder_match_test.c
test-y += $(addprefix $(d)/perf/tests/, points_test.c profiles_test.c)
$(O)/$(d)/app/tests/ctl_test: | $(O)/fw/hcasim-fw.elf

# How this tree was built, for scenarios that are compiled at run time. The path of the source folder is relative to the folder of
# the executable, so the tree can be moved.
$(O)/gen/testbench/build_info.h: $(O)/flags.stamp $(d)/dir.mk $(checked-y)
	@mkdir -p $(@D)
	$(Q)printf '#define BUILD_SOURCE_DIR "%s"\n#define BUILD_CC "%s"\n#define BUILD_CFLAGS%s\n#define BUILD_INCLUDE_DIRS%s\n#define BUILD_WRAPS "%s"\n' \
		"$$(realpath -m --relative-to=$(O) .)" '$(CC)' \
		'$(foreach w,$(filter-out -MMD -MP -Werror -Wdeclaration-after-statement -I%,$(CFLAGS) $(FRAMES)), "$(w)"$(comma))' \
		'$(foreach i,$(includes), "$(i:.=)"$(comma))' '$(wraps)' > $@
$(O)/obj/testbench/app/catalog.o $(O)/obj/testbench/os/compile.o $(O)/obj/testbench/os/place.o: $(O)/gen/testbench/build_info.h

$(O)/obj/testbench/os/symbols.o: private CFLAGS += $(if $(LIBDW),-DHAVE_LIBDW)

# The version, and the commit where git knows it.
$(O)/gen/testbench/version.h: FORCE
	@mkdir -p $(@D); printf '#define BUILD_VERSION "%s"\n#define BUILD_COMMIT "%s"\n' '$(VERSION)' \
		"$$(git describe --always --dirty --exclude '*' 2>/dev/null)" > $@.new; \
		if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(O)/obj/testbench/app/main.o $(O)/obj/testbench/app/cli_help.o: $(O)/gen/testbench/version.h

# Rows of the behaviour ids that the comments of scenarios cite ("behaviours: ID ID"), and what they mean.
$(O)/gen/testbench/behaviours.gen.h: $(d)/scripts/behaviours.sh $(d)/BEHAVIOURS.md $(sort $(wildcard $(d)/scenarios/*/*.c))
	@mkdir -p $(@D)
	$(Q)$< rows > $@
$(O)/obj/testbench/app/behaviours.o: $(O)/gen/testbench/behaviours.gen.h

# Every scenario, and whether it looks into the driver of mlx4 (then it is only for that device).
$(O)/gen/testbench/matrix.gen.h: $(sort $(wildcard $(d)/scenarios/*/*.c))
	@mkdir -p $(@D)
	$(Q)for f in $^; do ! grep -q '\.hidden = true' $$f || continue; \
		in=$$(grep -qE 'mlx4/mlx4_internal.h|engine/chip/' $$f && echo true || echo false); \
		sed -nE "s/^SCENARIO\(([a-z0-9_]+),.*/M(\"\1\", $$in)/p" $$f; done | sort > $@
$(O)/obj/testbench/app/matrix.o: $(O)/gen/testbench/matrix.gen.h

# Fuzz targets: each is a program that replays files; make fuzz links them with libFuzzer instead.
fuzz-targets := packet frames transport verbs hcr objects icm wqe regs gdb fw_elf ini run_folder pcapng ctl vfio_user iwarp
fuzz-main ?= replay
fuzz-shared := $(d)/fuzz/rig.c,$(d)/fuzz/kernel.c,$(d)/fuzz/folder.c
fuzz-transport := $(d)/fuzz/transport_pair.c,$(d)/fuzz/transport_packet.c,$(d)/fuzz/transport_requests.c,$(d)/fuzz/transport_answers.c
prog-y += $(foreach t,$(filter-out transport hcr,$(fuzz-targets)),fuzz/$(t):$(d)/fuzz/$(t).c,$(d)/fuzz/$(fuzz-main).c,$(fuzz-shared))
# the interpreter of edges.c is linked instead of the library's
prog-y += fuzz/hcr:$(d)/fuzz/hcr.c,$(d)/fuzz/edges.c,$(d)/fuzz/$(fuzz-main).c,$(fuzz-shared)
prog-y += fuzz/transport:$(d)/fuzz/transport.c,$(fuzz-transport),$(d)/fuzz/$(fuzz-main).c,$(fuzz-shared)
# the same requests, and what Linux' ib_qib has answered to them
prog-y += fuzz/opinion:$(d)/fuzz/opinion.c,$(d)/fuzz/transport_pair.c,$(d)/fuzz/transport_packet.c,$(d)/fuzz/transport_requests.c,$(fuzz-shared)

# The same comparison with a mistake in one of the responders or requesters, which it must find (make test): seeded/N.sed makes it in that file.
seeded-1 := host_driver/rvt/responder.c
seeded-2 := host_driver/rvt/responder.c
seeded-3 := model/engine/receive/responder_execute.c
seeded-4 := host_driver/rvt/response.c
seeded-5 := host_driver/rvt/requester.c
seeded-6 := model/engine/send/requester_response.c
define seeded-rule
$(O)/gen/seeded/$(1).c: $(seeded-$(1)) $(d)/fuzz/seeded/$(1).sed
	@mkdir -p $$(@D)
	$$(Q)sed -f $(d)/fuzz/seeded/$(1).sed $(seeded-$(1)) > $$@ && ! cmp -s $(seeded-$(1)) $$@
prog-y += fuzz/transport_seeded_$(1):$(d)/fuzz/transport.c,$(fuzz-transport),$(d)/fuzz/$(fuzz-main).c,$(fuzz-shared),$(O)/gen/seeded/$(1).c
endef
$(foreach n,1 2 3 4 5 6,$(eval $(call seeded-rule,$(n))))
prog-y += damage:$(d)/fuzz/damage.c,$(d)/fuzz/folder.c fuzz_seeds:$(d)/fuzz/seeds.c,$(d)/fuzz/folder.c

# serve between a hostile guest and a good one
prog-y += tests/under_attack:$(d)/tests/under_attack.c,$(d)/tests/hostile.c,$(d)/tests/serve_guest.c

# The plugin for the QEMU of guests in simulated time. It is under the GPL, as QEMU is, so it has files of its own, which only QEMU
# loads.
plugin-src := $(addprefix $(d)/vm/clock/, guest_clock.c guest_watch.c)
$(O)/vm/guest-clock.so: $(plugin-src) $(d)/vm/clock/guest_plugin.h model/vfio_user/guest_page.h $(O)/flags.stamp
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g $(CWARN) $(if $(WERROR),-Werror) -fPIC -shared -fvisibility=hidden -I. -o $@ $(filter %.c,$^)
