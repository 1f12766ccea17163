# SPDX-License-Identifier: Apache-2.0
fw-files := main.c hcr.c lib.c objects.c reserved.c cmd_fw.c cmd_icm.c cmd_hca.c cmd_mpt.c cmd_eq.c cmd_cq.c cmd_srq.c \
	cmd_qp.c qp_merge.c cmd_port.c cmd_eth.c port.c cmd_mad.c sma.c sma_port.c sma_events.c trap.c pma.c cmd_mcg.c

fw-y += $(addprefix $(d)/, start.S boot.c $(fw-files))

# The tests run the same files on the build machine, over a chip made of arrays.
fw-tests := cmd_fw_test object_test qp_test mad_test boot_test
test-y += $(patsubst %,$(d)/tests/%.c,$(fw-tests))
$(patsubst %,$(O)/$(d)/tests/%,$(fw-tests)): \
	$(patsubst %.c,$(O)/obj/$(d)/%.o,$(fw-files) tests/fake_chip.c)
$(O)/$(d)/tests/boot_test: | $(O)/$(d)/hcasim-fw.elf
