/* SPDX-License-Identifier: Apache-2.0 */
/* The part of libibverbs' provider interface that libibverbs' own examples use (ibv_devinfo). */
#ifndef INFINIBAND_DRIVER_H
#define INFINIBAND_DRIVER_H

#include <infiniband/verbs.h>

enum ibv_gid_type_sysfs {
	IBV_GID_TYPE_SYSFS_IB_ROCE_V1,
	IBV_GID_TYPE_SYSFS_ROCE_V2,
};

/* -1 with errno as ibv_query_gid. All GIDs of an InfiniBand port are of the first type. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
		       enum ibv_gid_type_sysfs *type);
/* -1, errno ENOENT: a simulated host has no sysfs. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

#endif
