# drivers/infiniband/hw/mlx4/qp.c order_wqe_body accesses
# no write barrier stands before a work request's owner bit
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_send/,/^}/ {
	/executing as soon as we do/,/wmb();/ {
		/wmb();/d
	}
}
