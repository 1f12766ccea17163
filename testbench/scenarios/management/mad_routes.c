/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directed-route packets whose hop pointer, hop count or direction is wrong are discarded: requests
 * that the host wants to send, which hears of it, and answers that arrive, so that the caller waits
 * until its timeout.
 */
/* behaviours: MAD-1 */
#include "testbench/manage.h"

enum { PORT = 1, ANSWER_MS = 20 };

/* What the host wants to send. */
static void routes_out(struct tb *tb, struct tb_end *a)
{
	static const struct {
		const char *name;
		unsigned count, pointer, port, direction;
	} rows[] = {{"more hops than a path has room for", SMP_HOPS_MAX + 1, 0, PORT, 0},
		    {"a pointer that has moved already", 1, 1, PORT, 0},
		    {"a way through another port", 1, 0, PORT + 1, 0},
		    {"an answer that is not at its beginning", 1, 1, PORT, 1}};
	const struct drv_mad_addr to = {.dlid = LID_PERMISSIVE, .qpn = QPN_SMI};
	struct smp request, answer;

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		request = mad_of(MAD_CLASS_SUBN_DR, MAD_METHOD_GET, SMP_ATTR_NODE_INFO);
		mad_hdr_set_hop_count(smp_hdr(&request), rows[i].count);
		mad_hdr_set_hop_pointer(smp_hdr(&request), rows[i].pointer);
		mad_hdr_set_direction(smp_hdr(&request), rows[i].direction);
		smp_initial_path_ptr(&request)[1] = (uint8_t)rows[i].port;
		must_fail(-EINVAL, drv_mad_call(a->dev, PORT, QPN_SMI, &to, &request, &answer,
						CFG_MS(ANSWER_MS)));
	}
}

/* As many hops as a path has room for: it leaves, and ends at the next node, which is an adapter. */
static void longest(struct tb *tb, struct tb_end *a)
{
	const struct drv_mad_addr to = {.dlid = LID_PERMISSIVE, .qpn = QPN_SMI};
	struct smp request, answer;

	name_row("%s", "the longest route");
	request = mad_of(MAD_CLASS_SUBN_DR, MAD_METHOD_GET, SMP_ATTR_NODE_INFO);
	mad_hdr_set_hop_count(smp_hdr(&request), SMP_HOPS_MAX);
	smp_initial_path_ptr(&request)[1] = PORT;
	must_fail(-ETIMEDOUT,
		  drv_mad_call(a->dev, PORT, QPN_SMI, &to, &request, &answer, CFG_MS(ANSWER_MS)));
}

/* One that has gone three hops when it comes, and one that had none to go: they end here. */
static void ends_here(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	struct smp request;

	check_mads();
	for (unsigned count = 0; count <= SMP_HOPS_MAX; count += 3) {
		name_row("%u hops", count);
		request = mad_of(MAD_CLASS_SUBN_DR, MAD_METHOD_GET, SMP_ATTR_NODE_INFO);
		mad_hdr_set_hop_count(smp_hdr(&request), count);
		mad_hdr_set_hop_pointer(smp_hdr(&request), count);
		inject(b, UD_SEND_ONLY, .qpn = QPN_SMI, .slid = LID_PERMISSIVE,
		       .dlid = LID_PERMISSIVE, .vl = VL_MANAGEMENT,
		       .payload = (const void *)&request, .len = sizeof(request));
		expect_mad(b_to_a, .qpn = QPN_SMI);
	}
	ignore_mads();
}

static void answers_in(struct tb *tb, struct tb_end *a)
{
	static const struct {
		const char *name;
		unsigned at, bits;
	} rows[] = {{"one that should go further", POINTER_AT, 2},
		    {"one that should go one step further", POINTER_AT, 3},
		    {"one with too many hops", COUNT_AT, 0x40}};
	struct smp answer;

	for_each_row(i, rows) {
		name_row("%s", rows[i].name);
		corrupt_next(b_to_a, UD_SEND_ONLY, .qpn = QPN_SMI, .offset = rows[i].at,
			     .mask = (uint8_t)rows[i].bits, .fix = FAULT_FIX_BOTH);
		ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1, .silent = true);
	}
	/* C14-13:4: the pointer is 0, so it is for the manager of this node */
	name_row("%s", "one at the end of its way");
	corrupt_next(b_to_a, UD_SEND_ONLY, .qpn = QPN_SMI, .offset = POINTER_AT, .mask = 1,
		     .fix = FAULT_FIX_BOTH);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
}

SCENARIO(mad_routes, "directed routes that are wrong, at the sender and in answers")
{
	ignore_packets();
	routes_out(tb, a);
	longest(tb, a);
	ends_here(tb, a, b);
	answers_in(tb, a);
}
