# drivers/net/ethernet/mellanox/mlx4/cq.c arm_record accesses
# a completion event does not count the sequence number up with which its CQ is armed again
# SPDX-License-Identifier: Apache-2.0
/^void mlx4_cq_completion(/,/^}/ s/^\t++cq->arm_sn;$/\t;/
