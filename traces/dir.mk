src-y += $(addprefix $(d)/, points.c)
