# SPDX-License-Identifier: Apache-2.0
# One line a room, from the bottom to the top of the engine. A file calls, and includes, only files of its own room and of rooms
# below. What a room has to tell a room above goes through struct hca_calls (base/calls.h), or struct qp_half (qp/qp.h); a
# personality, above all rooms or in its own (mlx4.c, ipath/ipath.c), fills in the functions. testbench/scripts/check_rooms.py, a part of make test, reads this file and the objects' symbols,
# and fails on a call that goes up. It also fails when more than 12 files of a room depend on each other in circles.
src-y += $(addprefix $(d)/base/, event_core.c engine.c jitter.c keep.c memory.c memory_create.c pool.c)
src-y += $(addprefix $(d)/host/, pcie.c pcie_late.c pcie_setup.c pcie_host.c pci_config.c interrupt.c)
src-y += $(addprefix $(d)/memory/, icm.c line_cache.c context_cache.c context_lines.c translate.c memory_key.c)
src-y += $(addprefix $(d)/complete/, cqe_write.c cq_event.c event_queue.c object_lane.c)
src-y += $(addprefix $(d)/wire/, crc.c crc_tables.c packet.c packet_queue.c packet_receive.c gather.c link_port.c link_train.c link_receive.c static_rate.c vl_arbiter.c port_note.c eth_port.c eth_tables.c roce.c roce_crc.c frame.c)
src-y += $(addprefix $(d)/ipath/, ipath.c registers.c causes.c port.c send.c receive.c eeprom.c)
src-y += $(addprefix $(d)/outside/, outside.c)
src-y += $(addprefix $(d)/qp/, qp.c qp_path.c)
src-y += $(addprefix $(d)/fetch/, wqe_fetch.c wqe_read.c wqe_queue.c wqe_receive.c)
src-y += $(addprefix $(d)/send/, scheduler.c requester.c requester_wqe.c requester_packet.c requester_frame.c requester_local.c requester_response.c requester_complete.c retry.c)
src-y += $(addprefix $(d)/receive/, receive_unit.c srq.c responder.c responder_life.c responder_refuse.c responder_execute.c responder_ack.c responder_frame.c frame_receive.c atomic_read.c atomic_unit.c multicast.c)
src-y += $(addprefix $(d)/chip/, pci_function.c doorbell.c processor.c processor_regs.c processor_ports.c processor_dma.c processor_objects.c object_users.c)
src-y += $(d)/hca.c $(d)/mlx4.c
test-y += $(patsubst ./%,%,$(sort $(wildcard $(d)/tests/*_test.c $(d)/*/tests/*_test.c)))
