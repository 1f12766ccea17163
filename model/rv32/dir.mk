# SPDX-License-Identifier: Apache-2.0
src-y  += $(addprefix $(d)/, core.c csr.c decode.c compressed.c execute.c elf_load.c symbols.c calls.c gdb.c gdb_link.c)
prog-y += rv32run:$(d)/rv32run.c
test-y += $(addprefix $(d)/tests/, isa_test.c core_test.c edges_test.c elf_load_test.c gdb_test.c)

# Bare executables that the tests load; they look for them in their own folder.
rv32_elfs := $(patsubst %,$(O)/$(d)/tests/%.elf, alu muldiv memory compressed csr trap interrupt fails hangs traps debuggee)

$(rv32_elfs): $(O)/%.elf: %.S $(d)/tests/isa.inc $(d)/tests/link.ld $(O)/flags.stamp
	$(call say,FWCC,$<)
	@mkdir -p $(@D)
	$(Q)$(FWCC) -march=rv32imc -mabi=ilp32 -misa-spec=2.2 -g -nostdlib -static -I$(<D) -T $(<D)/link.ld \
		-Wl,--build-id=none -Wl,--no-warn-rwx-segments -o $@ $<

$(addprefix $(O)/$(d)/tests/, isa_test core_test elf_load_test gdb_test): | $(rv32_elfs) $(O)/rv32run
