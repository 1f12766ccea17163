# drivers/infiniband/hw/mlx4/doorbell.c not_given_back objects
# the page of a program's doorbell records is counted twice, so it stays pinned and mapped when the last record is freed
# SPDX-License-Identifier: Apache-2.0
/^int mlx4_ib_db_map_user/,/^}/ s/^\t++page->refcnt;/\tpage->refcnt += 2;/
