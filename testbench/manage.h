/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for scenarios of management: MADs that one end sends from its QP0 or QP1 and the answer of
 * whoever gets them.
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
	unsigned hops;			 /* directed route: 0 the own node, 1 the other end of the cable */
	int64_t dlid;			 /* [permissive] */
	const void *data;		 /* 64 bytes of the attribute (GMP: 192) */
	unsigned status;		 /* that the answer must have, the direction bit left out */
	bool silent;			 /* there must be no answer */
};
#define TB_ASK_DEFAULTS .mgmt_class = MAD_CLASS_SUBN_DR, .method = MAD_METHOD_GET, .base_version = MAD_BASE_VERSION, .class_version = 1, .dlid = LID_PERMISSIVE
/* Asks from port 1. The class says whether QP0 or QP1 is meant. */
#define ask(end, answer, ...) tb_ask(tb, TB_HERE, end, answer, &(const struct tb_ask){TB_ASK_DEFAULTS, __VA_ARGS__})
void tb_ask(struct tb *tb, const char *here, struct tb_end *end, struct smp *answer, const struct tb_ask *ask);

#endif
