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
	unsigned mgmt_class;		 /* [directed route] */
	unsigned method;		 /* [Get] */
	unsigned attr, base_version /* [1] */, class_version /* [1] */;
	uint32_t mod;
	uint64_t mkey;
	unsigned hops;			 /* directed route: 0 the own node, 1 the other end of the cable */
	unsigned dlid;			 /* [permissive] */
	const void *data;		 /* 64 bytes of the attribute (GMP: 192) */
	unsigned status;		 /* that the answer must have, the direction bit left out */
	bool silent;			 /* there must be no answer */
};
/* Asks from port 1. The class says whether QP0 or QP1 is meant. */
#define ask(end, answer, ...) tb_ask(tb, TB_HERE, end, answer, &(const struct tb_ask){__VA_ARGS__})
void tb_ask(struct tb *tb, const char *here, struct tb_end *end, struct smp *answer, const struct tb_ask *ask);

#endif
