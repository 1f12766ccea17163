/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The personality that is compatible with mlx4: transport in hardware, contexts in ICM, commands
 * that firmware carries out. It puts the stages of the rooms together.
 */
#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/cqe_write.h"
#include "model/engine/chip/doorbell.h"
#include "model/engine/base/engine.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/wire/gather.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/receive/frame_receive.h"
#include "model/engine/receive/multicast.h"
#include "model/engine/wire/packet.h"
#include "model/engine/chip/pci_function.h"
#include "model/engine/host/pcie.h"
#include "model/engine/chip/processor.h"
#include "model/engine/qp/qp.h"
#include "model/engine/receive/receive_unit.h"
#include "model/engine/receive/responder.h"
#include "model/engine/send/requester.h"
#include "model/engine/send/retry.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/engine/fetch/wqe_fetch.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"
#include "model/sim/params/hca.h"

#include <stdio.h>
#include <string.h>

/* --- what rooms below call: calls.h --- */

static void stop(struct hca *hca)
{
	hca->ctrl = 0;
	/* First the DMAs, so that no DMA completes for something that is forgotten below. Then the
	 * queues of waiters, before the objects that wait in them. */
	pcie_reset(hca);
	context_cache_reset(hca);
	translate_reset(hca);
	processor_abort_helpers(hca);
	doorbell_reset(hca);
	scheduler_reset(hca);
	retry_reset(hca);
	wqe_fetch_reset(hca);
	qp_table_reset(hca);
	receive_unit_reset(hca);
	responder_reset(hca);
	gather_reset(hca);
	multicast_reset(hca);
	cqe_write_reset(hca);
	event_queue_reset(hca);
	icm_objects_clear(hca);
	hca->special_qp = 0;
}

/* Gives back memory that is kept for later use. */
static void trim(struct hca *hca)
{
	cqe_write_trim(hca);
	event_queue_trim(hca);
	qp_table_trim(hca);
	packet_pool_trim(hca);
	responder_trim(hca);
}

static void give_back(struct hca *hca)
{
	stop(hca);
	icm_reset(hca);
	trim(hca);
}

static void soft_reset(struct hca *hca)
{
	stop(hca);
	icm_reset(hca);
	if (hca->memory.what)
		trim(hca);
	memory_reset(hca);
	hca->log_uar = hca->log_mcg_hash = 0;
	hca->stopped = false;
	for (unsigned port = 1; port <= param_hca_ports(hca->params); port++)
		link_port_reset(hca, port);
	pci_function_reset(hca);
	processor_reset(hca);
}

static void catastrophe(struct hca *hca, void (*told)(void *hca), enum err_buf_cause code,
			uint32_t detail, const char *text)
{
	struct eqe eqe = {{0}};

	error_buffer_set(hca, code, detail);
	processor_halt(hca);
	eqe_set_type(&eqe, EVENT_LOCAL_CATAS_ERROR);
	event_queue_post(hca, &eqe, told, hca);
	/* DMAs under way are still completed; nothing new is started. */
	hca->ctrl = 0;
	scheduler_reset(hca);
	retry_reset(hca);
	if (hca->env.catastrophe)
		hca->env.catastrophe(hca->env.ctx, text);
}

static void port_changed(struct hca *hca, unsigned port)
{
	processor_raise(hca, FW_IRQ_PORT1 << (port - 1));
}

/* --- made, destroyed --- */

static int create(struct hca *hca, const char *fw_path, char *err, size_t err_size)
{
	/* The only part whose creation can fail. */
	hca->processor = processor_create(hca, fw_path, err, err_size);
	if (!hca->processor)
		return -EINVAL;
	hca->icm = icm_create(hca);
	hca->pci = pci_function_create(hca);
	hca->doorbell = doorbell_create(hca);
	hca->context_cache = context_cache_create(hca);
	hca->translate = translate_create(hca);
	hca->event_queue = event_queue_create(hca);
	hca->cqe_write = cqe_write_create(hca);
	hca->multicast = multicast_create(hca);
	hca->receive_unit = receive_unit_create(hca);
	hca->responder = responder_create(hca);
	hca->scheduler = scheduler_create(hca);
	hca->wqe_fetch = wqe_fetch_create(hca);
	hca->retry = retry_create(hca);
	hca->qps = qp_table_create(&requester_half, &responder_half);
	return 0;
}

static void destroy(struct hca *hca)
{
	processor_destroy(hca->processor);
	qp_table_destroy(hca->qps);
	retry_destroy(hca->retry);
	wqe_fetch_destroy(hca->wqe_fetch);
	scheduler_destroy(hca->scheduler);
	responder_destroy(hca->responder);
	receive_unit_destroy(hca->receive_unit);
	multicast_destroy(hca->multicast);
	cqe_write_destroy(hca->cqe_write);
	event_queue_destroy(hca->event_queue);
	translate_destroy(hca->translate);
	context_cache_destroy(hca->context_cache);
	doorbell_destroy(hca->doorbell);
	pci_function_destroy(hca->pci);
	icm_destroy(hca->icm);
}

/* --- inspecting it --- */

/* Number of QPs that have work under way. */
static unsigned qps_busy(const struct hca *hca)
{
	return qp_table_active(hca) - responder_looking(hca);
}

static bool is_quiet(const struct hca *hca)
{
	return processor_is_quiet(hca) && !qps_busy(hca) && !responder_limit_checks(hca);
}

static void describe(const struct hca *hca, char *text, size_t size)
{
	const unsigned qps = qps_busy(hca), checks = responder_limit_checks(hca);
	const uint32_t qpn = qp_table_first_busy(hca);
	const struct qp *qp = qp_find((struct hca *)hca, qpn);
	char queue[160] = "";
	size_t n = 0;

	text[0] = 0;
	if (qp)
		requester_describe(qp, queue, sizeof(queue));
#define SAY(...) n += (size_t)snprintf(text + n, n < size ? size - n : 0, __VA_ARGS__)
	if (qps)
		SAY("qpn 0x%x (%s)", qpn, queue);
	if (qps > 1)
		SAY(" (and %u further queue pairs)", qps - 1);
	if (checks)
		SAY("%s%u limits of srqs", n ? ", " : "", checks);
	if (!processor_is_quiet(hca))
		SAY("%sfirmware", n ? ", " : "");
#undef SAY
}

static size_t footprint(const struct hca *hca)
{
	return processor_footprint(hca) + icm_footprint(hca) + context_cache_footprint(hca) +
	       translate_footprint(hca) + qp_table_footprint(hca) + wqe_fetch_footprint(hca) +
	       retry_footprint(hca) + responder_footprint(hca);
}

static const void *object_cached(struct hca *hca, enum hca_object type, uint32_t number)
{
	switch (type) {
	case HCA_QP:
		return context_peek(hca, CONTEXT_REQUESTER, number);
	case HCA_CQ:
		return context_peek(hca, CONTEXT_CQ, number);
	case HCA_EQ:
		return context_peek(hca, CONTEXT_EQ, number);
	case HCA_SRQ:
		return context_peek(hca, CONTEXT_SRQ, number);
	default:
		return NULL; /* an MPT is written through when it changes */
	}
}

static int context_read(struct hca *hca, enum hca_object type, uint32_t number, void *buf,
			size_t size)
{
	static const struct {
		uint8_t table;
		uint16_t size;
	} objects[] = {
		[HCA_QP] = {FW_TABLE_QPC, sizeof(struct qpc)},
		[HCA_CQ] = {FW_TABLE_CQC, sizeof(struct cqc)},
		[HCA_EQ] = {FW_TABLE_EQC, sizeof(struct eqc)},
		[HCA_SRQ] = {FW_TABLE_SRQC, sizeof(struct srqc)},
		[HCA_MPT] = {FW_TABLE_MPT, sizeof(struct mpt_entry)},
	};
	uint8_t bytes[sizeof(struct qpc)];
	const void *cached;
	struct dma_frag frags[ICM_MAX_FRAGS];
	size_t len = objects[type].size, at = 0;
	int n;

	if (!icm_object_valid(hca, objects[type].table, number))
		return 0;
	cached = object_cached(hca, type, number);
	n = cached ? 0
		   : icm_fragments(hca, icm_entry(hca, objects[type].table, number), (uint32_t)len,
				   frags, ICM_MAX_FRAGS);
	if (n < 0)
		return -EFAULT;
	for (int i = 0; i < n; at += frags[i++].len)
		if (hca->env.dma_read(hca->env.ctx, frags[i].bus, bytes + at, frags[i].len))
			return -EFAULT;
	memcpy(buf, cached ? cached : bytes, size < len ? size : len);
	return (int)len;
}

static void evict(struct hca *hca, enum hca_object type, uint32_t number)
{
	static const enum context_use uses[] = {
		[HCA_QP] = CONTEXT_REQUESTER,
		[HCA_CQ] = CONTEXT_CQ,
		[HCA_EQ] = CONTEXT_EQ,
		[HCA_SRQ] = CONTEXT_SRQ,
	};

	if (type == HCA_MPT) {
		translate_drop_key(hca, number);
		return;
	}
	context_evict(hca, uses[type], number);
	if (type == HCA_QP)
		context_evict(hca, CONTEXT_RESPONDER, number);
}

const struct personality personality_mlx4 = {
	.name = "mlx4",
	.calls = {.give_back = give_back,
		  .bar_write = pci_function_write,
		  .bar_read = pci_function_read,
		  .receive_stalls = receive_unit_stall,
		  .receive_goes_on = receive_unit_go_on,
		  .completion_lost = qp_completion_lost,
		  .packet_came = packet_receive,
		  .frame_came = frame_receive,
		  .packet_arrived = receive_unit_take,
		  .port_changed = port_changed,
		  .catastrophe = catastrophe,
		  .stop = stop,
		  .soft_reset = soft_reset},
	.pci = pci_function_identity,
	.create = create,
	.destroy = destroy,
	.is_quiet = is_quiet,
	.describe = describe,
	.footprint = footprint,
	.context_read = context_read,
	.evict = evict,
	.command_fail = pci_function_command_fail,
	.command_fail_left = pci_function_command_fail_left,
	.jitter = processor_jitter,
};
