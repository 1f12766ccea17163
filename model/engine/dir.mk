src-y += $(addprefix $(d)/, event_core.c)
