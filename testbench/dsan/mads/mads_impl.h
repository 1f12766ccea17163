/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files about management datagrams: mads.c (queue pairs, what comes, callers),
 * leave.c (what leaves), ifc.c (what the device's own agents answer). */
#ifndef TESTBENCH_DSAN_MADS_MADS_IMPL_H
#define TESTBENCH_DSAN_MADS_MADS_IMPL_H

#include "testbench/dsan/asked/asked_impl.h"
#include "testbench/dsan/mads/mads.h"

enum { OPEN_SENDS = 1024 /* a power of two */, CAME = 256, TIDS = 64, MAD_NAME_BYTES = 120 };

/* A MAD that is to leave. */
struct leaving {
	struct leaving *next;
	struct smp mad;
	const struct smp *live; /* a request whose transaction id is set in the call; else NULL */
	bool has_to;
	struct drv_mad_addr to;
	bool to_manager; /* a trap, which goes to the port's subnet manager */
	bool exact; /* as the caller filled it; else the SMI has set hop pointer and direction */
	bool must;  /* the driver has said that it sends it */
	struct calls by;
};

struct receive {
	uint64_t wr_id, bus;
	bool open;
};

/* A request that came, until its answer goes out. */
struct came {
	struct smp mad;
	unsigned slid, sl, path_bits, pkey_index;
	bool has_grh;
	uint32_t src_qp;
	uint8_t grh[GRH_BYTES]; /* if it has one */
};

struct special {
	struct special *next;
	struct checker *c;
	const struct drv_qp *qp;
	const struct drv_cq *cq;
	uint32_t number;
	unsigned port, qpn;
	unsigned requests; /* that it has room for, in both queues */
	struct receive *receives;
	unsigned n_receives, posted, most; /* most: that were posted at a time */
	struct {
		uint64_t bus;
		uint32_t bytes;
	} open[OPEN_SENDS]; /* sends from `first` up to `sent` */
	uint32_t first, sent;
	struct leaving *leaving;
	struct came came[CAME];
	unsigned n_came;
	uint64_t tids[TIDS]; /* of the newest calls */
	unsigned n_tids;
	struct calls takers; /* who polled last */
};

/* NULL: there is none. */
struct special *mads_special_of(const struct drv_qp *qp);
/* Whether the SMI of that port lets a MAD of the host leave, or takes one that has come. */
bool mads_smi_takes(const struct smp *smp, unsigned port, bool leaves);
struct special *mads_special_at(const struct checker *c, unsigned port, unsigned qpn);
struct special *mads_special_each(struct special *last);
struct guest_object mads_object_of(const struct special *s);
/* Reports it with the functions of the driver that are under way, once for each place. */
void mads_tell(const struct special *s, enum guest_rule rule, const void *pc, const char *text);
/* Class, method, attribute and transaction id, in `text`. */
const char *mads_name(const struct smp *mad, char *text, size_t size);
bool mads_is_directed(const struct smp *mad);
bool mads_is_response(const struct smp *mad);

/* A MAD is to leave; it is forgotten. */
void mads_leaving_add(struct special *s, const struct leaving *l);
void mads_leaving_drop(struct leaving **at);

#endif
