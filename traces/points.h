/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace points, one row each: TP(name, unit, kind, fields, "text", "meaning").
 *
 * unit: the stage that emits the record: a file of model/engine/, or fw, driver, host, scenario.
 * kind: what a sink does with the record. The kinds are in trace.h.
 * fields: what a record of the point holds, where in the record it is stored, and its type:
 *   ARG(name, type)  the next one of args[]
 *   QPN              qpn, a hex number
 *   CORR(name)       corr, a decimal number: the index of a WQE, a PSN, or what the name says
 *   PORT             port, from 1
 *   TEXT(name)       text
 *   BYTES(name)      bytes and len
 * types: DEC and HEX numbers, SIGNED numbers, LENGTH in bytes, PS a duration in ps, TIME a point of
 *   simulated time in ps, which the log shows in microseconds.
 * text: what the line of the log has after time, HCA and unit. {name} stands for the value of a
 *   field. The kinds PACKET, REG, HCR, WQE, CQE and EQE add their decoded bytes. Only people read
 *   this text: a tool takes what it needs from the fields.
 *
 * The file of records (records.h) holds the fields of every point whose kind the log shows.
 */
#ifndef TRACES_POINTS_H
#define TRACES_POINTS_H

/* clang-format off */

/* Fields that more than one point has. */
#define TRACE_REG_FIELDS ARG(bar, DEC) ARG(offset, HEX) ARG(value, HEX) ARG(size, LENGTH)
#define TRACE_DMA_FIELDS QPN ARG(addr, HEX) ARG(length, LENGTH) TEXT(what)
#define TRACE_HCR_FIELDS                                                                           \
	CORR(token) ARG(opcode, HEX) ARG(op_mod, DEC) ARG(in_mod, HEX) ARG(in_param, HEX)          \
	ARG(out_param, HEX)
#define TRACE_PACKET_FIELDS                                                                        \
	PORT QPN CORR(psn) ARG(known, HEX) ARG(wr_id, DEC) ARG(wqe, DEC) ARG(transmission, DEC)    \
	BYTES(packet)
#define TRACE_CHECK_FIELDS                                                                         \
	PORT QPN CORR(psn) ARG(until, TIME) ARG(source_qpn, HEX) ARG(traits, HEX) TEXT(opcode)
#define TRACE_FLIGHT_FIELDS                                                                        \
	PORT QPN CORR(psn) ARG(until, TIME) ARG(vl, DEC) ARG(credits, DEC) ARG(wqe, DEC)           \
	ARG(length, LENGTH) ARG(traits, HEX) TEXT(opcode)
#define TRACE_CALL_FIELDS CORR(thread) TEXT(call) BYTES(thread_name)

#define TRACE_POINTS(TP)                                                                           \
	/* accesses by software */                                                                 \
	TP(CFG_READ, pcie, REG, TRACE_REG_FIELDS,                                                  \
	   "config read", "a read of PCI config space")                                            \
	TP(CFG_WRITE, pcie, REG, TRACE_REG_FIELDS,                                                 \
	   "config write", "a write of PCI config space")                                          \
	TP(REG_READ, pcie, REG, TRACE_REG_FIELDS,                                                  \
	   "read", "a read of a BAR, when the device answers it")                                  \
	TP(REG_WRITE, pcie, REG, TRACE_REG_FIELDS,                                                 \
	   "write", "a write of a BAR, when it reaches the device")                                \
	TP(DMA_READ, pcie, DMA, TRACE_DMA_FIELDS,                                                  \
	   "dma read {addr} length {length} {what}", "host memory is read")                        \
	TP(DMA_WRITE, pcie, DMA, TRACE_DMA_FIELDS,                                                 \
	   "dma write {addr} length {length} {what}", "host memory is written")                    \
	TP(DMA_FAULT, pcie, DMA, TRACE_DMA_FIELDS,                                                 \
	   "dma fault {addr} length {length} {what}", "the IOMMU map has no such page")            \
	TP(DMA_LATE, pcie, DMA, QPN ARG(late, PS) ARG(length, LENGTH) TEXT(what),                  \
	   "dma late by {late} ps length {length} {what}",                                         \
	   "a DMA that takes longer because a scenario asks for it")                               \
	TP(RESET, pcie, STATE, TEXT(what),                                                         \
	   "{what}", "reset of the function, begin and end")                                       \
	/* commands */                                                                             \
	TP(HCR_POST, fw, HCR, TRACE_HCR_FIELDS ARG(event, DEC) BYTES(mailbox),                     \
	   "command", "software set the go bit")                                                   \
	TP(HCR_DONE, fw, HCR, TRACE_HCR_FIELDS ARG(status, HEX) BYTES(mailbox),                    \
	   "done", "the go bit is clear or the command EQE is written")                            \
	TP(FW_TEXT, fw, FW, TEXT(line),                                                            \
	   "{line}", "a line of text from firmware")                                               \
	TP(FW_NUMBER, fw, FW, ARG(number, HEX) TEXT(what),                                         \
	   "{what} {number}", "a number from firmware, text says what")                            \
	TP(FW_CATAS, fw, FW, TEXT(why),                                                            \
	   "catastrophic error: {why}", "firmware trapped or its watchdog ran out")                \
	/* doorbells and the send queue */                                                         \
	TP(DOORBELL_SEND, doorbell, DOORBELL, QPN ARG(uar, DEC),                                   \
	   "send doorbell qpn {qpn} uar {uar}", "the send doorbell of a UAR page")                 \
	TP(DOORBELL_BLUEFLAME, doorbell, DOORBELL, QPN CORR(wqe) ARG(length, LENGTH) BYTES(wqe_bytes), \
	   "blueflame qpn {qpn} index {wqe} length {length}",                                      \
	   "a WQE written to the BlueFlame page")                                                  \
	TP(DOORBELL_CQ_ARM, doorbell, DOORBELL,                                                    \
	   ARG(cqn, HEX) ARG(ci, DEC) ARG(sn, DEC) ARG(solicited, DEC),                            \
	   "arm cqn {cqn} ci {ci} sn {sn} solicited {solicited}", "the CQ doorbell")               \
	TP(DOORBELL_EQ_CI, doorbell, DOORBELL, ARG(eqn, DEC) ARG(ci, DEC) ARG(arm, DEC),           \
	   "eqn {eqn} ci {ci} arm {arm}", "the EQ consumer index register")                        \
	TP(DOORBELL_RECORD, doorbell, DOORBELL, QPN ARG(object, HEX) ARG(value, HEX),              \
	   "doorbell record of {object} reads {value}",                                            \
	   "a doorbell record was read from memory")                                               \
	TP(SCHED_PICK, scheduler, NOTE, QPN CORR(wqe) ARG(producer, DEC),                          \
	   "qpn {qpn} runs from wqe {wqe} to {producer}", "the scheduler gives a QP its turn")     \
	TP(WQE_SEND, wqe_fetch, WQE, QPN CORR(wqe) ARG(srqn, HEX) ARG(service, DEC) BYTES(wqe_bytes), \
	   "send wqe", "a send WQE, complete in the device")                                       \
	TP(WQE_RECV, wqe_fetch, WQE, QPN CORR(wqe) ARG(srqn, HEX) ARG(service, DEC) BYTES(wqe_bytes), \
	   "receive wqe", "a receive WQE of a QP or SRQ is consumed")                              \
	TP(CACHE_MISS, context_cache, NOTE, ARG(number, HEX) ARG(icm, HEX) TEXT(what),             \
	   "miss {what} {number} icm {icm}", "a context is read from ICM")                         \
	TP(CACHE_WRITEBACK, context_cache, NOTE, ARG(number, HEX) ARG(icm, HEX) TEXT(what),        \
	   "write back {what} {number} icm {icm}", "a context is written to ICM")                  \
	TP(TRANSLATE_MISS, translate, NOTE, QPN ARG(key, HEX) ARG(va, HEX) TEXT(what),             \
	   "miss {what} key {key} va {va}", "an MPT or MTT is read from ICM")                      \
	TP(TRANSLATE_DENY, translate, NOTE,                                                        \
	   QPN ARG(key, HEX) ARG(va, HEX) ARG(length, LENGTH) TEXT(why),                           \
	   "qpn {qpn} key {key} va {va} length {length}: {why}", "an access check failed")         \
	/* protocol */                                                                             \
	TP(REQ_STATE, requester, STATE, QPN CORR(wqe) ARG(waits, DEC) TEXT(state),                 \
	   "qpn {qpn} {state}", "the requester changed state")                                     \
	TP(REQ_RETRY, retry, STATE, QPN CORR(psn) ARG(left, DEC) TEXT(why),                        \
	   "qpn {qpn} psn {psn} again, {why}, tries left {left}",                                  \
	   "the requester goes back to a PSN")                                                     \
	TP(TIMER_START, retry, STATE, QPN ARG(deadline, TIME) TEXT(timer),                         \
	   "qpn {qpn} {timer} timer until {deadline}", "an ACK or RNR timer starts")               \
	TP(TIMER_EXPIRE, retry, STATE, QPN TEXT(timer),                                            \
	   "qpn {qpn} {timer} timer expired", "an ACK or RNR timer ran out")                       \
	TP(RESP_STATE, responder, STATE, QPN CORR(psn) ARG(waits, DEC) TEXT(state),                \
	   "qpn {qpn} psn {psn} {state}", "the responder changed state or gave a verdict")         \
	TP(RESP_RESOURCE, atomic_read, STATE, QPN CORR(psn) ARG(slot, DEC) TEXT(what),             \
	   "qpn {qpn} psn {psn} {what} slot {slot}",                                               \
	   "a responder resource is taken, replayed or freed")                                     \
	TP(SRQ_STATE, srq, STATE, ARG(srqn, HEX) TEXT(what),                                       \
	   "srqn {srqn} {what}", "an SRQ's limit or state changed")                                \
	TP(QP_STATE, requester, STATE, QPN TEXT(what),                                             \
	   "qpn {qpn} {what}", "a QP changed state: from, to, why")                                \
	/* the link */                                                                             \
	TP(PKT_OUT, link_port, PACKET, TRACE_PACKET_FIELDS TEXT(fault),                            \
	   "out", "the last bit of a packet left the port")                                        \
	TP(PKT_IN, link_port, PACKET, TRACE_PACKET_FIELDS TEXT(fault),                             \
	   "in", "the last bit of a packet arrived at the port")                                   \
	TP(PKT_DISCARD, link_port, PACKET, TRACE_PACKET_FIELDS TEXT(why),                          \
	   "discard", "a port or transport check dropped a packet")                                \
	TP(LINK_STATE, link_port, STATE, PORT TEXT(state),                                         \
	   "port {port} {state}", "link training and port state")                                  \
	TP(LINK_CREDIT, link_port, STATE, PORT ARG(vl, DEC) ARG(have, DEC),                        \
	   "port {port} vl {vl} waits for credits, has {have}", "a packet waits for credits")      \
	/* completions and events */                                                               \
	TP(CQE_WRITE, cqe_write, CQE, QPN CORR(wqe) ARG(cqn, HEX) ARG(index, DEC) BYTES(cqe),      \
	   "cqe", "a CQE is in host memory")                                                       \
	TP(EQE_WRITE, event_queue, EQE, ARG(eqn, DEC) ARG(index, DEC) BYTES(eqe),                  \
	   "eqe", "an EQE is in host memory")                                                      \
	TP(IRQ_RAISE, interrupt, IRQ, ARG(vector, DEC),                                            \
	   "msi-x vector {vector}", "an interrupt message is sent")                                \
	TP(IRQ_PEND, interrupt, IRQ, ARG(vector, DEC),                                             \
	   "msi-x vector {vector} masked, pending", "a masked vector sets its pending bit")        \
	/* when stages are busy, and how long their queues are */                                  \
	TP(BAR_RUN, pcie, SPAN, ARG(until, TIME) ARG(bar, DEC) ARG(offset, HEX) TEXT(access),      \
	   "host {access}", "a host's access crosses the link to the device")                      \
	TP(DMA_READ_RUN, pcie, SPAN, QPN CORR(cause) ARG(until, TIME) ARG(length, LENGTH) TEXT(what), \
	   "read {what}", "from the request until the bytes are there")                            \
	TP(DMA_WRITE_RUN, pcie, SPAN, QPN CORR(cause) ARG(until, TIME) ARG(length, LENGTH) TEXT(what), \
	   "write {what}", "until the bytes have landed")                                          \
	TP(SCHED_QUEUE, scheduler, LEVEL, PORT ARG(length, DEC),                                   \
	   "queue", "QPs with something to send that wait for a processing unit")                  \
	TP(UNIT_RUN, requester, SPAN,                                                              \
	   QPN CORR(wqe) ARG(until, TIME) ARG(unit, DEC) ARG(next_wqe, DEC) ARG(next_psn, DEC),    \
	   "qpn {qpn} wqe {wqe}", "a processing unit is busy with a QP's turn")                    \
	TP(WQE_READ_RUN, wqe_fetch, SPAN, QPN CORR(wqe) ARG(until, TIME) ARG(count, DEC),          \
	   "read qpn {qpn} wqe {wqe}", "send WQEs are read")                                       \
	TP(RWQE_READ_RUN, wqe_fetch, SPAN, QPN ARG(until, TIME),                                   \
	   "read receive qpn {qpn}", "receive WQEs are read")                                      \
	TP(CACHE_RUN, context_cache, SPAN, QPN CORR(number) ARG(until, TIME) TEXT(what),           \
	   "read {what} {number}", "a context is read from ICM")                                   \
	TP(TRANSLATE_RUN, translate, SPAN, ARG(until, TIME) TEXT(what),                            \
	   "read {what}", "an MPT or MTT is read from ICM")                                        \
	TP(MCG_RUN, multicast, SPAN, ARG(until, TIME) TEXT(what),                                  \
	   "read {what}", "a multicast group is read from ICM")                                    \
	TP(RECORD_RUN, srq, SPAN, QPN ARG(until, TIME) TEXT(what),                                 \
	   "read {what} qpn {qpn}", "a receive doorbell record is read")                           \
	TP(LINK_TX, link_port, SPAN, TRACE_FLIGHT_FIELDS,                                          \
	   "out port {port} {opcode} qpn {qpn} psn {psn}", "a packet is put on the wire")          \
	TP(LINK_RX, link_port, SPAN, TRACE_FLIGHT_FIELDS,                                          \
	   "in port {port} {opcode} qpn {qpn} psn {psn}", "a packet comes in from the wire")       \
	TP(LINK_QUEUE, link_port, LEVEL, PORT ARG(change, SIGNED) ARG(vl, DEC),                    \
	   "queue", "bytes on a virtual lane that wait for credits")                               \
	TP(PACKET_RUN, packet, SPAN, TRACE_CHECK_FIELDS,                                           \
	   "check {opcode} qpn {qpn} psn {psn}", "a packet that came in is parsed and checked")    \
	TP(RESP_RUN, responder, SPAN, TRACE_CHECK_FIELDS,                                          \
	   "{opcode} qpn {qpn} psn {psn}",                                                         \
	   "the responder works on a request, until its DMA or answer may leave")                  \
	TP(ATOMIC_RUN, atomic_read, SPAN, QPN CORR(psn) ARG(until, TIME) ARG(source_qpn, HEX),     \
	   "atomic qpn {qpn} psn {psn}", "the atomic unit is busy")                                \
	TP(CQE_RUN, cqe_write, SPAN,                                                               \
	   QPN CORR(wqe) ARG(until, TIME) ARG(cqn, HEX) ARG(index, DEC) ARG(is_send, DEC),         \
	   "cqe qpn {qpn}", "a CQE is on its way to host memory")                                  \
	TP(EQE_RUN, event_queue, SPAN,                                                             \
	   ARG(until, TIME) ARG(eqn, DEC) ARG(index, DEC) ARG(cqn, HEX) ARG(type, HEX),            \
	   "eqe", "an EQE is on its way to host memory")                                           \
	TP(IRQ_RUN, interrupt, SPAN, ARG(until, TIME) ARG(vector, DEC),                            \
	   "msi-x", "an interrupt message is on its way")                                          \
	TP(FW_RUN, processor, SPAN, ARG(until, TIME) ARG(instructions, DEC),                       \
	   "run", "the embedded processor executes")                                               \
	TP(FW_CALL, processor, CALL, CORR(depth) TEXT(function) BYTES(caller),                     \
	   "{function}", "a firmware function begins")                                             \
	TP(FW_RETURN, processor, CALL, CORR(depth) TEXT(function) BYTES(caller),                   \
	   "{function} returns", "a firmware function ends")                                       \
	TP(THREAD_WAIT, host, CALL, TRACE_CALL_FIELDS,                                             \
	   "{call}", "a host thread waits")                                                        \
	TP(THREAD_GO, host, CALL, TRACE_CALL_FIELDS,                                               \
	   "{call} ends", "it goes on")                                                            \
	TP(IRQ_ENTER, host, CALL, CORR(thread) ARG(vector, DEC) BYTES(thread_name),                \
	   "interrupt vector {vector}", "an interrupt handler begins")                             \
	TP(IRQ_EXIT, host, CALL, CORR(thread) ARG(vector, DEC) BYTES(thread_name),                 \
	   "interrupt vector {vector} ends", "an interrupt handler ends")                          \
	/* software */                                                                             \
	TP(DRV_ENTER, driver, DRV, TRACE_CALL_FIELDS,                                              \
	   "{call}", "a driver function with its arguments")                                       \
	TP(DRV_POST, driver, DRV, QPN TRACE_CALL_FIELDS,                                           \
	   "{call}", "as DRV_ENTER: a send is posted to a QP")                                     \
	TP(DRV_POLL, driver, DRV, QPN ARG(cqn, HEX) TRACE_CALL_FIELDS,                             \
	   "{call}", "as DRV_ENTER: a completion of a QP is taken from a CQ")                      \
	TP(DRV_EXIT, driver, DRV, TRACE_CALL_FIELDS ARG(result, SIGNED),                           \
	   "{call} returns {result}", "a driver function returns")                                 \
	TP(FAULT, fault, FAULT, PORT QPN CORR(psn) TEXT(what),                                     \
	   "{what}", "the fault plan acted")                                                       \
	TP(ETH_OUT, ethernet, ETHERNET, PORT BYTES(frame) TEXT(fault),                              \
	   "out", "the last bit of an Ethernet frame left the host")                               \
	TP(ETH_IN, ethernet, ETHERNET, PORT BYTES(frame) TEXT(fault),                               \
	   "in", "the last bit of an Ethernet frame arrived at the host")                          \
	TP(IWARP, iwarp, NOTE, TEXT(what),                                                         \
	   "{what}", "what an iWARP connection does: states, messages, events")                    \
	TP(GUEST_ERROR, guest_error, GUEST_ERROR, TEXT(what),                                      \
	   "{what}", "software broke a rule: the rule's name, then what happened")                 \
	TP(PHASE, scenario, NOTE, TEXT(name),                                                      \
	   "phase {name}", "a phase of the scenario begins")                                       \
	TP(NOTE, scenario, NOTE, TEXT(what),                                                       \
	   "{what}", "text of the scenario")                                                       \
	/* the chip of the personality ipath */                                                    \
	TP(IPATH_READ, ipath, STATE,                                                               \
	   ARG(offset, HEX) ARG(value, HEX) ARG(size, LENGTH) TEXT(register),                      \
	   "read {offset} {register} value {value}",                                               \
	   "a read of the 6120's BAR, when the device answers it")                                 \
	TP(IPATH_WRITE, ipath, STATE,                                                              \
	   ARG(offset, HEX) ARG(value, HEX) ARG(size, LENGTH) TEXT(register),                      \
	   "write {offset} {register} value {value}",                                              \
	   "a write of the 6120's BAR, when it reaches the device")                                \
	TP(IPATH_SEND, ipath, STATE, QPN CORR(psn) ARG(buffer, DEC) ARG(length, LENGTH),           \
	   "send buffer {buffer} of {length} bytes, qpn {qpn} psn {psn}",                          \
	   "the packet in a send buffer is complete, and has its turn")                            \
	TP(IPATH_RECEIVE, ipath, STATE,                                                            \
	   PORT QPN CORR(psn) ARG(tail, DEC) ARG(eager, DEC) ARG(length, LENGTH) ARG(errors, HEX), \
	   "header queue {tail}, eager buffer {eager}, payload {length}, errors {errors}, qpn {qpn} psn {psn}", \
	   "a packet goes to the header queue and, with payload, to an eager buffer")

/* clang-format on */

enum trace_point {
#define TP(name, unit, kind, fields, text, meaning) TP_##name,
	TRACE_POINTS(TP)
#undef TP
		TRACE_POINT_COUNT
};

#endif
