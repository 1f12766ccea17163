src-y += $(addprefix $(d)/, host.c host_memory.c machine.c)
