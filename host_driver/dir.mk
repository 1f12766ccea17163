# SPDX-License-Identifier: Apache-2.0
src-y += $(d)/devices.c $(addprefix $(d)/drv/, drv.c mad.c roce.c smp.c)
src-y += $(addprefix $(d)/mlx4/, alloc.c catas.c mem.c cmd.c connect.c cq.c cq_events.c doorbell.c eq.c eth.c icm.c lock.c mad_ifc.c mcast.c mlx_wqe.c mr.c mtt.c ops.c \
	pci.c port.c post.c probe.c qp.c qp_modify.c srq.c uar.c wqe.c)
src-y += $(addprefix $(d)/rvt/, build.c cq.c device.c engine.c eth.c mcast.c mr.c path.c post.c qp.c recv.c register.c reply.c requester.c responder.c \
	response.c rq.c timer.c ud.c)
test-y += $(addprefix $(d)/rvt/tests/, hooks_test.c register_test.c)
src-y += $(addprefix $(d)/ipath/, agents.c port.c probe.c receive.c send.c)
src-y += $(addprefix $(d)/net/, arp.c gid.c nd.c neigh.c net.c note.c ring.c)
test-y += $(addprefix $(d)/net/tests/, neigh_test.c note_test.c)
src-y += $(addprefix $(d)/sm/, sm.c sa.c)
src-y += $(addprefix $(d)/cm/, cm.c cm_id.c cm_lap.c cm_path.c cm_qp.c cm_recv.c cm_req.c cm_send.c cm_sidr.c sa_query.c)
src-y += $(addprefix $(d)/cm/, cma.c cma_connect.c cma_roce.c cma_ud.c rdma_addrinfo.c rdma_cma.c rdma_ep.c rdma_events.c rdma_qp.c)
test-y += $(addprefix $(d)/mlx4/tests/, alloc_test.c cmd_test.c cq_test.c wqe_test.c)
test-y += $(d)/tests/unwind_test.c
src-y += $(addprefix $(d)/core/, cq.c device.c dma.c drain.c mr.c mr_pool.c objects.c post.c qp.c qp_states.c roce.c rw.c)
test-y += $(addprefix $(d)/core/tests/, arguments_test.c map_test.c qp_states_test.c unwind_test.c)
src-y += $(addprefix $(d)/uverbs/, convert.c events.c file.c kernel.c process.c xrc.c)
src-y += $(addprefix $(d)/uverbs/, verbs_ah.c verbs_device.c verbs_io.c verbs_objects.c verbs_qp.c verbs_ex.c verbs_wr.c)
test-y += $(addprefix $(d)/cm/tests/, tshark_test.c unwind_test.c arguments_test.c)
$(O)/$(d)/cm/tests/tshark_test: | $(O)/fw/hcasim-fw.elf $(O)/hcasim $(O)/hcasim_cm.lua
test-y += $(addprefix $(d)/uverbs/tests/, unwind_test.c arguments_test.c modify_test.c life_test.c)
src-y += $(addprefix $(d)/iwarp/, crc32c.c mpa.c rdmap.c negotiate.c iw_cm.c iw_initiator.c iw_responder.c iw_fpdu.c iw_break.c tcp.c tcp_frame.c socket.c rdma_iw.c)
test-y += $(addprefix $(d)/iwarp/tests/, mpa_test.c agree_test.c ready_test.c stream_test.c rdma_iw_test.c socket_test.c tcp_frame_test.c)
