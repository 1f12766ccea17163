/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes written as hexadecimal digits. */
#ifndef TESTBENCH_OS_HEX_H
#define TESTBENCH_OS_HEX_H

#include <stddef.h>
#include <stdint.h>

static inline int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* Returns how many bytes the text is; 0 when it is empty, not of whole bytes, or of more than `room`. */
static inline size_t hex_read(const char *text, uint8_t *bytes, size_t room)
{
	size_t n = 0;

	for (; *text; text += 2, n++) {
		const int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

		if (low < 0 || n == room)
			return 0;
		bytes[n] = (uint8_t)(high << 4 | low);
	}
	return n;
}

#endif
