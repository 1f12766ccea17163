src-y += $(addprefix $(d)/, rows.c wire_rows.c)
