/* SPDX-License-Identifier: Apache-2.0 */
/* A list of regions that a queue pair's user takes and gives back: include/rdma/mr_pool.h of Linux.
 */
#ifndef RDMA_MR_POOL_H
#define RDMA_MR_POOL_H

#include "host_driver/core/include/rdma/ib_verbs.h"

/* nr regions of ib_alloc_mr() in the list, which may be empty so far. On failure it is empty. The
 * errors of ib_alloc_mr; max_num_meta_sg must be 0 (the device has no integrity regions). */
int ib_mr_pool_init(struct ib_qp *qp, struct drv_list *list, int nr, enum ib_mr_type type,
		    uint32_t max_num_sg, uint32_t max_num_meta_sg);
/* Frees the regions in the list. Regions that have been taken from it are not freed. */
void ib_mr_pool_destroy(struct ib_qp *qp, struct drv_list *list);
/* NULL: the list is empty. Any context, as the next. */
struct ib_mr *ib_mr_pool_get(struct ib_qp *qp, struct drv_list *list);
void ib_mr_pool_put(struct ib_qp *qp, struct drv_list *list, struct ib_mr *mr);

#endif
