/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target with libFuzzer's main(). */
#include "testbench/fuzz/rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_input(data, size) ? -1 : 0;
}
