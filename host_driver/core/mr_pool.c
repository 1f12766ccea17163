// SPDX-License-Identifier: Apache-2.0
/* See rdma/mr_pool.h. */
#include "host_driver/core/include/rdma/mr_pool.h"
#include "model/interface/macros.h"

#include <errno.h>

int ib_mr_pool_init(struct ib_qp *qp, struct drv_list *list, int nr, enum ib_mr_type type,
		    uint32_t max_num_sg, uint32_t max_num_meta_sg)
{
	if (max_num_meta_sg)
		return -EINVAL;
	for (int i = 0; i < nr; i++) {
		struct ib_mr *mr = ib_alloc_mr(qp->pd, type, max_num_sg);

		if (IS_ERR(mr)) {
			ib_mr_pool_destroy(qp, list);
			return (int)PTR_ERR(mr);
		}
		drv_list_add(list, &mr->pool_entry);
	}
	return 0;
}

void ib_mr_pool_destroy(struct ib_qp *qp, struct drv_list *list)
{
	while (!drv_list_empty(list)) {
		struct ib_mr *mr = container_of(list->next, struct ib_mr, pool_entry);

		drv_list_del(&mr->pool_entry);
		ib_dereg_mr(mr);
	}
}

struct ib_mr *ib_mr_pool_get(struct ib_qp *qp, struct drv_list *list)
{
	struct ib_mr *mr;

	if (drv_list_empty(list))
		return NULL;
	mr = container_of(list->next, struct ib_mr, pool_entry);
	drv_list_del(&mr->pool_entry);
	qp->mrs_used++;
	return mr;
}

void ib_mr_pool_put(struct ib_qp *qp, struct drv_list *list, struct ib_mr *mr)
{
	drv_list_add(list, &mr->pool_entry);
	qp->mrs_used--;
}
