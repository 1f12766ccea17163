/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of cqe_write, shared by two files. cqe_write.c: the jobs that are queued for a CQ.
 * cq_event.c: arming, moderation and events. */
#ifndef MODEL_ENGINE_CQ_IMPL_H
#define MODEL_ENGINE_CQ_IMPL_H

#include "model/engine/complete/object_lane.h"
#include "model/engine/host/pcie.h"
#include "model/interface/contexts.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"

enum cq_job_kind {
	JOB_CQE,
	JOB_ARM,
	JOB_RESIZE,
	JOB_DRAIN,
	JOB_EVENT,  /* the moderation period is over */
	JOB_FAILED, /* a CQE could not be written */
	JOB_LAST_WQE,
};

struct cq_job {
	struct object_lane_job link;
	struct dma dma; /* writes the CQE */
	struct object_lane *lane;
	enum cq_job_kind kind;
	struct cqe cqe;
	bool solicited;
	bool sent;         /* RESIZE: its CQE has been sent */
	struct event lost; /* the CQ has not taken the CQE, so its QP fails */
	struct hca *lost_by;
	uint64_t earliest_ps;
	uint32_t index;
	unsigned arm_cmd, arm_sn;
	uint32_t consumer_index, uar;
	void (*idle)(void *arg);
	void *arg;
};

struct cq_lane {
	struct object_lane lane;
	struct dma record; /* reads the doorbell record */
	struct cq_dbrec dbrec;
	bool record_pending, record_read;
	bool resized;        /* the context of the old buffer is still in the cache */
	struct event period; /* end of the moderation period */
	uint32_t moderated;  /* CQEs since the first one that wants an event, including it */
};

/* The newest arm doorbell of a CQ: whether its index was ahead of that in the doorbell record; both;
 * whether its record asked for solicited completions only, and it for all. */
struct cq_armed {
	uint32_t cqn;
	bool ahead, weaker;
	uint32_t armed_ci, record_ci;
};

static inline uint32_t cq_size(const struct cqc *cqc)
{
	return UINT32_C(1) << cqc_get_log_size(cqc);
}

static inline uint32_t cq_entries_used(const struct cqc *cqc)
{
	return (cqc_get_producer_index(cqc) - cqc_get_consumer_index(cqc)) & QUEUE_INDEX_MASK;
}

/* cqe_write.c: the pool, and the queue of a CQ. */
struct cq_job *cq_job_take(struct hca *hca, enum cq_job_kind kind);
void cq_job_give(struct hca *hca, struct cq_job *job);
void cq_job_queue(struct hca *hca, uint32_t cqn, struct cq_job *job);
/* Of the CQs that were armed last. One that was forgotten begins anew. */
struct cq_armed *cq_armed_newest(struct hca *hca, uint32_t cqn);

/* The context of the lane's CQ. Results as of context_get(). */
int cq_context(struct object_lane *lane, struct cqc **cqc, const char *why);
/* Stores a consumer index that software gives, unless it is beyond the producer index (guest
 * error). */
bool cq_consumer_index_take(struct object_lane *lane, struct cqc *cqc, uint32_t ci,
			    const char *from);
bool cq_is_armed(const struct cqc *cqc, bool solicited);
/* A CQE that the CQ is armed for has been sent. Makes an event now, or later if the CQ has
 * moderation. */
void cq_moderate(struct object_lane *lane, struct cqc *cqc);
/* Steps of JOB_EVENT and JOB_ARM. */
int cq_event_step(struct object_lane *lane, struct cq_job *job);
int cq_arm_step(struct object_lane *lane, struct cq_job *job);

#endif
