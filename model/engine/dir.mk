src-y += $(addprefix $(d)/, event_core.c engine.c icm.c)
src-y += $(addprefix $(d)/, crc.c)
test-y += $(addprefix $(d)/tests/, event_core_test.c)
test-y += $(addprefix $(d)/tests/, crc_test.c)
