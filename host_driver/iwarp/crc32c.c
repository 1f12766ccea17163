/* SPDX-License-Identifier: Apache-2.0 */
#include "host_driver/iwarp/crc32c.h"

enum { CRC32C_POLY = 0x82f63b78 };

uint32_t iw_crc32c(uint32_t crc, const uint8_t *bytes, size_t n)
{
	crc = ~crc;
	while (n--) {
		crc ^= *bytes++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? (uint32_t)CRC32C_POLY : 0);
	}
	return ~crc;
}
