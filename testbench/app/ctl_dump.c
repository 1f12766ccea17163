/* SPDX-License-Identifier: Apache-2.0 */
/* See ctl_dump.h. */
#include "testbench/app/ctl_dump.h"

#include "model/engine/base/engine.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"
#include "model/interface/rows.h"
#include "model/sim/cfg.h"
#include "model/sim/file.h"
#include "model/vfio_user/device.h"
#include "testbench/machine/stall.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

enum { PATH_CHARS = 4096, CONTEXT_BYTES = 256, TEXT_CHARS = 8192, RECORD_BYTES = 4 };

/* Where objects are printed: one line each into a file, or all in one line. */
struct place {
	FILE *out;
	const char *before, *after;
	unsigned count;
};

/* Reads the doorbell record at a bus address of the guest. */
static bool record_read(const struct vfu_device *d, uint64_t bus, uint32_t *value)
{
	const struct hca_env *env = &d->hca->env;
	uint8_t b[RECORD_BYTES];

	if (env->dma_read(env->ctx, bus, b, sizeof(b)))
		return false;
	*value = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	return true;
}

/* --- objects that may be stuck --- */

static void qp_waits(const struct vfu_device *d, const struct qpc *qpc, struct place *p)
{
	const uint16_t counter = (uint16_t)qpc_get_rq_wqe_counter(qpc);
	const unsigned taken = qpc_get_rx_has_receive(qpc);
	uint32_t record;
	unsigned posted;

	if (qpc_get_state(qpc) != QP_STATE_ERR || !qpc_has_rq(qpc) ||
	    !record_read(d, qpc_get_db_rec_addr(qpc), &record))
		return;
	posted = (uint16_t)(record - counter);
	if (!posted && !taken)
		return;
	fprintf(p->out,
		"%shca%u qp 0x%x: in ERR with %u receives that are not flushed (%u by the doorbell "
		"record, %u by the device)%s",
		p->before, d->index, qpc_get_local_qpn(qpc), posted + taken, (uint16_t)record,
		(uint16_t)(counter - taken), p->after);
	p->count++;
}

static void cq_waits(const struct vfu_device *d, uint32_t cqn, const struct cqc *cqc,
		     struct place *p)
{
	uint32_t record, unread;

	if (cqc_get_state(cqc) != CQ_STATE_ARMED ||
	    !record_read(d, cqc_get_db_rec_addr(cqc), &record))
		return;
	unread = (cqc_get_producer_index(cqc) - record) & QUEUE_INDEX_MASK;
	if (!unread || unread > 1u << cqc_get_log_size(cqc))
		return;
	fprintf(p->out,
		"%shca%u cq 0x%x: armed, with %u completions that the driver has not read%s",
		p->before, d->index, cqn, unread, p->after);
	p->count++;
}

static void eq_waits(const struct vfu_device *d, uint32_t eqn, const struct eqc *eqc,
		     struct place *p)
{
	const uint32_t unread =
		(eqc_get_producer_index(eqc) - eqc_get_consumer_index(eqc)) & QUEUE_INDEX_MASK;

	if (!unread)
		return;
	fprintf(p->out, "%shca%u eq 0x%x: %u events that the driver has not taken (vector %u)%s",
		p->before, d->index, eqn, unread, eqc_get_intr(eqc), p->after);
	p->count++;
}

static void waits(const struct ctl_target *t, struct place *p)
{
	for (unsigned i = 0; i < t->device_count; i++) {
		const struct vfu_device *d = &t->devices[i];
		const struct hca_params *params = d->hca->params;
		struct qpc qpc;
		struct cqc cqc;
		struct eqc eqc;

		for (uint32_t n = 0; n < 1u << params->hca_log_max_qp; n++)
			if (hca_context_read(d->hca, HCA_QP, n, &qpc, sizeof(qpc)) > 0)
				qp_waits(d, &qpc, p);
		for (uint32_t n = 0; n < 1u << params->hca_log_max_cq; n++)
			if (hca_context_read(d->hca, HCA_CQ, n, &cqc, sizeof(cqc)) > 0)
				cq_waits(d, n, &cqc, p);
		for (uint32_t n = 0; n < 1u << params->hca_log_max_eq; n++)
			if (hca_context_read(d->hca, HCA_EQ, n, &eqc, sizeof(eqc)) > 0)
				eq_waits(d, n, &eqc, p);
	}
}

void ctl_stuck(const struct ctl_target *t, FILE *out)
{
	struct place p = {.out = out, .before = "; ", .after = ""};

	fprintf(out, "ok");
	waits(t, &p);
	if (!p.count)
		fprintf(out, " nothing waits");
}

/* --- every context --- */

static unsigned dump_objects(const struct vfu_device *d, enum hca_object type, const char *name,
			     const struct layout *layout, uint32_t n, FILE *out)
{
	uint8_t bytes[CONTEXT_BYTES];
	char text[TEXT_CHARS];
	unsigned count = 0;

	for (uint32_t number = 0; number < n; number++) {
		if (hca_context_read(d->hca, type, number, bytes, sizeof(bytes)) <= 0)
			continue;
		layout_format(layout, bytes, text, sizeof(text));
		fprintf(out, "hca%u %s 0x%x: %s\n", d->index, name, number, text);
		count++;
	}
	return count;
}

static unsigned dump_device(const struct vfu_device *d, FILE *out)
{
	const struct hca_params *p = d->hca->params;

	return dump_objects(d, HCA_QP, "qpc", &layout_qpc, 1u << p->hca_log_max_qp, out) +
	       dump_objects(d, HCA_CQ, "cqc", &layout_cqc, 1u << p->hca_log_max_cq, out) +
	       dump_objects(d, HCA_EQ, "eqc", &layout_eqc, 1u << p->hca_log_max_eq, out) +
	       dump_objects(d, HCA_SRQ, "srqc", &layout_srqc, 1u << p->hca_log_max_srq, out) +
	       dump_objects(d, HCA_MPT, "mpt", &layout_mpt_entry, 1u << p->hca_log_max_mpt, out);
}

void ctl_dump(const struct ctl_target *t, FILE *out)
{
	char path[PATH_CHARS];
	struct place p = {.before = "", .after = "\n"};
	unsigned count = 0;
	struct file_out f;
	int rc;

	snprintf(path, sizeof(path), "%s/contexts.txt", t->dir);
	rc = file_create(&f, path, NULL);
	if (rc) {
		fprintf(out, "error: %s: %s", path, strerror(-rc));
		return;
	}
	p.out = f.out;
	fprintf(p.out, "contexts at %.6f us\n", (double)t->core->now_ps / 1e6);
	waits(t, &p);
	for (unsigned i = 0; i < t->device_count; i++)
		stall_print(t->devices[i].hca, "", UINT_MAX, p.out);
	for (unsigned i = 0; i < t->device_count; i++)
		count += dump_device(&t->devices[i], p.out);
	rc = file_finish(&f, 0, NULL);
	if (rc)
		fprintf(out, "error: %s: %s", path, strerror(-rc));
	else
		fprintf(out, "ok %u contexts in %s", count, path);
}
