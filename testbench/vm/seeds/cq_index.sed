# drivers/infiniband/hw/mlx4/cq.c entry_not_owned accesses
# a CQE is given back before it is read
# SPDX-License-Identifier: Apache-2.0
/^static int mlx4_ib_poll_one/,/^}/ s/^\t++cq->mcq.cons_index;/&\n\tmlx4_cq_set_ci(\&cq->mcq);/
