/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of connections (IBA chapter 12): a message that answers one, or belongs to a connection,
 * must have the transaction id, the communication ids and the queue pair that the peer has told.
 */
#ifndef TESTBENCH_DSAN_MADS_CONNECTIONS_H
#define TESTBENCH_DSAN_MADS_CONNECTIONS_H

#include <rdma/ib_cm.h>

#include <stddef.h>
#include <stdint.h>

struct checker;
struct ib_cm_id;
struct ib_qp_attr;
struct smp;

/* A MAD of the class has come. */
void connections_came(const struct checker *c, const struct smp *mad);
/* What is wrong with one that is to leave, NULL: nothing. */
const char *connections_wrong(const struct checker *c, const struct smp *mad);
/* A connection of the host goes to another state; `id` is its own communication id. `deadline` is that of
 * the answer that it waits for, UINT64_MAX: of none; NULL: the connection is gone. */
void connections_state(const struct checker *c, uint32_t id, enum ib_cm_state state,
		       const uint64_t *deadline);
/* The newest one of that kind that was to leave, as it was then; NULL: none was. */
const struct smp *connections_sent(const struct checker *c, unsigned attr);
/* How many of that kind were to leave so far. */
unsigned connections_sent_count(const struct checker *c, unsigned attr);
/* Who has stored into the newest one last, if wrote_begin() was called before: at most `max` places.
 * Returns how many. */
unsigned connections_writers(const struct checker *c, unsigned attr, const void **pcs,
			     unsigned max);
/* The least code of an ACK timeout with which the peer can answer in time, as its REP says, over a path
 * with that packet life time; 0: not known. */
unsigned connections_ack_timeout(const struct checker *c, const struct ib_cm_id *id,
				 unsigned life_time);
/* Connection management says these attributes for the queue pair of a connection, whose numbers were
 * written by `writers`: they must be those of its REQ and REP. */
void connections_attributes_check(struct checker *c, const struct ib_cm_id *id,
				  const struct ib_qp_attr *attr, unsigned mask,
				  const char *writers);

#endif
