/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of host b to the subnet administrator on host a, with any components. */
#ifndef TESTBENCH_SCENARIOS_CONNECT_SA_ASKED_H
#define TESTBENCH_SCENARIOS_CONNECT_SA_ASKED_H

#include "model/interface/cm.h"
#include "testbench/connect.h"
#include "testbench/manage.h"

enum { PORT = 1, ANSWER_MS = 20, NO_PATH = SA_STATUS_NO_RECORDS };

/* A query, of host b. */
struct query {
	struct sa_mad mad;
	struct path_record *record; /* what it says */
};

#define BIT(component) (UINT64_C(1) << PATH_COMP_##component)

static inline void query_begin(struct query *q)
{
	const struct smp mad = mad_of(MAD_CLASS_SUBN_ADM, MAD_METHOD_GET, SA_ATTR_PATH_RECORD);

	memcpy(&q->mad, &mad, sizeof(q->mad));
	mad_hdr_set_class_version(sa_mad_hdr(&q->mad), SA_CLASS_VERSION);
	q->record = (struct path_record *)(void *)sa_mad_data_ptr(&q->mad);
}

static inline void query_say(struct query *q, uint64_t components)
{
	sa_mad_set_component_mask(&q->mad, sa_mad_get_component_mask(&q->mad) | components);
}

/* From host b to host a, by their GIDs. */
static inline void query_between(struct tb *tb, struct query *q, struct tb_end *from,
				 struct tb_end *to)
{
	query_begin(q);
	must(drv_query_gid(from->dev, PORT, 0, path_record_sgid_ptr(q->record)));
	must(drv_query_gid(to->dev, PORT, 0, path_record_dgid_ptr(q->record)));
	query_say(q, BIT(SGID) | BIT(DGID));
}

/* Sends it. The answer, which replaces it, must have that status. */
static inline void ask_sa(struct tb *tb, struct tb_end *b, struct query *q, unsigned status)
{
	const struct drv_mad_addr to = {.dlid = b->peer->lid, .qpn = QPN_GSI, .qkey = QKEY_GSI};
	struct sa_mad answer = {0};
	const unsigned method = mad_hdr_get_method(sa_mad_hdr(&q->mad));

	if (!still_right())
		return;
	must(drv_mad_call(b->dev, PORT, QPN_GSI, &to, &q->mad, &answer, CFG_MS(ANSWER_MS)));
	expect_equal(mad_hdr_get_method(sa_mad_hdr(&answer)), method | MAD_RESPONSE_BIT);
	expect_equal(mad_hdr_get_attr_id(sa_mad_hdr(&answer)),
		     mad_hdr_get_attr_id(sa_mad_hdr(&q->mad)));
	expect_equal(mad_hdr_get_status(sa_mad_hdr(&answer)), status);
	q->mad = answer;
}

#endif
