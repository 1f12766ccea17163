src-y += $(addprefix $(d)/, event_core.c)
test-y += $(addprefix $(d)/tests/, event_core_test.c)
