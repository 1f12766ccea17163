src-y += $(addprefix $(d)/, event_core.c engine.c icm.c)
src-y += $(addprefix $(d)/, crc.c)
src-y += $(addprefix $(d)/, qp.c scheduler.c wqe_fetch.c requester.c requester_wqe.c requester_packet.c requester_response.c requester_complete.c retry.c)
test-y += $(addprefix $(d)/tests/, event_core_test.c crc_test.c)
