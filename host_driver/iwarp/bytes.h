/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in network order, and bytes that wait to be sent. */
#ifndef HOST_DRIVER_IWARP_BYTES_H
#define HOST_DRIVER_IWARP_BYTES_H

#include "host_driver/mlx4/alloc.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint16_t get_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)get_be16(p) << 16 | get_be16(p + 2);
}

static inline uint64_t get_be64(const uint8_t *p)
{
	return (uint64_t)get_be32(p) << 32 | get_be32(p + 4);
}

static inline void put_be16(uint8_t *p, uint16_t v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_be32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_be64(uint8_t *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
}

/* Appends n bytes, at least one, to *buffer, which holds *used and moves to larger memory. 0, or
 * -ENOMEM with nothing changed. */
static inline int bytes_append(uint8_t **buffer, size_t *used, const uint8_t *bytes, size_t n)
{
	uint8_t *grown = drv_calloc(1, *used + n);

	if (!grown)
		return -ENOMEM;
	if (*used)
		memcpy(grown, *buffer, *used);
	memcpy(grown + *used, bytes, n);
	free(*buffer);
	*buffer = grown;
	*used += n;
	return 0;
}

#endif
