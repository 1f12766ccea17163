/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many threads ask at the same time, on QP0 and on QP1. Each gets the answer of its own question, which
 * has the attribute that it asked for. The sends of both queue pairs are open together.
 */
/* behaviours: IBA-13.4-transaction */
#include "testbench/manage.h"

enum { THREADS = 12, ROUNDS = 8, PORT = 1, ANSWER_MS = 100 };

static const struct question {
	unsigned mgmt_class, attr;
} questions[] = {
	{MAD_CLASS_SUBN_DR, SMP_ATTR_NODE_INFO}, {MAD_CLASS_PERF, PMA_ATTR_CLASS_PORT_INFO},
	{MAD_CLASS_SUBN_DR, SMP_ATTR_PORT_INFO}, {MAD_CLASS_PERF, PMA_ATTR_PORT_COUNTERS},
	{MAD_CLASS_SUBN_DR, SMP_ATTR_GUID_INFO}, {MAD_CLASS_SUBN_DR, SMP_ATTR_PKEY_TABLE},
};

struct asker {
	struct drv_device *dev;
	struct drv_mad_addr to;
	const struct question *question;
	unsigned answers, foreign;
	int rc;
	bool done;
};

static void asks(void *arg)
{
	struct asker *k = arg;
	const struct question *q = k->question;
	const bool directed = q->mgmt_class == MAD_CLASS_SUBN_DR;

	for (unsigned i = 0; i < ROUNDS && !k->rc; i++) {
		struct smp request = mad_of(q->mgmt_class, MAD_METHOD_GET, q->attr), answer = {0};

		if (directed) {
			mad_hdr_set_hop_count(smp_hdr(&request), 1);
			smp_initial_path_ptr(&request)[1] = PORT;
		}
		k->rc = drv_mad_call(k->dev, PORT, !directed, &k->to, &request, &answer,
				     CFG_MS(ANSWER_MS));
		k->answers += !k->rc;
		k->foreign +=
			mad_hdr_get_attr_id(smp_hdr(&answer)) != q->attr ||
			mad_hdr_get_tid(smp_hdr(&answer)) != mad_hdr_get_tid(smp_hdr(&request));
	}
	k->done = true;
}

SCENARIO(mad_concurrent, "many threads ask at the same time: each gets its own answer")
{
	struct asker askers[THREADS];
	const uint64_t deadline = tb_now(tb) + CFG_S(2);
	bool all = false;

	ignore_packets();
	for_each_row(i, askers) {
		const struct question *q =
			&questions[i % (sizeof(questions) / sizeof(questions[0]))];
		const bool directed = q->mgmt_class == MAD_CLASS_SUBN_DR;

		askers[i] = (struct asker){.dev = a->dev,
					   .question = q,
					   .to = {.dlid = directed ? LID_PERMISSIVE : b->lid,
						  .qpn = !directed,
						  .qkey = directed ? 0 : QKEY_GSI}};
		a->platform->ops->thread_start(a->platform, "asker", asks, &askers[i]);
	}
	while (!all && tb_now(tb) < deadline && still_right()) {
		pass_time(CFG_MS(1));
		all = true;
		for_each_row(i, askers)
			all = all && askers[i].done;
	}
	for_each_row(i, askers) {
		name_row("asker %zu", (size_t)i);
		expect_true(askers[i].done);
		expect_equal(askers[i].rc, 0);
		expect_equal(askers[i].answers, ROUNDS);
		expect_equal(askers[i].foreign, 0);
	}
}
