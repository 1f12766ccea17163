# drivers/infiniband/hw/mlx4/cq.c memory_taken objects
# a CQ's buffer is released before HW2SW_CQ
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_ib_destroy_cq/,/^}/ {
	/mlx4_cq_free(/d
	s/^\tib_umem_release(.*/&\n\tmlx4_cq_free(dev->dev, \&mcq->mcq);/
}
