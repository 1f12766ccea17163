# SPDX-License-Identifier: Apache-2.0
src-y += $(addprefix $(d)/, points.c trace.c trace_file.c text.c tail.c log.c records.c records_read.c ladder.c decode.c ethernet_text.c packet_text.c wqe_text.c)
src-y += $(addprefix $(d)/, pcapng.c pcapng_read.c check.c check_views.c vcd.c)
src-y += $(addprefix $(d)/, timeline.c timeline_lane.c timeline_flow.c timeline_done.c)
src-y += $(addprefix $(d)/, run_files.c run_golden.c tracker.c messages.c stages.c compare.c compare_times.c)
test-y += $(addprefix $(d)/tests/, trace_test.c log_test.c pcapng_test.c tshark_test.c waves_test.c timeline_test.c)
test-y += $(addprefix $(d)/tests/, compare_test.c report_test.c records_test.c)

# The page of hcasim report as the bytes of a C string: page.html, in which each line <!--FILE--> is replaced by that file.
src-y += $(addprefix $(d)/, report.c report_packets.c)
report-page := $(sort $(wildcard $(d)/report/*))
$(O)/gen/traces/report_page.gen.h: $(report-page)
	@mkdir -p $(@D)
	$(Q)awk -v dir=$(<D) '/^<!--[a-z_]*\.(css|js)-->$$/ { file = dir "/" substr($$0, 5, length($$0) - 7); \
		while ((got = (getline line < file)) > 0) print line; if (got < 0) exit 1; next } { print }' $(filter %/page.html,$^) | \
		{ echo 'static const unsigned char report_page[] = {'; od -An -v -tu1 | sed 's/  */,/g; s/^,//; s/$$/,/'; echo '0};'; } > $@
$(O)/obj/traces/report.o: $(O)/gen/traces/report_page.gen.h

# hcasim with other words in its log, for tests/wording.sh.
prog-y += reworded:$(d)/tests/reworded_points.c,testbench/app/main.c

# The dissector of those messages of connection management that Wireshark does not know.
prog-y += wireshark_lua:$(d)/wireshark_lua.c
build-all: $(O)/hcasim_cm.lua
$(O)/hcasim_cm.lua: $(O)/wireshark_lua
	$(Q)$< > $@
