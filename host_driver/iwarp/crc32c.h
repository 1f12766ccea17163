/* SPDX-License-Identifier: Apache-2.0 */
/* CRC32c as MPA uses it: reflected polynomial 0x82f63b78 (RFC 5044 section 4.4, RFC 3720 section
 * 12.1). */
#ifndef HOST_DRIVER_IWARP_CRC32C_H
#define HOST_DRIVER_IWARP_CRC32C_H

#include <stddef.h>
#include <stdint.h>

enum { IW_CRC_BYTES = 4 };

/* Goes on with a sum; the first one is 0. */
uint32_t iw_crc32c(uint32_t crc, const uint8_t *bytes, size_t n);

#endif
