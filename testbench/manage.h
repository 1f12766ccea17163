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
	int64_t port;			 /* [1] of the end, that sends it and takes the answer; a directed route leaves there */
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
#define TB_ASK_DEFAULTS .mgmt_class = MAD_CLASS_SUBN_DR, .method = MAD_METHOD_GET, .port = 1, .base_version = MAD_BASE_VERSION, .class_version = 1, .dlid = LID_PERMISSIVE
/* The class determines whether QP0 or QP1 sends the MAD. */
#define ask(end, answer, ...) tb_ask(tb, TB_HERE, end, answer, &(const struct tb_ask){TB_ASK_DEFAULTS, __VA_ARGS__})
void tb_ask(struct tb *tb, const char *here, struct tb_end *end, struct smp *answer, const struct tb_ask *ask);

/* Sets the first block of the P_Key table of the port `hops` nodes from that port of the end: entry i is the i-th
 * key, and entries without one are 0. A key can be given its entry: PKEY_DEFAULT, [3] = 0x8055. */
#define write_pkeys(end, port, hops, ...) \
	tb_write_pkeys(tb, TB_HERE, end, port, hops, (const uint16_t[]){__VA_ARGS__}, sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))
void tb_write_pkeys(struct tb *tb, const char *here, struct tb_end *end, unsigned port, unsigned hops, const uint16_t *keys, unsigned n);

/* Offsets in a packet of InfiniBand without GRH: the MAD is behind LRH, BTH and DETH. */
enum { MAD_AT = 28, DIRECTION_AT = MAD_AT + 4, POINTER_AT = MAD_AT + 6, COUNT_AT = MAD_AT + 7 };

/* A MAD whose header is right, for a scenario that sends it itself. One with a directed route has permissive LIDs at
 * both ends of its route. All else is 0. */
struct smp mad_of(unsigned mgmt_class, unsigned method, unsigned attr);

/* The PortInfo of an answer, for a Set: the states are "no change". */
struct port_info port_info_to_set(const struct smp *answer);

#endif
