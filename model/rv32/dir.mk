src-y  += $(addprefix $(d)/, core.c csr.c decode.c compressed.c execute.c elf_load.c symbols.c gdb.c)
prog-y += rv32run:$(d)/rv32run.c
