/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fuzz targets share: a machine of two hosts with their HCAs up and queue pairs connected,
 * made anew every so often; and the bytes of an input, taken as numbers.
 *
 * A target is one function, fuzz_input(). It is linked with libFuzzer (make fuzz) or with
 * replay.c, which gives it files, and random bytes. What goes wrong ends the process: a sanitizer's
 * report, abort(), or an alarm.
 */
#ifndef TESTBENCH_FUZZ_RIG_H
#define TESTBENCH_FUZZ_RIG_H

#include "host_driver/mlx4/connect.h"
#include "host_driver/mlx4/mlx4_internal.h"
#include "testbench/language/tb.h"

enum {
	FUZZ_EVENTS_MAX = 20000000, /* of one fuzz_run(): more is a hang */
	FUZZ_QPS = 2,               /* RC pairs between both ends */
};

/* The target. Returns 0; 1 when the machine must not be used again. */
int fuzz_input(const uint8_t *data, size_t size);

/* --- bytes as numbers; zeros when there are no more --- */

struct fuzz_bytes {
	const uint8_t *at, *end;
};

static inline bool fuzz_more(const struct fuzz_bytes *b)
{
	return b->at < b->end;
}
uint64_t fuzz_take(struct fuzz_bytes *b, unsigned bytes);
/* At most `max` bytes; how many. The pointer is into the input. */
size_t fuzz_take_some(struct fuzz_bytes *b, size_t max, const uint8_t **bytes);

/* --- the machine --- */

struct fuzz_rig {
	struct config *config;
	struct machine machine;
	struct tb tb;
	struct drv_qp *ud[TB_ENDS]; /* in RTS, Q_Key 1, on the end's CQ */
	struct drv_srq *srq;        /* of a, with receives */
	struct drv_qp *srq_qp;      /* RC on that SRQ at a, connected to peer_qp at b */
	struct drv_qp *peer_qp;
	struct drv_qp *uc[TB_ENDS];   /* connected UC */
	struct drv_mr *fast[TB_ENDS]; /* for IBV_WR_REG_MR, with pages */
	struct drv_mw *mw[TB_ENDS];   /* of type 2 */
	unsigned inputs;
	bool given_up; /* a call did not return in time: its thread ends as soon as it can */
};

/* "section.key=value" of every machine, NULL behind the last; before the first fuzz_rig_get(). */
extern const char *const *fuzz_rig_settings;
/* What UD queue pairs may join. */
extern const uint8_t fuzz_mgid[DRV_GID_BYTES];

/* The machine, brought up when there is none; the same one for a number of inputs. */
struct fuzz_rig *fuzz_rig_get(void);
/* The next fuzz_rig_get() makes a new one. */
void fuzz_rig_spoil(void);
/* Runs fn as a host thread until it returns, at most `limit_ps` of simulated time; whether it
 * returned. When it did not, the rig is spoilt, and given_up is what fn's loop looks at. */
bool fuzz_rig_call(struct fuzz_rig *rig, void (*fn)(struct fuzz_rig *rig, void *arg), void *arg,
		   uint64_t limit_ps);
/* Lets simulated time pass. */
void fuzz_rig_pass(struct fuzz_rig *rig, uint64_t ps);
/* Polls what has completed. When an RC pair of the rig is not in RTS, and now and then: all back to
 * RTS with empty queues, receives posted. From a host thread. */
void fuzz_rig_reconnect(struct fuzz_rig *rig);

/* A file with these bytes for functions that take a path; valid until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
