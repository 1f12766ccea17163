/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a run's file of records, from records that a test makes by hand. */
#ifndef TRACES_TESTS_RUN_MADE_H
#define TRACES_TESTS_RUN_MADE_H

#include "traces/records.h"
#include "traces/tests/packets.h"
#include "traces/trace.h"

/* Writes the records. Records with time 0 are left out, except the first. */
static inline void run_made_write(const char *dir, const struct trace_record *r, unsigned n)
{
	struct trace *tr = trace_create();

	assert_int_equal(trace_open(tr, "records", dir, stderr), 0);
	for (unsigned i = 0; i < n; i++) {
		if (i && !r[i].time_ps)
			continue;
		trace_advance(tr, r[i].time_ps);
		trace_emit(tr, &r[i]);
	}
	assert_int_equal(trace_close(tr), 0);
}

static inline struct bth *run_made_bth(struct test_packet *p)
{
	return (struct bth *)(void *)(p->b + LRH_BYTES);
}

/* A packet of a connection without a GRH. */
static inline void run_made_packet(struct test_packet *p, uint8_t opcode, uint32_t qpn,
				   uint32_t psn, uint32_t payload)
{
	test_packet_make(p, opcode, psn, payload, false);
	bth_set_dqpn(run_made_bth(p), qpn);
	test_packet_seal(p);
}

/* The record of this packet at one of its ends. wqe: index of the sender's WQE. */
static inline struct trace_record run_made_end(uint64_t time_ps, enum trace_point point,
					       uint8_t hca, const struct test_packet *p,
					       uint32_t from, uint32_t wqe)
{
	struct trace_record r = {.time_ps = time_ps,
				 .point = point,
				 .hca = hca,
				 .port = 1,
				 .qpn = from,
				 .bytes = p->b,
				 .len = p->len};

	r.args[TRACE_ARG(PKT_OUT, known)] = TRACE_PACKET_WQE;
	r.args[TRACE_ARG(PKT_OUT, wqe)] = wqe;
	r.args[TRACE_ARG(PKT_OUT, transmission)] = 1;
	return r;
}

#endif
