src-y += $(addprefix $(d)/, cfg.c fault.c file.c near_name.c rng.c units.c)
test-y += $(addprefix $(d)/tests/, cfg_test.c fault_test.c file_test.c rng_test.c units_test.c)
prog-y += params_ini:$(d)/params_ini.c
