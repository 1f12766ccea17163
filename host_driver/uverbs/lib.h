/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's side of user verbs: its structures behind those of <infiniband/verbs.h>, and how it
 * enters the kernel. Posting and polling use the driver's queues directly, without the kernel.
 */
#ifndef HOST_DRIVER_UVERBS_LIB_H
#define HOST_DRIVER_UVERBS_LIB_H

#include "host_driver/uverbs/uverbs.h"
#include "model/interface/macros.h"

struct uv_device {
	struct ibv_device ibv;
	struct ib_device *ib;
	unsigned refs; /* device lists and contexts that use it */
};

struct uv_context {
	struct ibv_context ibv;
	struct uv_process *process;
	struct uv_file *file;
};

struct uv_lib_channel {
	struct ibv_comp_channel ibv;
	struct uv_channel *channel;
};

struct uv_mr {
	struct ibv_mr ibv;
	struct drv_mr *hw;
};

struct uv_mw {
	struct ibv_mw ibv;
	struct drv_mw *hw;
};

struct uv_cq {
	union {
		struct ibv_cq ibv;
		struct ibv_cq_ex ex;
	};
	struct drv_cq *hw;
	/* the entry that ibv_start_poll or ibv_next_poll took */
	struct ibv_wc wc;
	uint64_t timestamp;
};

struct uv_srq {
	struct ibv_srq ibv;
	struct drv_srq *hw;
	enum ibv_srq_type type;
};

struct uv_qp {
	union {
		struct ibv_qp ibv;
		struct ibv_qp_ex ex;
	};
	struct drv_qp *hw; /* NULL: an opened handle, which cannot post */
	int sq_sig_all;
	struct uv_batch *batch; /* for ibv_wr_*; NULL: the QP was not made for these */
};

struct uv_ah {
	struct ibv_ah ibv;
	struct drv_ah_attr hw;
};

#define UV_CONTEXT(context_) container_of(context_, struct uv_context, ibv)

static inline struct uv_process *uv_process_of(const struct ibv_context *context)
{
	return container_of((struct ibv_context *)context, struct uv_context, ibv)->process;
}

/* Calls the kernel with the context's `file`. 0 or -errno. Meanwhile the file cannot be closed, and
 * the process cannot be killed. */
#define UV_CALL(context, call)                                                                     \
	({                                                                                         \
		struct uv_file *file = UV_CONTEXT(context)->file;                                  \
		int rc_;                                                                           \
		uv_kernel_enter();                                                                 \
		file->calls++;                                                                     \
		rc_ = (call);                                                                      \
		file->calls--;                                                                     \
		uv_kernel_leave();                                                                 \
		rc_;                                                                               \
	})

/* Ends a function that returns a pointer: frees p, sets errno, returns NULL. */
static inline void *uv_fail(void *p, int rc)
{
	uv_heap_free(p);
	errno = -rc;
	return NULL;
}

/* Memory of the context's process. NULL with errno ENOMEM. */
static inline void *uv_new(const struct ibv_context *context, size_t bytes)
{
	void *p = uv_heap_alloc(uv_process_of(context), bytes);

	if (!p)
		errno = ENOMEM;
	return p;
}

/* --- verbs_io.c --- */

/* ibv_post_send. With `all`, posts either all requests or none, and does not set *bad. */
int uv_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, bool all, struct ibv_send_wr **bad);
/* Tells whether polling the CQ has found something: see struct uv_process, poll. */
void uv_polled(struct ibv_cq *cq, bool found);
void uv_wc_fill(const struct drv_wc *d, struct ibv_wc *wc);

/* --- verbs_objects.c --- */

/* Makes a CQ for both interfaces. `cqe` is limited to an int. */
struct uv_cq *uv_cq_create(struct ibv_context *context, int cqe, void *cq_context,
			   struct ibv_comp_channel *channel, int comp_vector, bool stamped);

/* --- verbs_wr.c --- */

/* Whether a QP of that type has these operations (enum ibv_qp_create_send_ops_flags). */
bool uv_batch_possible(enum ibv_qp_type type, uint64_t ops);
/* 0 or -ENOMEM. */
int uv_batch_create(struct uv_qp *qp, uint64_t ops);
void uv_batch_free(struct uv_qp *qp);

/* --- verbs_device.c --- */

/* Waits for the next event. -1 with errno EAGAIN: there is none, and the descriptor does not
 * block. */
int uv_event_wait(struct uv_process *process, struct uv_channel *channel, struct uv_event *event);
/* Sleeps until the two counters are equal, so that all events that were taken have been
 * acknowledged. */
void uv_wait_acknowledged(struct ibv_context *context, const uint32_t *completed,
			  unsigned reported);
/* Counts acknowledged events and wakes who waits for them. */
void uv_acknowledge(struct ibv_context *context, uint32_t *completed, unsigned n);

#endif
