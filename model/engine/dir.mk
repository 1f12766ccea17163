src-y += $(addprefix $(d)/, event_core.c)
test-y += $(addprefix $(d)/tests/, event_core_test.c)
src-y += $(addprefix $(d)/, crc.c)
test-y += $(addprefix $(d)/tests/, crc_test.c)
