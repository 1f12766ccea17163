# drivers/infiniband/hw/mlx4/qp.c order_receive accesses
# no write barrier stands between a receive and its doorbell record
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_recv/,/^}/ {
	/Make sure that descriptors are written before/,/wmb();/ {
		/wmb();/d
	}
}
