/* SPDX-License-Identifier: Apache-2.0 */
/* See dump.h. */
#include "testbench/app/dump.h"
#include "model/sim/cfg.h"

#include <inttypes.h>
#include <stdio.h>

enum { CONTEXT_BYTES = 256, TEXT_CHARS = 4096 };

static void dump_object(struct hca *hca, unsigned host, enum hca_object type, const char *name,
			const struct layout *layout, uint32_t n)
{
	uint8_t bytes[CONTEXT_BYTES];
	char text[TEXT_CHARS];

	for (uint32_t number = 0; number < n; number++) {
		if (hca_context_read(hca, type, number, bytes, sizeof(bytes)) <= 0)
			continue;
		layout_format(layout, bytes, text, sizeof(text));
		printf("hca%u %s 0x%x: %s\n", host, name, number, text);
	}
}

static void dump_all(struct dump *dump)
{
	struct machine *m = dump->tb->machine;

	if (dump->done)
		return;
	dump->done = true;
	printf("contexts of %s at %" PRIu64 ".%06" PRIu64 " us\n", dump->tb->scenario->name,
	       m->core.now_ps / 1000000, m->core.now_ps % 1000000);
	for (unsigned i = 0; i < MACHINE_HOSTS; i++) {
		const struct hca_params *p = &m->config->hca[i];
		struct hca *hca = host_hca(m->hosts[i]);

		dump_object(hca, i, HCA_QP, "qpc", &layout_qpc, 1u << p->hca_log_max_qp);
		dump_object(hca, i, HCA_CQ, "cqc", &layout_cqc, 1u << p->hca_log_max_cq);
		dump_object(hca, i, HCA_EQ, "eqc", &layout_eqc, 1u << p->hca_log_max_eq);
		dump_object(hca, i, HCA_SRQ, "srqc", &layout_srqc, 1u << p->hca_log_max_srq);
		dump_object(hca, i, HCA_MPT, "mpt", &layout_mpt_entry, 1u << p->hca_log_max_mpt);
	}
}

static void due(struct event *ev)
{
	struct dump *dump = (struct dump *)ev;

	dump_all(dump);
	machine_stop(dump->tb->machine);
}

static void failed(struct tb *tb)
{
	dump_all(tb->on_failure_arg);
	machine_stop(tb->machine);
}

void dump_at(struct dump *dump, struct tb *tb, uint64_t time_ps)
{
	*dump = (struct dump){.at = {.job = due}, .tb = tb};
	tb->on_failure = failed;
	tb->on_failure_arg = dump;
	event_set(&tb->machine->core, &dump->at, time_ps);
}
