/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest errors: what software must not do to this device. When software breaks a rule, the device
 * answers as hardware would and counts the error. It also traces the error with the name of the
 * rule, the object and the simulated time. The simulation continues. A source is the behaviour of
 * the mlx4 driver, or a clause of the InfiniBand specification (IBA).
 */
#ifndef MODEL_INTERFACE_RULES_H
#define MODEL_INTERFACE_RULES_H

#include <stdint.h>

/* clang-format off */
/* R(name, "meaning", "source", "what to look at next", "example: what a driver did wrong") */
#define GUEST_RULES(R) \
	R(dma_unmapped, \
	  "the device was told to read or write a bus address that is not mapped for it", \
	  "PCIe: unsupported request; IOMMU fault", \
	  "who unmapped or freed that address, and whether the object that names it still belonged to the device then", \
	  "a CQ's buffer is freed before HW2SW_CQ has returned") \
	R(mtt_not_present, \
	  "the device needed a translation entry (MTT) whose present bit is 0", \
	  "mlx4 MTT entry, bit 0", \
	  "whether the MTTs are written before the object that names them, all of them, at the right index", \
	  "the last page of a region has no MTT, because the count of pages is rounded down") \
	R(icm_unmapped, \
	  "the context, MPT, MTT or other table entry of a live object lies in ICM that is not mapped", \
	  "mlx4 UNMAP_ICM, mlx4_table_put", \
	  "the reference count of the ICM chunk: mapped before the first object in it, unmapped after the last", \
	  "the ICM of a QP's context is unmapped before 2RST_QP") \
	R(icm_overlap, \
	  "a table, or the memory of its last entries, is where another table is in ICM", \
	  "Linux mlx4_make_profile, mlx4_INIT_HCA: each table has a range of its own", \
	  "the base of that table in the mailbox of INIT_HCA, the sizes that the bases are computed from, and where the last chunk of a table ends", \
	  "two bases are the same, so a context is overwritten by another object's") \
	R(doorbell_dead_qp, \
	  "a send doorbell named a QP that is not valid, or that is in a state that does not send", \
	  "mlx4 UAR send doorbell; IBA 10.3.1", \
	  "the number in the doorbell (qpn << 8), and the state of the QP when it was rung", \
	  "a doorbell is rung after the QP was destroyed") \
	R(cq_consumer_index, \
	  "software set a CQ's consumer index beyond its producer index", \
	  "mlx4 CQ doorbell record", \
	  "where the consumer index is counted, and that it is written for each CQE once", \
	  "the consumer index goes up when the CQ was found empty") \
	R(eq_consumer_index, \
	  "software set an EQ's consumer index beyond its producer index, or back", \
	  "mlx4 EQ doorbell", \
	  "where the consumer index is counted, and that it is written for each EQE once", \
	  "the consumer index goes up once more than events were taken") \
	R(rq_overposted, \
	  "software posted more receives than the queue holds", \
	  "mlx4 RQ doorbell record", \
	  "the test for room in the queue, and that the doorbell record holds the count of receives posted so far", \
	  "the doorbell record holds the count of bytes") \
	R(mailbox_reserved, \
	  "a command has reserved bits set in its mailbox or modifier", \
	  "mlx4 command formats", \
	  "the offset and width of each field that is written to the mailbox, and that the mailbox is cleared first", \
	  "a field is shifted by one bit too many") \
	R(object_after_hw2sw, \
	  "software used an object after it had taken it back from the device", \
	  "mlx4 HW2SW_MPT, HW2SW_CQ, HW2SW_EQ, HW2SW_SRQ, 2RST_QP", \
	  "the order of tear-down: users of an object first, then the object", \
	  "a region is deregistered while a posted request names its key") \
	R(object_dead, \
	  "a command, context or doorbell used a number that names no valid CQ, EQ or SRQ", \
	  "mlx4 SW2HW commands", \
	  "the number that was written, and whether the object was made before and is not destroyed yet", \
	  "a QP's context names a CQ that is destroyed") \
	R(blueflame_mismatch, \
	  "a BlueFlame write names another QP or index than the queue's next work request, or some of its lines are missing", \
	  "mlx4 BlueFlame, ctrl dword 0 and 1", \
	  "bf_qpn and bf_index of the WQE, and that whole lines of 64 bytes are copied", \
	  "the index in the WQE is that of the request before it") \
	R(register_unknown, \
	  "software accessed a register that does not exist", \
	  "mlx4 BAR0 map", \
	  "the BAR and the offset", \
	  "an offset in bytes is used as an offset in words") \
	R(register_size, \
	  "software accessed a register with a size or alignment that it does not have", \
	  "mlx4: 32-bit accesses in BAR0", \
	  "the width of the access and its byte order", \
	  "a doorbell of 4 bytes is written as one of 8") \
	R(hcr_busy, \
	  "software wrote the command register while a command was pending", \
	  "mlx4 HCR GO bit", \
	  "the wait for the go bit and the toggle before the command, and the lock around it", \
	  "two threads write a command at the same time") \
	R(command_sequence, \
	  "a command came before the commands that it needs (RUN_FW, INIT_HCA, ...)", \
	  "mlx4 probe sequence", \
	  "the order of the commands of probe or removal", \
	  "MAP_ICM_AUX is sent before SET_ICM_SIZE") \
	R(qp_transition, \
	  "a command asked for a transition that the state of the QP does not allow", \
	  "IBA 10.3.1, mlx4 QP commands", \
	  "the state that the driver thinks the QP has, and the opcode that it chose for the transition", \
	  "INIT2RTR_QP is sent for a QP in RESET") \
	R(wqe_malformed, \
	  "a work request has a form that no hardware accepts: size 0 or beyond the stride, unknown opcode, segments missing", \
	  "mlx4 WQE formats", \
	  "the segments of that WQE, the size in its control segment, and whether it was changed after its doorbell", \
	  "the size counts bytes and not units of 16 bytes") \
	R(header_differs, \
	  "the headers that the driver itself has written before a packet say another length than the packet has", \
	  "IBA 7.7.5 PktLen, 8.3.1 PayLen, 9.2.4 PadCnt; Linux mlx4 build_mlx_header, ib_ud_header_init", \
	  "how the length of the payload is added up, the pad and the 4 bytes of the ICRC", \
	  "the length of the last segment stands for all of them") \
	R(bus_master_off, \
	  "the device needed DMA or an interrupt while bus mastering was off", \
	  "PCI command register, bit 2", \
	  "when bus mastering is set and cleared: before the first command, and after the last", \
	  "bus mastering is cleared before CLOSE_HCA") \
	R(send_buffer_length, \
	  "the length that a send buffer is told is none of a packet, is not that of the LRH, or is above the longest packet", \
	  "QLogic 6120: the first quadword of a send buffer, IBCCtrl.MaxPktLen; Linux qib_verbs_send_pio", \
	  "the length in PBC (dwords of the packet, and one), the PktLen of the LRH, and ibmaxlen", \
	  "a packet is padded after its length was counted") \
	R(send_buffer_order, \
	  "software wrote a send buffer in another order than length, then the packet from its first to its last byte", \
	  "QLogic 6120: the armlaunch error; Linux qib_pio_copy", \
	  "the copy into the send buffer: ascending, each dword once, and the barriers where writes are combined", \
	  "the last dword is written before the rest of a combined write") \
	R(send_buffer_busy, \
	  "software wrote into a send buffer whose packet has not left", \
	  "QLogic 6120: the words of free send buffers; Linux qib_getsendbuf_range", \
	  "the shadow of the words of free send buffers: generation bit first, then the bit of use", \
	  "a buffer is taken again before its generation bit has followed") \
	R(send_buffer_vl, \
	  "software sends a packet on a virtual lane that the port does not have", \
	  "QLogic 6120: SendUnsupportedVLErr", \
	  "the SL2VL table, and OperationalVLs of PortInfo", \
	  "the VL is taken from the SL without a table") \
	R(header_queue_form, \
	  "a receive context was enabled without a header queue, or with entries of an impossible size", \
	  "QLogic 6120: RcvHdrCnt, RcvHdrEntSize, RcvHdrAddr; Linux rcvctrl_6120_mod", \
	  "that the queue's size and address are written before the context is enabled", \
	  "RcvHdrAddr is written after RcvCtrl") \
	R(header_queue_head, \
	  "software wrote an index of a receive context that is beyond its tail or no entry of it", \
	  "QLogic 6120: RcvHdrHead, RcvEgrIndexHead; Linux qib_update_6120_usrhead", \
	  "how the head is counted: in dwords, modulo the queue, up to the tail that was read", \
	  "the head is written as a number of entries") \
	R(eager_entry, \
	  "an eager entry has a size that the chip does not know, a context is enabled while one is not set or has the buffer of another one, or a packet came for one that is not valid", \
	  "QLogic 6120: RcvEgrArray; Linux qib_6120_put_tid, qib_setup_eagerbufs", \
	  "address >> 11 with the code of the size, and when the entry is written", \
	  "a buffer of 4 KiB is announced with the code of 2 KiB") \
	R(chip_register_order, \
	  "a part of the chip was enabled before the address that it writes to was set, or that address was changed while it was enabled", \
	  "QLogic 6120: SendPIOAvailAddr, RcvHdrTailAddr, RcvHdrAddr; Linux rcvctrl_6120_mod and qib_init write them first", \
	  "the write of the address, and that of the enable behind it", \
	  "SendCtrl is told to report free send buffers, and SendPIOAvailAddr is written afterwards") \
	R(send_ctrl_dropped, \
	  "software goes on sending while it has turned off the report of free send buffers", \
	  "QLogic 6120: SendCtrl; Linux sendctrl_6120_mod keeps the other bits in a shadow", \
	  "each write of SendCtrl: what it turns off for its command comes back with the next one", \
	  "a buffer is disarmed by a write that has no other bit") \
	R(interrupt_not_asked, \
	  "software told that the header queue is empty without asking for the next interrupt: it does not hear of the next packet", \
	  "QLogic 6120: RcvHdrHead, bit 32; Linux qib_kreceive, rhdrhead_intr_off", \
	  "the write of the head for the last packet, and how the last one is known", \
	  "the bit is added only when the head does not wrap") \
	R(interrupt_cleared_late, \
	  "software cleared the interrupt of received packets behind its request for the next one: the interrupt of a packet in between is lost", \
	  "QLogic 6120: IntClear; Linux qib_6120intr clears what it found before it looks at the queue", \
	  "the write of IntClear: behind the read of IntStatus, before the queue is looked at", \
	  "IntClear is written when the header queue is empty") \
	R(link_change_unread, \
	  "software cleared the error of a link change and did not look at the link behind that: a change in between is lost", \
	  "QLogic 6120: ErrClear, IBCStatus; Linux handle_6120_errors clears what it found before it reads the state", \
	  "the read of IBCStatus: behind the write of ErrClear, before that of IntClear", \
	  "the state is read, and the error is cleared afterwards") \
	R(eager_kept, \
	  "software told that the header queue is empty, and did not give back the eager buffers of its packets", \
	  "QLogic 6120: RcvEgrIndexHead; Linux qib_kreceive, qib_update_6120_usrhead", \
	  "the write of the eager index: before the head of the header queue, and with the index of the last packet that had a payload", \
	  "the eager index is written for the first packet only") \
	R(doorbell_wrong_uar, \
	  "a doorbell came through another UAR page than that of the object", \
	  "mlx4 usr_page", \
	  "the UAR page in the context of the object, and the page that the doorbell is written to", \
	  "the context holds page 0") \
	R(order_wqe_body, \
	  "no write barrier stands between the body of a work request and its owner bit, or that of a 64-byte chunk and its first word; or the body was written behind them", \
	  "Linux mlx4_ib_post_send: dma_wmb before owner_opcode, set_data_seg: before byte_count; rdma-core udma_to_device_barrier", \
	  "the barrier before the store of the owner bit or of the chunk's byte count, and that these are stored last", \
	  "the owner bit is stored together with the rest of the control segment") \
	R(order_doorbell, \
	  "no write barrier stands between what the device reads and the doorbell or command that makes it read", \
	  "Linux mlx4_ib_post_send: wmb before the doorbell; mlx4_cmd_post: wmb before GO", \
	  "the barrier between the last store and the write of the register", \
	  "the doorbell is rung right behind the owner bit") \
	R(order_receive, \
	  "no write barrier stands between a receive and the doorbell record that counts it", \
	  "Linux mlx4_ib_post_recv, mlx4_ib_post_srq_recv: wmb before the record", \
	  "the barrier before the store of the doorbell record", \
	  "the record is stored before the last receive is written") \
	R(order_entry, \
	  "no read barrier stands between the owner bit of a CQE or EQE and its other fields, or between the tail of a header queue and its entries", \
	  "Linux mlx4_ib_poll_one: rmb, mlx4_eq_int: dma_rmb behind the owner bit; qib_kreceive: smp_rmb behind the tail", \
	  "the barrier between the test of the owner bit and the first use of another field", \
	  "the QP number of a CQE is read to find its queue, before the owner bit is tested") \
	R(order_index, \
	  "no barrier stands between the loads of a CQE or EQE and the consumer index that gives it back", \
	  "Linux mlx4_cq_set_ci: wmb before and after; eq_set_ci", \
	  "the barrier before the consumer index is stored or written", \
	  "the consumer index is written while an entry is still being parsed") \
	R(entry_not_owned, \
	  "software read fields of a CQE or EQE, or memory of a receive, that the device has not written yet, or that was given back", \
	  "mlx4 owner bit; Linux get_sw_cqe, next_eqe_sw, ib_mad_recv_done", \
	  "the test of the owner bit, and when the consumer index is written; when a receive is posted again", \
	  "the consumer index is written before the entry is copied") \
	R(headroom, \
	  "the slots behind the newest work request are in use or not stamped, so that a device which reads ahead takes old bytes for a work request", \
	  "Linux mlx4_ib: stamp_send_wqe, sq_spare_wqes; rdma-core mlx4_post_send", \
	  "the stamp at head + spare behind each post, and the spare slots in the test for a full queue", \
	  "the queue is filled up to its last slot") \
	R(memory_taken, \
	  "memory was unmapped or freed while a live object of the device points to it", \
	  "Linux mlx4_buf_free, mlx4_db_free, ib_umem_release: after HW2SW or 2RST; UNMAP_FA before the pages are freed", \
	  "that the command which takes the object back comes first, and that it has succeeded", \
	  "the pages of a region are unmapped before HW2SW_MPT") \
	R(device_memory_written, \
	  "software stored into memory that belongs to the device: ICM, an MTT or MPT entry of a live object, the firmware area, the mailbox of a running command", \
	  "mlx4 MAP_ICM, MAP_FA; Linux mlx4_mr_hw_get_mpt takes the MPT back first", \
	  "when the object was given to the device, and whether it was taken back since", \
	  "MTT entries are given back to the allocator before HW2SW_CQ, and the next region fills them") \
	R(object_left, \
	  "CLOSE_HCA was given while an object was still the device's, or the driver still watches the device", \
	  "Linux mlx4_remove_one: each part is cleaned up before mlx4_CLOSE_HCA", \
	  "the tear-down of that kind of object, and the order of the steps", \
	  "the event queues are freed without HW2SW_EQ") \
	R(mtt_shared, \
	  "an object was given MTT entries that are those of another live object", \
	  "Linux mlx4_mtt_init: a range for each object", \
	  "the size that was asked from the allocator of MTT entries, and when the other object's were freed", \
	  "the count of pages is rounded down for the allocator") \
	R(page_not_own, \
	  "an object was given a page that is not its own: one of another live object, or one that the device does not reach", \
	  "Linux mlx4_buf_alloc, ib_umem_get: whole pages and a mapping for each buffer; mlx4_buf_write_mtt: an MTT entry for each page", \
	  "whether the buffer has as many pages, and as many MTT entries that were written, as the context says", \
	  "a queue pair's buffer is mapped for its send queue only") \
	R(record_shared, \
	  "an object was given the doorbell record of another live object", \
	  "Linux mlx4_db_alloc: a record for each queue", \
	  "the bitmap of records, and when the other object's record was freed", \
	  "a doorbell record is freed before its CQ is destroyed") \
	R(doorbell_without_wqe, \
	  "the doorbell of a send queue was rung more often than requests were given to the device", \
	  "mlx4_post_send: one doorbell a call that posts; the owner bit of each WQE", \
	  "the owner bit of the next WQE: its value for this lap, and that it is stored before the doorbell is rung", \
	  "the owner bit is not inverted after the queue's wrap, so the device finds no work") \
	R(doorbell_reserved, \
	  "a doorbell has bits set that are reserved, or a code that means nothing", \
	  "mlx4 UAR doorbells: QPN in [31:8]; CQ arm commands 1 and 2", \
	  "the shifts and masks of the doorbell's fields", \
	  "the QPN is not shifted, or the consumer index is not cut to 24 bits") \
	R(arm_record, \
	  "the arm doorbell of a CQ says something else than the arm record in memory", \
	  "mlx4_cq_arm: the record is written first, behind it a barrier, then the doorbell with the same sequence number, command and index", \
	  "that both are made from the same values, and the record is stored before the doorbell", \
	  "the record is not written, or with the index of the arming before") \
	R(cq_record_stale, \
	  "a CQ was armed twice with a consumer index that its doorbell record does not reach, and the record did not move meanwhile", \
	  "Linux mlx4_ib_poll_cq, libmlx4 mlx4_poll_cq: the consumer index is stored in the record behind each poll that took something", \
	  "that the driver writes the consumer index to the doorbell record when it has taken completions", \
	  "the index is counted, and the store to the record is missing, so the device thinks that the queue is filling up") \
	R(blueflame_buffer, \
	  "the same BlueFlame buffer was written twice in a row", \
	  "libmlx4: the offset of the buffer is inverted after each write, because the buffers are taken in turn", \
	  "where the offset of the buffer changes, and that all users of the register share it under its lock", \
	  "the offset is not inverted") \
	R(command_toggle, \
	  "a command has the same toggle as the one before it", \
	  "mlx4_cmd_post inverts the toggle with each command; cmd_pending compares it", \
	  "where the driver inverts its toggle, and what a failed command does to it", \
	  "the toggle stays as it was, so the driver takes an old answer for the new one") \
	R(command_token, \
	  "two commands in a row that end with an event have the same token", \
	  "mlx4_cmd_wait: a context's token changes with each command", \
	  "where the token is made", \
	  "a late event of the command before is taken for the new command's") \
	R(mailbox_changed, \
	  "the input mailbox of a command changed while the command was running", \
	  "mlx4 HCR: the mailbox is the device's from the go bit to the answer", \
	  "who else holds the mailbox: it may have been given back too early, or be filled after the go bit", \
	  "the mailbox is freed and used again while the device reads it") \
	R(config_not_restored, \
	  "the device is used after a software reset, and configuration space has not been restored", \
	  "mlx4_reset: the header is saved before the reset and written again behind it, the command register last", \
	  "the writes of configuration space behind the reset", \
	  "the command register is not written again") \
	R(object_in_use, \
	  "an object was taken back while another one still uses it", \
	  "IBA 11.2.8.3 (destroy CQ), 11.2.5.3 (destroy SRQ): an error while work queues are associated; Linux mlx4_cleanup_eq_table: events are unmapped from an EQ first", \
	  "the order of tear-down: QPs first, then their SRQ and CQs, then the events that are mapped to EQs, then EQs", \
	  "a CQ is destroyed before the QP that completes to it") \
	R(number_taken, \
	  "a number, or the table entry of a number, was given back while the device has a live object with it, or the driver still finds it in its own table", \
	  "Linux mlx4_cq_free, mlx4_qp_free, mlx4_srq_free, mlx4_mpt_release: after HW2SW or 2RST", \
	  "that the command which takes the object back comes first, and that it has succeeded", \
	  "a CQ's number is freed before HW2SW_CQ, and the next CQ gets it") \
	R(not_given_back, \
	  "an object is destroyed, or a call has failed, and something that the driver had taken for it is left", \
	  "Linux: every alloc has its free on the way down and in each error path; kmemleak", \
	  "the labels of the error path, and the function that destroys the object, against what the creating function takes", \
	  "a CQ's doorbell record is not freed when SW2HW_CQ is refused") \
	R(not_taken, \
	  "a mapping is given back that the driver had not taken, or had given back before", \
	  "Linux kernel/dma/debug.c: device driver tries to free DMA memory it has not allocated", \
	  "how many were taken when the call failed, and which of them the way back gives back", \
	  "a scatterlist of which the third entry cannot be mapped is unmapped as a whole") \
	R(request_differs, \
	  "a work request that was given to the device says something else than what was posted", \
	  "IBA 11.4.1.1: modifiers of post send and post receive; mlx4 WQE formats", \
	  "the function that fills that segment", \
	  "the fence bit is not set") \
	R(context_differs, \
	  "the context or memory key that a command gives to the device says something else than what the driver was asked for", \
	  "IBA 11.2: attributes of create and modify; mlx4 contexts and option masks", \
	  "the function that fills that field of the context", \
	  "a changed RNR timer has no bit in the option mask") \
	R(request_not_given, \
	  "a call that posts returned without error, and not all of its requests were given to the device", \
	  "IBA 11.4.1: the requests are on the queue when the call returns; mlx4 doorbells", \
	  "the owner bits, the doorbell or the doorbell record behind the last request of a list", \
	  "the doorbell is not rung when the list ends early") \
	R(arm_differs, \
	  "the driver was asked to arm a CQ, and it armed none, another one, or for other completions", \
	  "IBA 11.4.2.2 request completion notification; mlx4 arm doorbell", \
	  "the number and the command in the arm doorbell", \
	  "the commands for all and for solicited completions are swapped") \
	R(completion_left, \
	  "a queue pair was reset or destroyed, and completions of it are still in its CQ", \
	  "Linux __mlx4_ib_cq_clean, which mlx4_ib_modify_qp and destroy_qp_common call behind 2RST_QP; IBA 11.2.4.2", \
	  "the cleaning of both CQs of the queue pair, behind the command", \
	  "only the CQ of receives is cleaned") \
	R(vector_not_ready, \
	  "an interrupt vector is used before it can strike: masked, without a handler, with MSI-X off, or with an address or data that are not the host's", \
	  "PCI 6.8.2: the entry is written before it is unmasked; Linux mlx4_init_eq_table: request_irq, then eq_set_ci(eq, 1)", \
	  "the order of table entry, mask, handler and the first arming of the event queue", \
	  "a vector is unmasked before its address is written") \
	R(eq_not_armed, \
	  "events wait in an EQ, its interrupt was raised, and the driver has not armed it again", \
	  "Linux mlx4_eq_int: eq_set_ci(eq, 1) behind the last event", \
	  "the last doorbell of the event queue, on each way out of the interrupt handler", \
	  "the handler gives its entries back without the arm bit") \
	R(command_answer, \
	  "the driver returns something else for a command than what the device answered, or does not see the answer", \
	  "Linux mlx4_status_to_errno, mlx4_cmd_wait, mlx4_cmd_event", \
	  "the event bit and the token of the command, who wakes those that wait for it, and how its status becomes an error", \
	  "a command in event mode is given without the event bit") \
	R(qp_state_differs, \
	  "the driver takes a queue pair to be in another state than the device does", \
	  "Linux __mlx4_ib_modify_qp: qp->state changes when the command has succeeded", \
	  "where the driver remembers the state, and the opcode of the transition", \
	  "the state is remembered before the command is given, and the device refuses it") \
	R(completion_differs, \
	  "a completion that the driver returns says something else than what the device wrote", \
	  "IBA 11.4.2.1 poll for completion; mlx4 CQE format", \
	  "the function that fills that member, and which work request the index in the CQE names", \
	  "the immediate data is in the wrong byte order") \
	R(lock_missing, \
	  "something that threads share is read or written without the lock that is held for it elsewhere", \
	  "Linux mlx4_table_get, mlx4_multicast_attach, mlx4_cmd_post: table->mutex, mcg_table.mutex, cmd.hcr_mutex", \
	  "the lock around both, taken before the first look and given back behind the last write", \
	  "whether a chunk of ICM is mapped is looked at before the lock is taken") \
	R(lock_misused, \
	  "a lock is taken twice, given back by a thread that does not hold it, or still held when the call returns, or a handler waits for its own end", \
	  "Linux locking/mutex-design: one owner, which unlocks; lockdep", \
	  "each way out between the lock and the unlock", \
	  "an error returns without the unlock") \
	R(lock_order, \
	  "two locks are taken in both orders, so two threads can wait for each other for ever", \
	  "Linux locking/lockdep-design: lock inversion", \
	  "which of the two comes first everywhere else", \
	  "a command that maps memory takes the lock of the table that calls it") \
	R(wake_missing, \
	  "what a sleeping thread waits for was changed, and nobody wakes the thread then", \
	  "Linux scheduler/completion, wait_event: wake_up after the condition changed", \
	  "the wake-up behind that store, for the wait queue in which the thread sleeps", \
	  "an interrupt handler counts an event and wakes nobody") \
	R(wait_unchecked, \
	  "a thread sleeps, or goes on after its sleep, without a fresh look at what it waits for", \
	  "Linux wait_event: the condition is looked at between prepare_to_wait and schedule, and again when woken", \
	  "that the condition is tested right before the wait, behind all that may take time, and that the wait stands in a loop", \
	  "a lock is tested with if, not with while") \
	R(freed_in_use, \
	  "memory of the driver, or a wait queue, is used after it was freed, or freed while it is used", \
	  "Linux dev-tools/kasan: use-after-free, double-free", \
	  "who else has a pointer to it, and who waits for those before it is freed", \
	  "an event stays in a list when it is freed") \
	R(local_ended, \
	  "a pointer to a local variable is used after the variable's function has ended", \
	  "Linux dev-tools/kasan: stack use; a record on the stack is taken out of its list before the function returns", \
	  "each way out of the function that linked its local variable, those of errors and timeouts first", \
	  "a call that times out leaves its record in the list of calls") \
	R(heap_overrun, \
	  "the driver reads or writes behind the end of a piece of memory that it has taken", \
	  "Linux dev-tools/kasan: slab-out-of-bounds", \
	  "the index and its mask there, and the size that was asked for where the memory was taken", \
	  "an array has an entry for each slot of the ring but one") \
	R(memory_not_set, \
	  "the driver reads memory that it has taken and that nobody has set", \
	  "Linux dev-tools/kmsan; kzalloc gives memory that is zero, kmalloc does not", \
	  "whether the place that takes it needs calloc(), and which member is set nowhere", \
	  "a list in a new object is empty only if its memory was zero") \
	R(range_exceeded, \
	  "an index lies beyond its array, or a shift beyond the bits of its value", \
	  "C11 6.5.6p8 and 6.5.7p3; Linux CONFIG_UBSAN_BOUNDS, CONFIG_UBSAN_SHIFT", \
	  "what was checked before the value became an index: numbers of ports begin with 1, indexes with 0", \
	  "the number of a port is the index of its entry in a table for two ports") \
	R(interrupt_sleeps, \
	  "a handler of interrupts sleeps, or takes a lock that may make it sleep", \
	  "Linux might_sleep: not in interrupt context", \
	  "what the handler calls; the part that may sleep belongs into a thread", \
	  "a handler gives a command and waits for its answer") \
	R(reset_sequence, \
	  "software resets the device, or goes on behind the reset, in another order than the device demands", \
	  "Linux mlx4_reset and mthca_reset: semaphore, reset, a second of quiet, the vendor ID, then the restore; mlx4_init_one resets before the first command", \
	  "the function that resets: each of its waits, and that it comes before the first command", \
	  "configuration space is read 1 ms after the reset") \
	R(device_dead, \
	  "the device has died, and the driver does not treat it so: its users are told once, those that wait are woken, what its queues hold is flushed, and nothing more is sent to it", \
	  "Linux mlx4_enter_error_state, mlx4_cmd_wake_completions, mlx4_dispatch_event(CATASTROPHIC_ERROR), mlx4_ib_poll_sw_comp; host_driver/mlx4/mlx4.h: drv_declare_dead, drv_catas_watch", \
	  "the mark of a dead device: where it is set, who is woken and told then, and each way on which registers are written", \
	  "the thread that finds an error in the error buffer tells nobody") \
	R(queue_place, \
	  "a request was written into another slot of its queue than the one that the device takes next", \
	  "mlx4 QPC: sizes and strides give each slot its place; index 0 behind a reset; Linux get_send_wqe, get_recv_wqe", \
	  "how the driver counts to the slot: index, mask, stride and the offset of the queue in its buffer, against what the context says", \
	  "the receive queue has the longer slots, and the driver puts the send queue first") \
	R(number_reserved, \
	  "an object was given a number or a table entry that the firmware keeps for itself", \
	  "mlx4 QUERY_DEV_CAP: log_rsvd_*, num_rsvd_*; Linux mlx4_dev_cap, mlx4_bitmap_init with reserved_bot", \
	  "where the numbers of that kind begin, against what QUERY_DEV_CAP says", \
	  "CQ numbers are given out from 0 on") \
	R(command_refused, \
	  "the device refused a command for what the driver gave it", \
	  "mlx4 HCR status; Linux mlx4_status_to_errno", \
	  "the modifiers and the mailbox of that command: the numbers, counts and sizes in them", \
	  "MAP_ICM counts one entry less than its mailbox has") \
	R(command_differs, \
	  "the command register or the mailbox says something else than what the driver's function was called with", \
	  "Linux mlx4_cmd_post: eight words of the command register; mlx4_cmd_box, mlx4_alloc_cmd_mailbox: a cleared mailbox", \
	  "the functions that fill the command register and the mailbox, and the pointers between them", \
	  "opcode modifier and opcode are shifted by one bit too many") \
	R(call_refused, \
	  "the driver refuses a call that is right, and neither the device nor the host has refused it anything", \
	  "IBA 11.2: the errors of each verb; Linux: -EINVAL, -EBUSY, -ENODEV and -EOPNOTSUPP each stand behind a test of the driver", \
	  "the tests in the functions that ran last, for the limit, the state or the capability that they compare", \
	  "the test for the device's ID also refuses the right one") \
	R(call_accepted, \
	  "the driver carries out a call that it must refuse", \
	  "IBA 11.2: the errors of each verb; Linux ib_check_mr_access, ib_modify_qp_is_ok and the tests at the head of each verb", \
	  "the tests in the functions that the call came by first: what they compare, and which cases a condition leaves out", \
	  "a region with remote atomics needs no local write") \
	R(call_unexplained, \
	  "a caller did not get what it expects of the driver, and no rule says why; these functions ran last", \
	  "no rule of the device: a driver promises its callers more than the device can know", \
	  "the latest functions of the thread that made the last call, then those of the threads that it waits for", \
	  "an event has the status of another one, and the program that gets it ends with an error") \
	R(driver_crashed, \
	  "the driver was ended by a signal: it used memory that does not exist, or called abort()", \
	  "C11 6.5.3.2: an invalid pointer may not be dereferenced; mlx4 in Linux: an oops", \
	  "the pointer that the innermost function uses: who sets it, and whether what it points to is made already or gone", \
	  "a call returns 0 and has made no object") \
	R(driver_endless, \
	  "a call of the driver does not end, and lets no simulated time pass", \
	  "host_driver/platform.h: others run only where a thread sleeps, waits or accesses a register; mlx4 in Linux: a soft lockup", \
	  "what ends the loop in the innermost functions, and whether each round comes nearer to its end", \
	  "a loop over a list does not go on to the next member") \
	R(eq_left, \
	  "the driver leaves events in an EQ: it arms the EQ again and does not take them, or takes many and gives no index back", \
	  "Linux mlx4_eq_int: all events up to the owner bit are taken, and the index is written each MLX4_NUM_SPARE_EQE", \
	  "the test of the owner bit in the interrupt handler for each round of the queue, and how often the index is written in a long run", \
	  "the owner bit is compared as in the first round") \
	R(number_reused, \
	  "the number of an object that is gone is given out again too soon: at once while others are free, or each time the table is through", \
	  "IBA 9.7.1: packets of an old connection may still come; Linux mlx4_bitmap_alloc goes on behind the last number", \
	  "where the search for a free number begins", \
	  "each search begins at the first number") \
	R(users_differ, \
	  "an object does not count those that use it as they are: a new user is not counted, one that goes is not counted back, a call that has ended still holds it, or it is destroyed while a program has events of it", \
	  "Linux ib_create_qp_user, ib_dereg_mr_user: atomic_inc and atomic_dec of usecnt; uverbs uobj_put_obj_read, rdma_lookup_put_uobject", \
	  "where the function that makes an object counts up, and where the one that destroys it counts down, also on the ways out of errors", \
	  "a region does not count as a user of its PD, so the PD is freed first") \
	R(mad_agent, \
	  "QP0, QP1 or their memory are not kept as the agent of a port needs them: Q_Key, room of receives, receives posted again, a buffer for each MAD", \
	  "IBA 10.2.5, 13.5.1; Linux ib_mad_port_start, ib_mad_post_receive_mads, ib_mad_recv_done", \
	  "how the agent makes its queue pairs, what it does with a receive that has completed, and when it uses the buffer of a send again", \
	  "a receive that failed is not posted again") \
	R(mad_differs, \
	  "a management datagram is sent that is not the one that was asked for, or to another address", \
	  "IBA 13.4.2 MAD format, 14.2.2 directed routes; Linux ib_send_mad", \
	  "the copy into the send buffer, the address that stands with it, and hop pointer and direction of a directed MAD", \
	  "the hop pointer is 0 when the MAD leaves") \
	R(mad_lost, \
	  "a management datagram that was to be sent was not sent, or one that came was not given to the caller who waits for it", \
	  "IBA 13.4.6.4 TransactionID; Linux ib_mad_complete_recv, ib_reset_mad_timeout", \
	  "the list of MADs that wait for room, the list of callers, and who wakes them", \
	  "MADs that wait for room in the send queue are not sent when there is room") \
	R(mad_answer, \
	  "an answer and its request do not belong together: transaction id, attribute, method or address differ, or a transaction id is used again", \
	  "IBA 13.4.6.4 TransactionID, 13.4.5 methods; Linux ib_find_send_mad, ib_response_mad", \
	  "what the answer takes from the request, and by what the agent finds the caller of an answer", \
	  "the response bit of the method is not set") \
	R(group_differs, \
	  "what the device finds for a multicast group is not what was attached to it", \
	  "IBA 10.5.2; Linux mlx4_qp_attach_common, mlx4_qp_detach_common", \
	  "the walk along the chain, the count of members and their order, and the links of the entries before and behind", \
	  "a group that leaves its chain takes those behind it along") \
	R(port_differs, \
	  "what the driver says of a port is not what the device has answered", \
	  "IBA 14.2.5.5 GUIDInfo, 14.2.5.6 PortInfo, 14.2.5.7 P_KeyTable; Linux mlx4_ib_query_port, __mlx4_ib_query_gid", \
	  "port, attribute and modifier of the MAD, and the field that is taken from its answer", \
	  "GIDs beyond the eighth are taken from block 0") \
	R(event_differs, \
	  "users of the driver are told another event than the device has raised or a message has brought, or none", \
	  "IBA 11.6.3 asynchronous events; Linux mlx4_eq_int, mlx4_ib_event; IBA 12.6 messages of connections, Linux cm_format_req_event, cma_ib_handler", \
	  "the type and the subtype of the EQE, and the table in which its object is looked up; of a link, the state with which the new one is compared; of a message, the function that fills that member of the event", \
	  "a port that comes up is told as one that goes down")

/* What a guest error is about. O(NAME, "name"); behind the name stands the object's number. */
#define GUEST_OBJECTS(O) \
	O(NONE, "") \
	O(QP, "qp") \
	O(CQ, "cq") \
	O(EQ, "eq") \
	O(SRQ, "srq") \
	O(MPT, "mpt") \
	O(MCG, "multicast group") \
	O(PORT, "port") \
	O(UAR, "uar page") \
	O(VECTOR, "interrupt vector") \
	O(COMMAND, "command") /* the number is its opcode */ \
	O(SEND_BUFFER, "send buffer") \
	O(CONTEXT, "receive context") \
	O(EAGER, "eager entry")
/* clang-format on */

enum guest_rule {
#define R(name, ...) RULE_##name,
	GUEST_RULES(R)
#undef R
		RULE_COUNT
};

enum guest_object_kind {
#define O(NAME, name) GUEST_##NAME,
	GUEST_OBJECTS(O)
#undef O
		GUEST_OBJECT_KINDS
};

struct guest_object {
	enum guest_object_kind kind;
	uint32_t number;
};

static inline struct guest_object guest_object(enum guest_object_kind kind, uint32_t number)
{
	const struct guest_object object = {kind, number};

	return object;
}

/* A rule was broken by software. */
struct guest_error {
	enum guest_rule rule;
	const char *name; /* of the rule */
	struct guest_object object;
	const char *text; /* what exactly: one line without newline */
};

#endif
