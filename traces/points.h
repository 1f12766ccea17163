/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace points, one row each: TP(name, unit, kind, "format", "meaning").
 *
 * unit: the stage that says it (the file of model/engine/, or fw, driver, scenario).
 * kind: how sinks render it, see trace.h for what a record of that kind carries.
 * format: the log line after time, HCA and unit. {name} takes the next of args[], in order, as
 * decimal, {name:x} as hex, {name:ps} as microseconds; {qpn} {corr} {port} {len} {text} are fields
 * of the record and take none. The kinds PACKET, REG, HCR, WQE, CQE and EQE add what their bytes
 * decode to.
 */
#ifndef TRACES_POINTS_H
#define TRACES_POINTS_H

#define TRACE_POINTS(TP)                                                                           \
	/* accesses by software */                                                                 \
	TP(CFG_READ, pcie, REG, "config read", "a read of PCI config space")                       \
	TP(CFG_WRITE, pcie, REG, "config write", "a write of PCI config space")                    \
	TP(REG_READ, pcie, REG, "read", "a read of a BAR, when the device answers it")             \
	TP(REG_WRITE, pcie, REG, "write", "a write of a BAR, when it reaches the device")          \
	TP(DMA_READ, pcie, DMA, "dma read {addr:x} length {length} {text}", "host memory is read") \
	TP(DMA_WRITE, pcie, DMA, "dma write {addr:x} length {length} {text}",                      \
	   "host memory is written")                                                               \
	TP(DMA_FAULT, pcie, DMA, "dma fault {addr:x} length {length} {text}",                      \
	   "the IOMMU map has no such page")                                                       \
	TP(DMA_LATE, pcie, DMA, "dma late by {addr} ps length {length} {text}",                    \
	   "a DMA that takes longer because a scenario asks for it")                               \
	TP(RESET, pcie, STATE, "{text}", "reset of the function, begin and end")                   \
	/* commands */                                                                             \
	TP(HCR_POST, fw, HCR, "command", "software set the go bit")                                \
	TP(HCR_DONE, fw, HCR, "done", "the go bit is clear or the command EQE is written")         \
	TP(FW_TEXT, fw, FW, "{text}", "a line of text from firmware")                              \
	TP(FW_NUMBER, fw, FW, "{text} {number:x}", "a number from firmware, text says what")       \
	TP(FW_CATAS, fw, FW, "catastrophic error: {text}",                                         \
	   "firmware trapped or its watchdog ran out")                                             \
	/* doorbells and the send queue */                                                         \
	TP(DOORBELL_SEND, doorbell, DOORBELL, "send doorbell qpn {qpn} uar {uar}",                 \
	   "the send doorbell of a UAR page")                                                      \
	TP(DOORBELL_BLUEFLAME, doorbell, DOORBELL,                                                 \
	   "blueflame qpn {qpn} index {corr} length {length}",                                     \
	   "a WQE written to the BlueFlame page")                                                  \
	TP(DOORBELL_CQ_ARM, doorbell, DOORBELL, "arm cqn {cqn:x} ci {ci} sn {sn} solicited {sol}", \
	   "the CQ doorbell")                                                                      \
	TP(DOORBELL_EQ_CI, doorbell, DOORBELL, "eqn {eqn} ci {ci} arm {arm}",                      \
	   "the EQ consumer index register")                                                       \
	TP(DOORBELL_RECORD, doorbell, DOORBELL, "doorbell record of {object:x} reads {value:x}",   \
	   "a doorbell record was read from memory")                                               \
	TP(SCHED_PICK, scheduler, NOTE, "qpn {qpn} runs from wqe {corr} to {producer}",            \
	   "the scheduler gives a QP its turn")                                                    \
	TP(SCHED_WAIT, scheduler, NOTE, "qpn {qpn} waits for {text}",                              \
	   "a QP leaves the scheduler with work left")                                             \
	TP(WQE_SEND, wqe_fetch, WQE, "send wqe", "a send WQE, complete in the device")             \
	TP(WQE_RECV, wqe_fetch, WQE, "receive wqe", "a receive WQE of a QP or SRQ is consumed")    \
	TP(CACHE_MISS, context_cache, NOTE, "miss {text} {number:x} icm {addr:x}",                 \
	   "a context is read from ICM")                                                           \
	TP(CACHE_WRITEBACK, context_cache, NOTE, "write back {text} {number:x} icm {addr:x}",      \
	   "a context is written to ICM")                                                          \
	TP(TRANSLATE_MISS, translate, NOTE, "miss {text} key {key:x} va {va:x}",                   \
	   "an MPT or MTT is read from ICM")                                                       \
	TP(TRANSLATE_DENY, translate, NOTE,                                                        \
	   "qpn {qpn} key {key:x} va {va:x} length {length}: {text}", "an access check failed")    \
	/* protocol */                                                                             \
	TP(REQ_STATE, requester, STATE, "qpn {qpn} {text}", "the requester changed state")         \
	TP(REQ_RETRY, retry, STATE, "qpn {qpn} psn {corr} again, {text}, tries left {left}",       \
	   "the requester goes back to a PSN")                                                     \
	TP(TIMER_START, retry, STATE, "qpn {qpn} {text} timer until {deadline:ps}",                \
	   "an ACK or RNR timer starts")                                                           \
	TP(TIMER_EXPIRE, retry, STATE, "qpn {qpn} {text} timer expired",                           \
	   "an ACK or RNR timer ran out")                                                          \
	TP(RESP_STATE, responder, STATE, "qpn {qpn} psn {corr} {text}",                            \
	   "the responder changed state or gave a verdict")                                        \
	TP(RESP_RESOURCE, atomic_read, STATE, "qpn {qpn} psn {corr} {text} slot {slot}",           \
	   "a responder resource is taken, replayed or freed")                                     \
	TP(SRQ_STATE, srq, STATE, "srqn {srqn:x} {text}", "an SRQ's limit or state changed")       \
	TP(QP_STATE, requester, STATE, "qpn {qpn} {text}", "a QP changed state: from, to, why")    \
	/* the link */                                                                             \
	TP(PKT_OUT, link_port, PACKET, "out", "the last bit of a packet left the port")            \
	TP(PKT_IN, link_port, PACKET, "in", "the last bit of a packet arrived at the port")        \
	TP(PKT_DISCARD, link_port, PACKET, "discard",                                              \
	   "a port or transport check dropped a packet")                                           \
	TP(LINK_STATE, link_port, STATE, "port {port} {text}", "link training and port state")     \
	TP(LINK_CREDIT, link_port, STATE, "port {port} vl {vl} waits for credits, has {have}",     \
	   "a packet waits for credits")                                                           \
	/* completions and events */                                                               \
	TP(CQE_WRITE, cqe_write, CQE, "cqe", "a CQE is in host memory")                            \
	TP(EQE_WRITE, event_queue, EQE, "eqe", "an EQE is in host memory")                         \
	TP(IRQ_RAISE, interrupt, IRQ, "msi-x vector {vector}", "an interrupt message is sent")     \
	TP(IRQ_PEND, interrupt, IRQ, "msi-x vector {vector} masked, pending",                      \
	   "a masked vector sets its pending bit")                                                 \
	/* when stages are busy, and how long their queues are */                                  \
	TP(BAR_RUN, pcie, SPAN, "host {text}", "a host's access crosses the link to the device")   \
	TP(DMA_READ_RUN, pcie, SPAN, "read {text}", "from the request until the bytes are there")  \
	TP(DMA_WRITE_RUN, pcie, SPAN, "write {text}", "until the bytes have landed")               \
	TP(SCHED_QUEUE, scheduler, LEVEL, "queue",                                                 \
	   "QPs with something to send that wait for a processing unit")                           \
	TP(UNIT_RUN, requester, SPAN, "qpn {qpn} wqe {corr}",                                      \
	   "a processing unit is busy with a QP's turn")                                           \
	TP(WQE_READ_RUN, wqe_fetch, SPAN, "read qpn {qpn} wqe {corr}", "send WQEs are read")       \
	TP(RWQE_READ_RUN, wqe_fetch, SPAN, "read receive qpn {qpn}", "receive WQEs are read")      \
	TP(CACHE_RUN, context_cache, SPAN, "read {text} {corr}", "a context is read from ICM")     \
	TP(TRANSLATE_RUN, translate, SPAN, "read {text}", "an MPT or MTT is read from ICM")        \
	TP(MCG_RUN, multicast, SPAN, "read {text}", "a multicast group is read from ICM")          \
	TP(RECORD_RUN, srq, SPAN, "read {text} qpn {qpn}", "a receive doorbell record is read")    \
	TP(LINK_TX, link_port, SPAN, "out port {port} {text} qpn {qpn} psn {corr}",                \
	   "a packet is put on the wire")                                                          \
	TP(LINK_RX, link_port, SPAN, "in port {port} {text} qpn {qpn} psn {corr}",                 \
	   "a packet comes in from the wire")                                                      \
	TP(LINK_QUEUE, link_port, LEVEL, "queue", "bytes on a virtual lane that wait for credits") \
	TP(PACKET_RUN, packet, SPAN, "check {text} qpn {qpn} psn {corr}",                          \
	   "a packet that came in is parsed and checked")                                          \
	TP(RESP_RUN, responder, SPAN, "{text} qpn {qpn} psn {corr}",                               \
	   "the responder works on a request, until its DMA or answer may leave")                  \
	TP(ATOMIC_RUN, atomic_read, SPAN, "atomic qpn {qpn} psn {corr}",                           \
	   "the atomic unit is busy")                                                              \
	TP(CQE_RUN, cqe_write, SPAN, "cqe qpn {qpn}", "a CQE is on its way to host memory")        \
	TP(EQE_RUN, event_queue, SPAN, "eqe", "an EQE is on its way to host memory")               \
	TP(IRQ_RUN, interrupt, SPAN, "msi-x", "an interrupt message is on its way")                \
	TP(FW_RUN, processor, SPAN, "run", "the embedded processor executes")                      \
	TP(FW_CALL, processor, CALL, "{text}", "a firmware function begins")                       \
	TP(FW_RETURN, processor, CALL, "{text} returns", "a firmware function ends")               \
	TP(THREAD_WAIT, host, CALL, "{text}", "a host thread waits")                               \
	TP(THREAD_GO, host, CALL, "{text} ends", "it goes on")                                     \
	TP(IRQ_ENTER, host, CALL, "interrupt vector {vector}", "an interrupt handler begins")      \
	TP(IRQ_EXIT, host, CALL, "interrupt vector {vector} ends", "an interrupt handler ends")    \
	/* software */                                                                             \
	TP(DRV_ENTER, driver, DRV, "{text}", "a driver function with its arguments")               \
	TP(DRV_EXIT, driver, DRV, "{text} returns {result:d}", "a driver function returns")        \
	TP(DRV_NOTE, driver, DRV, "{text}", "what the driver prints")                              \
	TP(FAULT, fault, FAULT, "{text}", "the fault plan acted")                                  \
	TP(GUEST_ERROR, guest_error, GUEST_ERROR, "{text}",                                        \
	   "software broke a rule: the rule's name, then what happened")                           \
	TP(NOTE, scenario, NOTE, "{text}", "text of the scenario")

enum trace_point {
#define TP(name, unit, kind, format, meaning) TP_##name,
	TRACE_POINTS(TP)
#undef TP
		TRACE_POINT_COUNT
};

#endif
