src-y += $(addprefix $(d)/, event_core.c engine.c icm.c line_cache.c context_cache.c translate.c hca.c processor.c processor_regs.c processor_dma.c processor_objects.c)
src-y += $(addprefix $(d)/, crc.c)
test-y += $(addprefix $(d)/tests/, event_core_test.c)
test-y += $(addprefix $(d)/tests/, crc_test.c)
