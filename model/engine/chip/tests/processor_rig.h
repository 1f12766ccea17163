/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A processor with small firmware that is assembled here. The stages that it commands are fakes,
 * which note in `seen` what they were told. Include it in only one file of a test: it defines those
 * stages' functions.
 */
#ifndef MODEL_ENGINE_TESTS_PROCESSOR_RIG_H
#define MODEL_ENGINE_TESTS_PROCESSOR_RIG_H

#include "model/engine/tests/rig.h"

#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/chip/doorbell.h"
#include "model/engine/chip/pci_function.h"
#include "model/engine/wire/port_note.h"
#include "model/engine/chip/processor_impl.h"
#include "model/engine/qp/qp.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/receive/srq.h"
#include "model/engine/chip/tests/rv_asm.h"
#include "model/interface/queues.h"

#include <stdio.h>
#include <unistd.h>

static struct hca *const hca = &rig.hca;

static struct {
	uint32_t hcr[7];
	unsigned done, catas, stops, quiesced, resumed, invalidated, unrung, purged, drained,
		resized, limits, forgotten, mapped, posted, port_commands;
	uint64_t out_param, done_at_ps;
	uint8_t status;
	enum err_buf_cause code;
	char catas_text[256];
	struct eqe eqe;
	void (*late)(void *arg, int status); /* done() of a quiesce that has not ended */
	void *late_arg;
	bool hold_back;
	struct port_config port;
	struct packet packet; /* the MAD that the port sends to itself */
	unsigned sent;
} seen;

void hcr_latched(const struct hca *h, uint32_t hcr[7])
{
	memcpy(hcr, seen.hcr, sizeof(seen.hcr));
}

void hcr_done(struct hca *h, uint64_t out_param, uint8_t status)
{
	seen.done++;
	seen.out_param = out_param;
	seen.status = status;
	seen.done_at_ps = rig.core.now_ps;
}

static void note_stop(struct hca *h)
{
	seen.stops++;
}

static void note_catastrophe(struct hca *h, void (*told)(void *h), enum err_buf_cause catas,
			     uint32_t detail, const char *text)
{
	seen.catas++;
	seen.code = catas;
	snprintf(seen.catas_text, sizeof(seen.catas_text), "%s", text);
	processor_halt(h);
}

static const struct hca_calls note_calls = {.stop = note_stop, .catastrophe = note_catastrophe};

void qp_quiesce(struct hca *h, uint32_t qpn, void (*done)(void *arg, int status), void *arg)
{
	seen.quiesced = qpn;
	seen.late = done;
	seen.late_arg = arg;
	if (!seen.hold_back)
		done(arg, 0);
}

void qp_resume(struct hca *h, uint32_t qpn)
{
	seen.resumed = qpn;
}

void scheduler_queue_new(struct hca *h, uint32_t qpn)
{
}

void doorbell_qp_gone(struct hca *h, uint32_t qpn)
{
	seen.unrung = qpn;
}

void qp_invalidate(struct hca *h, uint32_t qpn, void (*done)(void *arg, int status), void *arg)
{
	seen.invalidated = qpn;
	done(arg, 0);
}

void cqe_write_purge_qp(struct hca *h, uint32_t qpn)
{
	seen.purged = qpn;
}

void cqe_write_drain(struct hca *h, uint32_t cqn, void (*idle)(void *arg), void *arg)
{
	seen.drained = cqn;
	idle(arg);
}

void cqe_write_resize(struct hca *h, uint32_t cqn, void (*idle)(void *arg), void *arg)
{
	seen.resized = cqn;
	idle(arg);
}

void srq_limit_changed(struct hca *h, uint32_t srqn)
{
	seen.limits = srqn;
}

void event_queue_forget(struct hca *h, uint32_t eqn)
{
	seen.forgotten = eqn;
}

void event_queue_map(struct hca *h, uint8_t type, uint32_t eqn, bool valid)
{
	seen.mapped = type | eqn << 8 | (unsigned)valid << 31;
}

void event_queue_post(struct hca *h, const struct eqe *eqe, void (*done)(void *arg), void *arg)
{
	seen.posted++;
	seen.eqe = *eqe;
	done(arg);
}

struct packet *packet_alloc(struct hca *h)
{
	return &seen.packet;
}

uint64_t link_port_send(struct hca *h, struct packet *pkt)
{
	seen.sent++;
	return hca_now(h);
}

void link_port_command(struct hca *h, unsigned port, uint32_t command)
{
	seen.port_commands = seen.port_commands << 4 | command;
}

void link_port_logical_changed(struct hca *h, unsigned port)
{
}

uint32_t link_port_types(struct hca *h, unsigned port)
{
	return FW_TYPE_IB;
}

uint32_t link_port_peer_type(struct hca *h, unsigned port)
{
	return FW_TYPE_IB;
}

uint32_t link_port_width(struct hca *h, unsigned port)
{
	return 0x0302;
}

uint32_t link_port_speed(struct hca *h, unsigned port)
{
	return 0x1714;
}

static uint32_t result(unsigned n)
{
	uint32_t v;

	memcpy(&v, processor_memory(hca, RESULTS + 4 * n, 4), 4);
	return v;
}

static void boot(void)
{
	char err[256] = "", path[ELF_PATH_SIZE];

	elf_make(path);
	hca->processor = processor_create(hca, path, err, sizeof(err));
	unlink(path);
	assert_string_equal(err, "");
	assert_non_null(hca->processor);
	processor_reset(hca);
}

static int start(void **state)
{
	rig_params();
	rig.params.fw_reset_time = 0;
	rig_start();
	hca->calls = &note_calls;
	hca->port_configs[0] = hca->port_configs[1] = &seen.port;
	memset(&seen, 0, sizeof(seen));
	assemble();
	return 0;
}

static int finish(void **state)
{
	processor_destroy(hca->processor);
	rig_stop();
	return 0;
}

#endif
