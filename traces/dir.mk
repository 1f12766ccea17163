src-y += $(addprefix $(d)/, points.c trace.c trace_file.c text.c tail.c log.c ladder.c decode.c packet_text.c wqe_text.c)
src-y += $(addprefix $(d)/, pcapng.c pcapng_read.c check.c)
src-y += $(addprefix $(d)/, run_files.c messages.c stages.c compare.c compare_times.c)
test-y += $(addprefix $(d)/tests/, trace_test.c log_test.c pcapng_test.c tshark_test.c compare_test.c)
