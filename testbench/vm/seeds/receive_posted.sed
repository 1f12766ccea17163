# drivers/infiniband/hw/mlx4/qp.c device_memory_written accesses
# a receive is stored into when the doorbell record has counted it
# SPDX-License-Identifier: Apache-2.0
/^static int _mlx4_ib_post_recv/,/^}/ s/^\t\t\*qp->db.db = .*/&\n\t\tWRITE_ONCE(scat->byte_count, scat->byte_count);/
