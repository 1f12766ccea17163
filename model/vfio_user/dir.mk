# SPDX-License-Identifier: Apache-2.0
src-y += $(addprefix $(d)/, release.c guest_file.c guest_memory.c irqs.c late.c device.c requests.c connection.c guest_link.c guest_clock.c server.c)
vfu-tests := $(addprefix $(d)/tests/, server_test bad_input_test share_test guest_clock_test)
test-y += $(addsuffix .c, $(vfu-tests))
$(addprefix $(O)/, $(vfu-tests)): | $(O)/fw/hcasim-fw.elf
