/* SPDX-License-Identifier: Apache-2.0 */
/* See stall.h. */
#include "testbench/machine/stall.h"

#include "model/engine/base/engine.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/engine/host/interrupt.h"
#include "model/engine/memory/icm.h"
#include "model/engine/qp/qp.h"
#include "model/engine/wire/link_port.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { LINE_CHARS = 256, PAGE_BASE_LOG = 12 };

struct stall {
	struct hca *hca;
	const char *before;
	FILE *out;
	unsigned room, count;
};

static __attribute__((format(printf, 2, 3))) void line(struct stall *s, const char *format, ...)
{
	va_list args;

	if (s->count++ >= s->room)
		return;
	fprintf(s->out, "%shca%u ", s->before, s->hca->index);
	va_start(args, format);
	vfprintf(s->out, format, args);
	va_end(args);
	fputc('\n', s->out);
}

static bool read_host(const struct hca *hca, uint64_t bus, void *to, size_t len)
{
	return !hca->env.dma_read(hca->env.ctx, bus, to, len);
}

/* --- ports --- */

static void port_waits(struct stall *s, unsigned port)
{
	const struct port_config *config = link_port_config(s->hca, port);

	if (config->logical != PORT_STATE_ACTIVE)
		line(s, "port %u: %s, so no data packet goes out or in", port,
		     code_name(&code_table_port_state, config->logical));
	if (config->asked.waits)
		line(s,
		     "port %u: the newest MAD for its subnet management agent (method 0x%x, "
		     "attribute "
		     "0x%x, "
		     "transaction 0x%" PRIx64 ") has no answer that has left",
		     port, config->asked.method, config->asked.attr, config->asked.tid);
}

/* --- completion and event queues --- */

static void cq_waits(struct stall *s, uint32_t cqn, const struct cqc *cqc)
{
	const unsigned state = cqc_get_state(cqc);
	struct cq_dbrec rec;
	uint32_t unread;

	if (!read_host(s->hca, cqc_get_db_rec_addr(cqc), rec.b, sizeof(rec))) {
		line(s, "cq 0x%x: its doorbell record is not mapped", cqn);
		return;
	}
	unread = (cqc_get_producer_index(cqc) - cq_dbrec_get_set_ci(&rec)) & QUEUE_INDEX_MASK;
	if (unread && unread <= 1u << cqc_get_log_size(cqc))
		line(s,
		     "cq 0x%x: %u completions that the driver has not taken by its record "
		     "(producer "
		     "index %u, record %u); %s",
		     cqn, unread, cqc_get_producer_index(cqc), cq_dbrec_get_set_ci(&rec),
		     state == CQ_STATE_FIRED ? "the event for them was made"
		     : state == CQ_STATE_ARMED
			     ? "armed: they came before, an event comes with the next"
		     : state == CQ_STATE_ARMED_SOLICITED ? "armed for solicited completions only"
							 : "not armed, so no event tells of them");
}

static void eq_waits(struct stall *s, uint32_t eqn, const struct eqc *eqc)
{
	const uint32_t unread =
		(eqc_get_producer_index(eqc) - eqc_get_consumer_index(eqc)) & QUEUE_INDEX_MASK;
	const unsigned vector = eqc_get_intr(eqc), state = eqc_get_state(eqc);
	bool masked = false, pending = false;

	if (vector < interrupt_vectors(s->hca))
		interrupt_vector_look(s->hca, vector, &masked, &pending);
	if (unread)
		line(s,
		     "eq 0x%x: %u events that the driver has not taken (producer index %u, "
		     "consumer "
		     "index %u); %s%s",
		     eqn, unread, eqc_get_producer_index(eqc), eqc_get_consumer_index(eqc),
		     state == EQ_STATE_ARMED ? "armed"
		     : state == EQ_STATE_FIRED
			     ? "the interrupt was raised, and it is not armed again"
			     : "not armed",
		     masked ? "; its vector is masked" : "");
	if (pending)
		line(s, "vector %u of eq 0x%x: %s, with a pending interrupt", vector, eqn,
		     masked ? "masked" : "held back");
}

/* --- queue pairs --- */

/* The bus address of a byte of a queue's buffer; false: no translation. */
static bool buffer_bus(const struct hca *hca, const struct qpc *qpc, uint64_t offset, uint64_t *bus)
{
	const unsigned log_page = PAGE_BASE_LOG + qpc_get_log_page_size(qpc);
	const uint64_t icm = hca->tables[FW_TABLE_MTT].base + qpc_get_mtt_addr(qpc) +
			     (offset >> log_page) * sizeof(struct mtt_entry);
	struct mtt_entry mtt;
	uint64_t at;

	if (icm_translate(hca, icm, &at) || !read_host(hca, at, mtt.b, sizeof(mtt)) ||
	    !mtt_entry_get_present(&mtt))
		return false;
	*bus = (mtt_entry_get_addr(&mtt) >> log_page << log_page) +
	       (offset & ((UINT64_C(1) << log_page) - 1));
	return true;
}

static void send_queue_waits(struct stall *s, uint32_t qpn, const struct qpc *qpc)
{
	const uint16_t next = (uint16_t)qpc_get_sq_wqe_counter(qpc);
	struct wqe_geometry g;
	struct wqe_ctrl ctrl;
	uint64_t bus;

	wqe_geometry_send(qpc, &g);
	if (!buffer_bus(s->hca, qpc, g.offset + (next & (g.count - 1)) * (uint64_t)g.stride,
			&bus) ||
	    !read_host(s->hca, bus, ctrl.b, sizeof(ctrl)))
		line(s, "qp 0x%x: the send queue's buffer is not mapped at request %u", qpn, next);
	else if (wqe_ctrl_get_owner(&ctrl) == !!(next & g.count) && wqe_ctrl_get_ds(&ctrl) &&
		 wqe_op_find(wqe_ctrl_get_opcode(&ctrl))->name)
		line(s,
		     "qp 0x%x: request %u (%s) is the device's by its owner bit and is not "
		     "started: "
		     "is its doorbell missing?",
		     qpn, next, wqe_op_find(wqe_ctrl_get_opcode(&ctrl))->name);
}

static void receive_queue_waits(struct stall *s, uint32_t qpn, const struct qpc *qpc)
{
	const uint16_t counter = (uint16_t)qpc_get_rq_wqe_counter(qpc);
	struct rq_dbrec rec;

	if (!read_host(s->hca, qpc_get_db_rec_addr(qpc), rec.b, sizeof(rec)))
		line(s, "qp 0x%x: its doorbell record is not mapped", qpn);
	else if ((uint16_t)(rq_dbrec_get_counter(&rec) - counter) == 0)
		line(s, "qp 0x%x: no receive is left by its doorbell record (%u posted, %u taken)",
		     qpn, rq_dbrec_get_counter(&rec), counter);
}

/* Its packets have P_Key 0 or an invalid one, and the other end drops them: IBA 10.9.3. */
static void pkey_waits(struct stall *s, uint32_t qpn, const struct qpc *qpc)
{
	const unsigned index = qp_path_get_pkey_index(qpc_primary_const(qpc));
	const struct port_config *config;
	struct packet_path path;

	if (qpc_get_service(qpc) == QP_ST_MLX) /* each of its requests has an index of its own */
		return;
	qp_packet_path(s->hca, qpc, &path);
	config = link_port_config(s->hca, path.port);
	if (!(config->pkeys[index] & ~(uint32_t)PKEY_FULL_MEMBER))
		line(s,
		     "qp 0x%x: entry %u of port %u's P_Key table, which its context names, is "
		     "not valid",
		     qpn, index, path.port);
}

static void qp_waits(struct stall *s, const struct qpc *qpc)
{
	const uint32_t qpn = qpc_get_local_qpn(qpc);
	const unsigned state = qpc_get_state(qpc);

	if (state != QP_STATE_RTR && state != QP_STATE_RTS && state != QP_STATE_SQD) {
		line(s, "qp 0x%x: in %s", qpn, code_name(&code_table_qp_state, state));
		return;
	}
	pkey_waits(s, qpn, qpc);
	if (state == QP_STATE_RTS)
		send_queue_waits(s, qpn, qpc);
	if (qpc_has_rq(qpc) && !qpc_get_srq(qpc))
		receive_queue_waits(s, qpn, qpc);
}

static void objects_wait(struct stall *s)
{
	union {
		struct qpc qpc;
		struct cqc cqc;
		struct eqc eqc;
	} u;

	for (uint32_t n = 0; icm_object_next(s->hca, FW_TABLE_EQC, &n); n++)
		if (hca_context_read(s->hca, HCA_EQ, n, &u, sizeof(u)) > 0)
			eq_waits(s, n, &u.eqc);
	for (uint32_t n = 0; icm_object_next(s->hca, FW_TABLE_CQC, &n); n++)
		if (hca_context_read(s->hca, HCA_CQ, n, &u, sizeof(u)) > 0)
			cq_waits(s, n, &u.cqc);
	for (uint32_t n = 0; icm_object_next(s->hca, FW_TABLE_QPC, &n); n++)
		if (hca_context_read(s->hca, HCA_QP, n, &u, sizeof(u)) > 0)
			qp_waits(s, &u.qpc);
}

unsigned stall_print(struct hca *hca, const char *before, unsigned room, FILE *out)
{
	struct stall s = {.hca = hca, .before = before, .room = room, .out = out};
	char busy[LINE_CHARS];

	if (!hca->icm) /* another personality */
		return 0;
	if (hca->stopped)
		line(&s, "has stopped with a catastrophic error");
	for (unsigned port = 1; port <= HCA_MAX_PORTS && hca->ports[port - 1]; port++)
		port_waits(&s, port);
	objects_wait(&s);
	hca_busy(hca, busy, sizeof(busy));
	if (busy[0])
		line(&s, "still works on: %s", busy);
	if (s.count > s.room)
		fprintf(out, "%sand %u more\n", before, s.count - s.room);
	return s.count;
}
