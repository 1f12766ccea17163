src-y += $(addprefix $(d)/, guest_memory.c irqs.c device.c requests.c connection.c server.c)
