src-y += $(addprefix $(d)/, points.c trace.c trace_file.c text.c tail.c log.c pcapng.c pcapng_read.c check.c ladder.c decode.c packet_text.c)
test-y += $(addprefix $(d)/tests/, trace_test.c pcapng_test.c log_test.c)
src-y += $(addprefix $(d)/, points.c)
