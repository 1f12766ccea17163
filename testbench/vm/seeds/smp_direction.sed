# drivers/infiniband/hw/mlx4/mad.c stall:MAD traffic
# the direction bit of an answer with a directed route is set in the wrong byte, so the kernel itself drops the answer
# SPDX-License-Identifier: Apache-2.0
/^static int ib_process_mad/,/^}/ s/|= cpu_to_be16(1 << 15);/|= (__force __be16) (1 << 15);/
