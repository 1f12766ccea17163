/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs for scenarios of management: an end sends a MAD from its QP0 or QP1, and checks the answer.
 *
 *	struct smp answer;
 *
 *	ask(a, &answer, .attr = SMP_ATTR_NODE_INFO, .hops = 1);
 *	ask(a, &answer, .attr = 0x1234, .hops = 1, .status = MAD_STATUS_BAD_METHOD_ATTR);
 *	ask(a, &answer, .attr = SMP_ATTR_PORT_INFO, .hops = 1, .base_version = 2, .silent = true);
 */
#ifndef TESTBENCH_MANAGE_H
#define TESTBENCH_MANAGE_H

#include "host_driver/mlx4/mad.h"
#include "testbench/services.h"

/* clang-format off */

struct tb_ask {
	int64_t mgmt_class;		 /* [directed route] */
	int64_t method;			 /* [Get] */
	unsigned attr;
	int64_t base_version /* [1] */, class_version /* [1] */;
	uint32_t mod;
	uint64_t mkey;
	unsigned hops;			 /* directed route: 0 for the end's own node, 1 for the node at the other end of the cable */
	int64_t dlid;			 /* [permissive] */
	const void *data;		 /* the attribute: 64 bytes (GMP: 192) */
	unsigned status;		 /* status that the answer must have, apart from the direction bit */
	bool silent;			 /* there must be no answer */
	bool maybe_silent;		 /* there may be none; what it says does not matter */
};
#define TB_ASK_DEFAULTS .mgmt_class = MAD_CLASS_SUBN_DR, .method = MAD_METHOD_GET, .base_version = MAD_BASE_VERSION, .class_version = 1, .dlid = LID_PERMISSIVE
/* Sends the MAD from port 1. The class determines whether QP0 or QP1 sends it. */
#define ask(end, answer, ...) tb_ask(tb, TB_HERE, end, answer, &(const struct tb_ask){TB_ASK_DEFAULTS, __VA_ARGS__})
void tb_ask(struct tb *tb, const char *here, struct tb_end *end, struct smp *answer, const struct tb_ask *ask);

/* The PortInfo of an answer, for a Set: the states are "no change". */
struct port_info port_info_to_set(const struct smp *answer);

#endif
