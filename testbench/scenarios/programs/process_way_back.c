/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way back to the sender of a datagram, over InfiniBand: from the completion its LID, service level and
 * path bits, which are those of the answer; from the GRH the sender's GID, the class and the flow, and
 * the entry of this port's table with the GID that it was sent to. It may go as many hops as there can be.
 * Without the flag the 40 bytes say nothing. A GID of the other port is refused. Source: rdma-core
 * ibv_init_ah_from_wc; Linux ib_init_ah_attr_from_wc for the hops
 */
/* behaviours: UD-way-back */
#include "testbench/manage.h"
#include "testbench/programs.h"

#include <endian.h>

enum { SECOND = 1, OTHER = 0x100, FLOW = 0xabcde, CLASS = 0x5c, HOPS = 77, ALL_HOPS = 255, SL = 6 };
enum { SLID = 0x4321, BITS = 3 };

struct way {
	struct program p;
	uint8_t port;
	union ibv_gid to;
	int index; /* of `to`; negative: the port has no such GID */
	bool grh;
};

static int way_back(void *arg)
{
	struct way *w = arg;
	struct ibv_wc wc = {
		.sl = SL, .slid = SLID, .dlid_path_bits = BITS, .src_qp = 9, .byte_len = 99};
	struct ibv_grh grh = {.version_tclass_flow = htobe32(6u << 28 | CLASS << 20 | FLOW),
			      .paylen = htobe16(99),
			      .next_hdr = 0x1b,
			      .hop_limit = HOPS,
			      .sgid = {.raw = {0xfe, 0x80, [7] = 4, [12] = 0x45, [15] = 3}},
			      .dgid = w->to};
	struct ibv_ah_attr is;
	int rc;

	memset(&is, 0x77, sizeof(is));
	wc.wc_flags = w->grh ? IBV_WC_GRH : 0;
	rc = ibv_init_ah_from_wc(w->p.context, w->port, &wc, &grh, &is);
	if (w->grh && w->index < 0)
		return rc == -1 && !ibv_create_ah_from_wc(w->p.pd, &wc, &grh, w->port) ? 0
										       : __LINE__;
	if (rc || is.port_num != w->port || is.dlid != SLID || is.sl != SL ||
	    is.src_path_bits != BITS || is.static_rate || is.is_global != w->grh)
		return __LINE__;
	if (!w->grh)
		return is.grh.flow_label && is.grh.flow_label != FLOW ? __LINE__ : 0;
	if (is.grh.sgid_index != w->index ||
	    memcmp(is.grh.dgid.raw, grh.sgid.raw, sizeof(grh.sgid.raw)))
		return __LINE__;
	return is.grh.traffic_class == CLASS && is.grh.flow_label == FLOW &&
			       is.grh.hop_limit == ALL_HOPS
		       ? 0
		       : __LINE__;
}

/* The subnet manager gives port 1 a second GID. */
static void add_gid(struct tb *tb, struct tb_end *a)
{
	struct guid_info guids;
	struct smp answer;

	ask(a, &answer, .attr = SMP_ATTR_GUID_INFO);
	memcpy(&guids, smp_data_cptr(&answer), sizeof(guids));
	guid_info_set(&guids, SECOND, guid_info_get(&guids, 0) + OTHER);
	ask(a, &answer, .method = MAD_METHOD_SET, .attr = SMP_ATTR_GUID_INFO, .data = &guids);
	expect_event(a, IBV_EVENT_GID_CHANGE);
}

SCENARIO(process_way_back, "the way back to the sender of a datagram, field by field",
	 .no_qps = true, .any_packets = true, .settings = {"hca.ports=2"})
{
	static const struct {
		const char *name;
		unsigned of_port, of_index;
		uint8_t port;
		int index;
		bool grh;
	} rows[] = {
		{"to the first GID of port 1", 1, 0, 1, 0, true},
		{"to the second GID of port 1", 1, SECOND, 1, SECOND, true},
		{"to the first GID of port 2", 2, 0, 2, 0, true},
		{"to a GID of port 1 at port 2", 1, SECOND, 2, -1, true},
		{"to a GID of port 2 at port 1", 2, 0, 1, -1, true},
		{"without a GRH at port 2", 2, 0, 2, 0, false},
		{"without a GRH, to nobody's GID", 2, 0, 1, -1, false},
	};
	struct process *worker = start_worker(a);
	struct way w = {.p = {.file = "domain"}};

	add_gid(tb, a);
	run_in(worker, program_open, &w.p);
	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		w.port = rows[i].port;
		w.index = rows[i].index;
		w.grh = rows[i].grh;
		must(drv_query_gid(a->dev, rows[i].of_port, rows[i].of_index, w.to.raw));
		run_in(worker, way_back, &w);
	}
	end_worker(worker);
}
