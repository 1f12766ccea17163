/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libibverbs that this device or its driver does not support. Programs that use them
 * compile. Each function fails as in libibverbs with such a device: it returns EOPNOTSUPP, or NULL
 * with errno.
 */
#ifndef INFINIBAND_VERBS_ABSENT_H
#define INFINIBAND_VERBS_ABSENT_H

#include <infiniband/verbs.h>

/* --- transports of one vendor's: no queue pair is made --- */

enum { IBV_QPT_DRIVER = 0xff };

/* --- device memory --- */

struct ibv_alloc_dm_attr {
	size_t length;
	uint32_t log_align_req, comp_mask;
};

struct ibv_dm {
	struct ibv_context *context;
	uint32_t comp_mask, handle;
};

/* Only for this header. */
static inline void *ibv_absent(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

static inline struct ibv_dm *ibv_alloc_dm(struct ibv_context *context,
					  struct ibv_alloc_dm_attr *attr)
{
	return (struct ibv_dm *)ibv_absent();
}

static inline int ibv_free_dm(struct ibv_dm *dm)
{
	return EOPNOTSUPP;
}

static inline int ibv_memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *host,
				   size_t length)
{
	return EOPNOTSUPP;
}

static inline int ibv_memcpy_from_dm(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
	return ibv_memcpy_to_dm(dm, offset, host, length);
}

static inline struct ibv_mr *ibv_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
					   size_t length, unsigned int access)
{
	return (struct ibv_mr *)ibv_absent();
}

/* --- flow steering --- */

struct ibv_flow_attr;
struct ibv_flow;

static inline struct ibv_flow *ibv_create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
	return (struct ibv_flow *)ibv_absent();
}

static inline int ibv_destroy_flow(struct ibv_flow *flow)
{
	return EOPNOTSUPP;
}

/* --- other kinds of regions --- */

enum ibv_advise_mr_advice {
	IBV_ADVISE_MR_ADVICE_PREFETCH,
	IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
	IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
};

enum { IB_UVERBS_ADVISE_MR_FLAG_FLUSH = 1 << 0 };

static inline int ibv_advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
				struct ibv_sge *sg_list, uint32_t num_sge)
{
	return EOPNOTSUPP;
}

static inline struct ibv_mr *ibv_alloc_null_mr(struct ibv_pd *pd)
{
	return (struct ibv_mr *)ibv_absent();
}

static inline struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
					       uint64_t iova, int fd, int access)
{
	return (struct ibv_mr *)ibv_absent();
}

/* --- thread and parent domains --- */

struct ibv_td_init_attr {
	uint32_t comp_mask;
};

struct ibv_td {
	struct ibv_context *context;
};

enum ibv_parent_domain_init_attr_mask {
	IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS = 1 << 0,
	IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT = 1 << 1,
};

struct ibv_parent_domain_init_attr {
	struct ibv_pd *pd;
	struct ibv_td *td;
	uint32_t comp_mask;
	void *(*alloc)(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type);
	void *pd_context;
};

static inline struct ibv_td *ibv_alloc_td(struct ibv_context *context,
					  struct ibv_td_init_attr *attr)
{
	return (struct ibv_td *)ibv_absent();
}

static inline int ibv_dealloc_td(struct ibv_td *td)
{
	return EOPNOTSUPP;
}

static inline struct ibv_pd *ibv_alloc_parent_domain(struct ibv_context *context,
						     struct ibv_parent_domain_init_attr *attr)
{
	return (struct ibv_pd *)ibv_absent();
}

/* --- queue pairs: rate limits, enhanced connection establishment --- */

struct ibv_qp_rate_limit_attr {
	uint32_t rate_limit, max_burst_sz;
	uint16_t typical_pkt_sz;
	uint32_t comp_mask;
};

struct ibv_ece {
	uint32_t vendor_id, options, comp_mask;
};

static inline int ibv_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
	return EOPNOTSUPP;
}

static inline int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return EOPNOTSUPP;
}

static inline int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return ibv_set_ece(qp, ece);
}

/* 0: the order in which bytes are written is not guaranteed. */
static inline int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op,
					     uint32_t flags)
{
	return 0;
}

#endif
