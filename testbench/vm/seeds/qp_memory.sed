# drivers/infiniband/hw/mlx4/qp.c memory_taken objects
# a QP's buffer is released before the QP is reset
# SPDX-License-Identifier: Apache-2.0
/^static void destroy_qp_common/,/^}/ {
	/^\tib_umem_release(/d
	s/^\tif (qp->state != IB_QPS_RESET) {/\tib_umem_release(qp->umem);\n&/
}
