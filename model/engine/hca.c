/* SPDX-License-Identifier: Apache-2.0 */
/* One HCA: create, reset, stop and inspect it. See hca.h and engine.h. */
#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/cqe_write.h"
#include "model/engine/chip/doorbell.h"
#include "model/engine/base/engine.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/host/interrupt.h"
#include "model/engine/wire/gather.h"
#include "model/engine/wire/link_port.h"
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
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/host_pcie.h"

#include <stdio.h>
#include <stdlib.h>
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
	pci_function_reset(hca, false);
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

static const struct hca_calls calls = {
	.give_back = give_back,
	.bar_write = pci_function_write,
	.bar_read = pci_function_read,
	.receive_stalls = receive_unit_stall,
	.receive_goes_on = receive_unit_go_on,
	.completion_lost = qp_completion_lost,
	.packet_arrived = receive_unit_take,
	.port_changed = port_changed,
	.catastrophe = catastrophe,
	.stop = stop,
	.soft_reset = soft_reset,
};

/* --- made, reset, destroyed --- */

static void ports_create(struct hca *hca)
{
	for (unsigned port = 1; port <= param_hca_ports(hca->params); port++)
		hca->ports[port - 1] = link_port_create(hca, port);
}

struct hca *hca_create(unsigned index, const struct hca_params *params,
		       const struct host_params *host, struct event_core *core,
		       const struct hca_env *env, struct trace *trace, const char *fw_path,
		       char *err, size_t err_size)
{
	struct hca *hca = memory_create(1, sizeof(*hca), "a device");

	hca->index = index;
	hca->params = params;
	hca->core = core;
	hca->calls = &calls;
	hca->env = *env;
	hca->trace = trace;
	trace_watch(trace, &hca->watch);
	/* The only part whose creation can fail. */
	hca->processor = processor_create(hca, fw_path, err, err_size);
	if (!hca->processor) {
		trace_unwatch(trace, &hca->watch);
		free(hca);
		return NULL;
	}
	memory_init(hca);
	hca->icm = icm_create(hca);
	hca->pcie = pcie_create(hca);
	pcie_root_set(hca, &(struct pcie_root){
				   .posted_headers = host_param_pcie_posted_headers(host),
				   .posted_data = host_param_pcie_posted_data(host),
				   .nonposted_headers = host_param_pcie_nonposted_headers(host),
				   .credit_ps = host_param_pcie_credit_latency(host),
				   .latency_ps = host_param_pcie_latency(host),
				   .read_latency_ps = host_param_pcie_read_latency(host),
				   .write_latency_ps = host_param_pcie_write_latency(host)});
	hca->pci = pci_function_create(hca);
	hca->interrupt = interrupt_create(hca);
	hca->doorbell = doorbell_create(hca);
	hca->context_cache = context_cache_create(hca);
	hca->translate = translate_create(hca);
	hca->event_queue = event_queue_create(hca);
	hca->cqe_write = cqe_write_create(hca);
	hca->packets = packet_pool_create(hca);
	hca->multicast = multicast_create(hca);
	hca->receive_unit = receive_unit_create(hca);
	hca->responder = responder_create(hca);
	hca->scheduler = scheduler_create(hca);
	hca->wqe_fetch = wqe_fetch_create(hca);
	hca->retry = retry_create(hca);
	hca->qps = qp_table_create(&requester_half, &responder_half);
	ports_create(hca);
	hca_pci_reset(hca);
	return hca;
}

void hca_destroy(struct hca *hca)
{
	if (!hca)
		return;
	/* Trace records of future times point to packets. */
	if (hca->trace)
		trace_release(hca->trace, EVENT_NEVER);
	/* Work under way holds events and packets. */
	soft_reset(hca);
	processor_destroy(hca->processor);
	for (unsigned port = 1; port <= param_hca_ports(hca->params); port++)
		link_port_destroy(hca->ports[port - 1]);
	qp_table_destroy(hca->qps);
	retry_destroy(hca->retry);
	wqe_fetch_destroy(hca->wqe_fetch);
	scheduler_destroy(hca->scheduler);
	responder_destroy(hca->responder);
	receive_unit_destroy(hca->receive_unit);
	multicast_destroy(hca->multicast);
	packet_pool_destroy(hca->packets);
	cqe_write_destroy(hca->cqe_write);
	event_queue_destroy(hca->event_queue);
	translate_destroy(hca->translate);
	context_cache_destroy(hca->context_cache);
	doorbell_destroy(hca->doorbell);
	interrupt_destroy(hca->interrupt);
	pci_function_destroy(hca->pci);
	pcie_destroy(hca->pcie);
	icm_destroy(hca->icm);
	memory_free(hca);
	trace_unwatch(hca->trace, &hca->watch);
	free(hca);
}

void hca_pci_reset(struct hca *hca)
{
	soft_reset(hca);
	pci_function_reset(hca, true);
}

/* --- inspecting it --- */

static const struct {
	const char *stage, *counter, *meaning;
	size_t offset;
} stat_rows[] = {
#define S(stage, counter, meaning)                                                                 \
	{#stage, #counter, meaning, offsetof(struct hca_stats, stage##_##counter)},
	HCA_STATS(S)
#undef S
};

static const struct {
	const char *counter, *meaning;
} port_rows[FW_PC_COUNT] = {
#define P(NAME, field, meaning) [FW_PC_##NAME] = {#field, meaning},
	FW_PORT_COUNTERS(P)
#undef P
};

size_t hca_stats(const struct hca *hca, struct stat_value *values, size_t room)
{
	static const char *const ports[HCA_MAX_PORTS] = {"port1", "port2"};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(stat_rows); i++, n++) {
		if (n >= room)
			continue;
		values[n] = (struct stat_value){.stage = stat_rows[i].stage,
						.counter = stat_rows[i].counter,
						.meaning = stat_rows[i].meaning};
		memcpy(&values[n].value, (const char *)&hca->stats + stat_rows[i].offset,
		       sizeof(values[n].value));
	}
	for (unsigned port = 1; port <= param_hca_ports(hca->params); port++) {
		const struct port_config *c = link_port_config((struct hca *)hca, port);

		for (unsigned i = 0; i < FW_PC_COUNT; i++, n++)
			if (n < room)
				values[n] =
					(struct stat_value){ports[port - 1], port_rows[i].counter,
							    port_rows[i].meaning, c->counters[i]};
	}
	return n;
}

static bool ports_quiet(const struct hca *hca)
{
	for (unsigned port = 1; port <= param_hca_ports(hca->params); port++)
		if (!link_port_is_quiet((struct hca *)hca, port))
			return false;
	return true;
}

/* Number of QPs that have work under way. */
static unsigned qps_busy(const struct hca *hca)
{
	return qp_table_active(hca) - responder_looking(hca);
}

bool hca_is_quiet(const struct hca *hca)
{
	return !pcie_pending(hca) && processor_is_quiet(hca) && !packet_pool_in_use(hca) &&
	       !qps_busy(hca) && !responder_limit_checks(hca) && ports_quiet(hca);
}

void hca_busy(const struct hca *hca, char *text, size_t size)
{
	const unsigned qps = qps_busy(hca), dmas = pcie_pending(hca);
	const unsigned checks = responder_limit_checks(hca);
	const size_t packets = packet_pool_in_use(hca);
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
	if (dmas)
		SAY("%s%u dma", n ? ", " : "", dmas);
	if (packets)
		SAY("%s%zu packets", n ? ", " : "", packets);
	if (checks)
		SAY("%s%u limits of srqs", n ? ", " : "", checks);
	if (!processor_is_quiet(hca))
		SAY("%sfirmware", n ? ", " : "");
	if (!ports_quiet(hca))
		SAY("%sa port", n ? ", " : "");
#undef SAY
}

size_t hca_footprint(const struct hca *hca)
{
	return sizeof(*hca) + processor_footprint(hca) + icm_footprint(hca) +
	       context_cache_footprint(hca) + translate_footprint(hca) +
	       packet_pool_footprint(hca) + qp_table_footprint(hca) + wqe_fetch_footprint(hca) +
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

int hca_context_read(struct hca *hca, enum hca_object type, uint32_t number, void *buf, size_t size)
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

void hca_monitor_set(struct hca *hca, const struct hca_monitor *monitor)
{
	hca->monitor = monitor;
}

int hca_icm_bus(const struct hca *hca, uint64_t va, uint64_t *bus)
{
	return icm_translate(hca, va, bus);
}

bool hca_icm_find(const struct hca *hca, uint64_t va, unsigned *table, uint64_t *index)
{
	for (unsigned i = 0; i < FW_TABLE_COUNT; i++) {
		const struct icm_table *t = &hca->tables[i];
		unsigned log = t->log_num;

		if (i == FW_TABLE_RDMARC)
			log += hca->tables[FW_TABLE_QPC].log_num;
		if (!t->entry_size || va - t->base >= (uint64_t)t->entry_size << log)
			continue;
		*table = i;
		*index = (va - t->base) / t->entry_size;
		return true;
	}
	return false;
}

uint64_t hca_icm_address(const struct hca *hca, unsigned table, uint64_t index)
{
	return icm_entry(hca, table, (uint32_t)index);
}

bool hca_object_valid(const struct hca *hca, enum hca_object type, uint32_t number)
{
	return icm_object_valid(hca, type, number);
}

bool hca_is_stopped(const struct hca *hca)
{
	return hca->stopped;
}

void hca_evict(struct hca *hca, enum hca_object type, uint32_t number)
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
