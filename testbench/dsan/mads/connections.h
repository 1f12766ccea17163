/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of connections (IBA chapter 12): a message that answers one, or belongs to a connection,
 * must have the transaction id, the communication ids and the queue pair that the peer has told.
 */
#ifndef TESTBENCH_DSAN_MADS_CONNECTIONS_H
#define TESTBENCH_DSAN_MADS_CONNECTIONS_H

#include <stddef.h>

struct checker;
struct ib_cm_id;
struct ib_qp_attr;
struct smp;

/* A MAD of the class has come. */
void connections_came(const struct checker *c, const struct smp *mad);
/* What is wrong with one that is to leave, NULL: nothing. */
const char *connections_wrong(const struct checker *c, const struct smp *mad);
/* Connection management says these attributes for the queue pair of a connection, whose numbers were
 * written by `writers`: they must be those of its REQ and REP. */
void connections_attributes_check(struct checker *c, const struct ib_cm_id *id,
				  const struct ib_qp_attr *attr, unsigned mask,
				  const char *writers);

#endif
