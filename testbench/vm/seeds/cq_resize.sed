# drivers/infiniband/hw/mlx4/cq.c memory_taken objects
# a CQ's old buffer is released before MODIFY_CQ has given it the new one
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_ib_resize_cq/,/^}/ {
	/^\t\tib_umem_release(cq->umem);/d
	s/^\tmtt = cq->buf.mtt;/&\n\tif (ibcq->uobject)\n\t\tib_umem_release(cq->umem);/
}
