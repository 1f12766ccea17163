/* SPDX-License-Identifier: Apache-2.0 */
/* Reads captures. */
#include "testbench/fuzz/rig.h"

int fuzz_input(const uint8_t *data, size_t size)
{
	static FILE *out;

	if (!out)
		out = fopen("/dev/null", "w");
	trace_check_file(fuzz_file(data, size), true, out);
	return 0;
}
