/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's folder of which one file is the input: its first byte says which, the rest is what stands
 * in it. FUZZ_RUN: the folder of a real run.
 */
#include "testbench/fuzz/folder.h"
#include "testbench/fuzz/rig.h"

#include <stdlib.h>

static void open_once(void)
{
	static bool opened;

	if (opened)
		return;
	opened = true;
	folder_open(getenv("FUZZ_RUN") ? getenv("FUZZ_RUN") : "build/traces/rc_atomic");
	atexit(folder_close);
	/* what the tools have to say of it */
	stderr = fopen("/dev/null", "w");
}

int fuzz_input(const uint8_t *data, size_t size)
{
	open_once();
	if (size)
		folder_try(data[0] % FOLDER_FILE_COUNT, data + 1, size - 1);
	return 0;
}
