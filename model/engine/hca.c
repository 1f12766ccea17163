/* SPDX-License-Identifier: Apache-2.0 */
/* One HCA: made with its personality, reset, looked at. See hca.h, engine.h and personality.h. */
#include "model/engine/base/engine.h"
#include "model/engine/host/interrupt.h"
#include "model/engine/host/pci_config.h"
#include "model/engine/host/pcie.h"
#include "model/engine/memory/icm.h"
#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/interface/macros.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/host_pcie.h"
#include "model/sim/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct personality *const personalities[CFG_PERSONALITY_COUNT] = {
	[CFG_PERSONALITY_mlx4] = &personality_mlx4,
	[CFG_PERSONALITY_ipath] = &personality_ipath,
	[CFG_PERSONALITY_outside] = &personality_outside,
};

/* --- made, reset, destroyed --- */

static unsigned ports_of(const struct hca *hca)
{
	return (unsigned)param_hca_ports(hca->params);
}

static void ports_create(struct hca *hca)
{
	const struct personality *p = hca->personality;

	for (unsigned port = 1; port <= ports_of(hca); port++) {
		hca->ports[port - 1] = link_port_create(hca, port);
		link_port_limit(hca, port, p->max_lane_mbps, p->max_width);
	}
}

static struct pcie_root root_of(const struct host_params *host)
{
	return (struct pcie_root){
		.posted_headers = host_param_pcie_posted_headers(host),
		.posted_data = host_param_pcie_posted_data(host),
		.nonposted_headers = host_param_pcie_nonposted_headers(host),
		.credit_ps = host_param_pcie_credit_latency(host),
		.latency_ps = host_param_pcie_latency(host),
		.read_latency_ps = host_param_pcie_read_latency(host),
		.write_latency_ps = host_param_pcie_write_latency(host),
		.read_jitter_ps = host_param_pcie_read_jitter(host),
		.write_jitter_ps = host_param_pcie_write_jitter(host),
		.interrupt_jitter_ps = host_param_pcie_interrupt_jitter(host),
	};
}

static int ports_check(const struct hca *hca, char *err, size_t err_size)
{
	const unsigned max = hca->personality->max_ports;

	if (!max || ports_of(hca) <= max)
		return 0;
	snprintf(err, err_size, "hca%u.ports is %u, but a device with hca%u.personality=%s has %u",
		 hca->index, ports_of(hca), hca->index, hca->personality->name, max);
	return -EINVAL;
}

/* What every device has, and the device. */
static void shared_destroy(struct hca *hca)
{
	for (unsigned port = 1; port <= ports_of(hca); port++)
		link_port_destroy(hca->ports[port - 1]);
	packet_pool_destroy(hca->packets);
	interrupt_destroy(hca->interrupt);
	pci_config_destroy(hca->config);
	pcie_destroy(hca->pcie);
	memory_free(hca);
	trace_unwatch(hca->trace, &hca->watch);
	free(hca);
}

struct hca *hca_create(unsigned index, const struct hca_params *params,
		       const struct host_params *host, struct event_core *core,
		       const struct hca_env *env, struct trace *trace, const char *fw_path,
		       char *err, size_t err_size)
{
	struct hca *hca = memory_create(1, sizeof(*hca), "a device");
	const struct pcie_root root = root_of(host);

	hca->index = index;
	hca->params = params;
	hca->core = core;
	hca->personality = personalities[param_hca_personality(params)];
	hca->calls = &hca->personality->calls;
	hca->env = *env;
	hca->trace = trace;
	trace_watch(trace, &hca->watch);
	memory_init(hca);
	hca->pcie = pcie_create(hca);
	pcie_root_set(hca, &root);
	hca->config = pci_config_create(hca->personality->pci(params));
	hca->interrupt = interrupt_create(hca);
	hca->packets = packet_pool_create(hca);
	ports_create(hca);
	if (ports_check(hca, err, err_size) ||
	    hca->personality->create(hca, fw_path, err, err_size)) {
		shared_destroy(hca);
		return NULL;
	}
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
	hca->calls->soft_reset(hca);
	hca->personality->destroy(hca);
	shared_destroy(hca);
}

void hca_pci_reset(struct hca *hca)
{
	hca->calls->soft_reset(hca);
	pci_config_reset(hca);
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

static const struct {
	const char *counter, *meaning;
} eth_rows[FW_EC_COUNT] = {
#define E(NAME, field, meaning) [FW_EC_##NAME] = {#field, meaning},
	FW_ETH_COUNTERS(E)
#undef E
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
	for (unsigned port = 1; port <= ports_of(hca); port++) {
		const struct port_config *c = link_port_config((struct hca *)hca, port);

		for (unsigned i = 0; i < FW_PC_COUNT; i++, n++)
			if (n < room)
				values[n] =
					(struct stat_value){ports[port - 1], port_rows[i].counter,
							    port_rows[i].meaning, c->counters[i]};
		for (unsigned i = 0; c->eth && i < FW_EC_COUNT; i++, n++)
			if (n < room)
				values[n] = (struct stat_value){
					ports[port - 1], eth_rows[i].counter, eth_rows[i].meaning,
					c->eth->counters[i]};
	}
	return n;
}

static bool ports_quiet(const struct hca *hca)
{
	for (unsigned port = 1; port <= ports_of(hca); port++)
		if (!link_port_is_quiet((struct hca *)hca, port))
			return false;
	return true;
}

bool hca_is_quiet(const struct hca *hca)
{
	return !pcie_pending(hca) && !packet_pool_in_use(hca) && ports_quiet(hca) &&
	       hca->personality->is_quiet(hca);
}

void hca_busy(const struct hca *hca, char *text, size_t size)
{
	const unsigned dmas = pcie_pending(hca);
	const size_t packets = packet_pool_in_use(hca);
	size_t n;

	hca->personality->describe(hca, text, size);
	n = strlen(text);
#define SAY(...) n += (size_t)snprintf(text + n, n < size ? size - n : 0, __VA_ARGS__)
	if (dmas)
		SAY("%s%u dma", n ? ", " : "", dmas);
	if (packets)
		SAY("%s%zu packets", n ? ", " : "", packets);
	if (!ports_quiet(hca))
		SAY("%sa port", n ? ", " : "");
#undef SAY
}

size_t hca_footprint(const struct hca *hca)
{
	return sizeof(*hca) + packet_pool_footprint(hca) + hca->personality->footprint(hca);
}

uint64_t hca_bar_bytes(const struct hca *hca, unsigned bar)
{
	return bar < PCI_BARS ? hca->personality->pci(hca->params)->bar_bytes[bar] : 0;
}

bool hca_bars_little_endian(const struct hca *hca)
{
	return hca->personality->pci(hca->params)->little_endian;
}

const char *hca_personality(const struct hca *hca)
{
	return hca->personality->name;
}

uint32_t hca_pci_id(const struct hca *hca)
{
	const struct pci_identity *pci = hca->personality->pci(hca->params);

	return (uint32_t)pci->device << 16 | pci->vendor;
}

/* --- what not every device has --- */

int hca_context_read(struct hca *hca, enum hca_object type, uint32_t number, void *buf, size_t size)
{
	return hca->personality->context_read
		       ? hca->personality->context_read(hca, type, number, buf, size)
		       : 0;
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
	if (hca->personality->evict)
		hca->personality->evict(hca, type, number);
}

int hca_command_fail(struct hca *hca, const struct hca_command_fault *fault)
{
	if (!hca->personality->command_fail)
		return -EOPNOTSUPP;
	hca->personality->command_fail(hca, fault);
	return 0;
}

void hca_jitter(struct hca *hca, uint64_t seed)
{
	pcie_jitter(hca, seed);
	if (hca->personality->jitter)
		hca->personality->jitter(hca, seed);
}

uint32_t hca_command_fail_left(const struct hca *hca)
{
	return hca->personality->command_fail_left ? hca->personality->command_fail_left(hca) : 0;
}
