/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzz targets share: a machine with two hosts, whose HCAs are up and whose queue pairs are
 * connected, and functions that take numbers from the bytes of an input. The machine is created
 * anew every so often.
 *
 * A target is one function, fuzz_input(). It is linked with libFuzzer (make fuzz), or with
 * replay.c, which feeds it files and random bytes. A failure ends the process: a sanitizer's
 * report, abort(), or an alarm.
 */
#ifndef TESTBENCH_FUZZ_RIG_H
#define TESTBENCH_FUZZ_RIG_H

#include "host_driver/mlx4/connect.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/language/tb.h"

enum {
	FUZZ_EVENTS_MAX = 20000000, /* in one fuzz_run(): more than this is a hang */
	FUZZ_QPS = 2,               /* RC pairs between the two ends */
};

/* The target. Returns 0, or 1 when the machine must not be used again. */
int fuzz_input(const uint8_t *data, size_t size);

/* --- bytes as numbers; zeros after the end --- */

struct fuzz_bytes {
	const uint8_t *at, *end;
};

static inline bool fuzz_more(const struct fuzz_bytes *b)
{
	return b->at < b->end;
}
uint64_t fuzz_take(struct fuzz_bytes *b, unsigned bytes);
/* Takes at most `max` bytes and returns how many. The pointer is into the input. */
size_t fuzz_take_some(struct fuzz_bytes *b, size_t max, const uint8_t **bytes);

/* --- the machine --- */

struct fuzz_rig {
	struct config *config;
	struct machine machine;
	struct tb tb;
	struct drv_qp *ud[TB_ENDS]; /* in RTS, Q_Key 1, on the end's CQ */
	struct drv_srq *srq;        /* at a, with receives */
	struct drv_qp *srq_qp;      /* RC, uses srq at a, connected to peer_qp at b */
	struct drv_qp *peer_qp;
	struct drv_qp *uc[TB_ENDS];   /* connected UC */
	struct drv_mr *fast[TB_ENDS]; /* for IBV_WR_REG_MR, with pages */
	struct drv_mw *mw[TB_ENDS];   /* of type 2 */
	unsigned inputs;
	bool given_up; /* a call did not return in time: its thread must end as soon as it can */
};

/* "section.key=value" settings of every machine, NULL after the last. Set it before the first
 * fuzz_rig_get(). */
extern const char *const *fuzz_rig_settings;
/* The multicast group that UD queue pairs may join. */
extern const uint8_t fuzz_mgid[DRV_GID_BYTES];

/* Returns the machine. Creates it and brings it up if there is none; a number of inputs share one
 * machine. */
struct fuzz_rig *fuzz_rig_get(void);
/* Makes the next fuzz_rig_get() create a new machine. */
void fuzz_rig_spoil(void);
/* Runs fn as a host thread for at most `limit_ps` of simulated time. Returns whether fn returned.
 * If it did not, the rig is spoilt and given_up is set; loops in fn must check given_up. */
bool fuzz_rig_call(struct fuzz_rig *rig, void (*fn)(struct fuzz_rig *rig, void *arg), void *arg,
		   uint64_t limit_ps);
/* Lets simulated time pass. */
void fuzz_rig_pass(struct fuzz_rig *rig, uint64_t ps);
/* Polls completions. When an RC pair of the rig is not in RTS, and sometimes anyway, brings all
 * queue pairs back to RTS with empty queues and posted receives. Must be called from a host
 * thread. */
void fuzz_rig_reconnect(struct fuzz_rig *rig);

/* Makes a file with these bytes, for functions that take a path. Valid until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
