// SPDX-License-Identifier: Apache-2.0
/* In which list or slot of a hash table a key stands. Addresses, offsets and numbers come in strides, and their low
 * bits repeat. The high bits of their product with 2^64 / golden ratio spread them (Knuth, TAOCP 3, 6.4). */
#ifndef HCASIM_DSAN_BUCKET_H
#define HCASIM_DSAN_BUCKET_H

#include <stddef.h>
#include <stdint.h>

/* `bits`: 1 to 32; the table has 1 << bits of them. */
static inline size_t bucket_number(uint64_t key, unsigned bits)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
}

#endif
