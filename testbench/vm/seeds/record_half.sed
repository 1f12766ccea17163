# drivers/infiniband/hw/mlx4/cq.c record_shared objects
# a CQ of the kernel has a doorbell record of one word, and another queue has the word behind it
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_ib_create_cq/,/^}/ s/mlx4_db_alloc(dev->dev, &cq->db, 1)/mlx4_db_alloc(dev->dev, \&cq->db, 0)/
