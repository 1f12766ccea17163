# drivers/infiniband/hw/mlx4/qp.c order_doorbell accesses
# no write barrier stands before the doorbell of a send queue
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_send/,/^}/ {
	/Make sure that descriptors are written before/,/wmb();/ {
		/wmb();/d
	}
}
