# drivers/infiniband/hw/mlx4/mr.c memory_taken objects
# a region's memory is released before HW2SW_MPT
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_ib_dereg_mr/,/^}/ {
	/if (mr->umem)/,/ib_umem_release/d
	s/^\tmlx4_free_priv_pages(mr);/&\n\tib_umem_release(mr->umem);/
}
