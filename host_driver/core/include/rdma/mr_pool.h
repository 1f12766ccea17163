/* SPDX-License-Identifier: Apache-2.0 */
/* A list of regions, from which the user of a queue pair takes them and to which he gives them
 * back: include/rdma/mr_pool.h of Linux. */
#ifndef RDMA_MR_POOL_H
#define RDMA_MR_POOL_H

#include "host_driver/core/include/rdma/ib_verbs.h"

/* Adds nr regions of ib_alloc_mr() to the list, which must be initialised. On failure it frees all
 * regions in the list. Errors as ib_alloc_mr. max_num_meta_sg must be 0, because the device has no
 * integrity regions. */
int ib_mr_pool_init(struct ib_qp *qp, struct drv_list *list, int nr, enum ib_mr_type type,
		    uint32_t max_num_sg, uint32_t max_num_meta_sg);
/* Frees the regions in the list. Regions that have been taken from it are not freed. */
void ib_mr_pool_destroy(struct ib_qp *qp, struct drv_list *list);
/* Takes a region. NULL: the list is empty. Any context, also for ib_mr_pool_put(). */
struct ib_mr *ib_mr_pool_get(struct ib_qp *qp, struct drv_list *list);
void ib_mr_pool_put(struct ib_qp *qp, struct drv_list *list, struct ib_mr *mr);

#endif
