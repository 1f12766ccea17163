/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors in pointers, as the kernel's functions return them: the top 4095 addresses are -errno.
 */
#ifndef HOST_DRIVER_CORE_ERR_H
#define HOST_DRIVER_CORE_ERR_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_ERRNO = 4095 };

static inline void *ERR_PTR(long error)
{
	return (void *)(intptr_t)error;
}

static inline long PTR_ERR(const void *ptr)
{
	return (long)(intptr_t)ptr;
}

static inline bool IS_ERR(const void *ptr)
{
	return (uintptr_t)ptr >= (uintptr_t)-MAX_ERRNO;
}

#endif
