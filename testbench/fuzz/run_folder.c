/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run's folder in which one file comes from the input. The first byte selects the file, and the
 * rest is its content. FUZZ_RUN is the folder of a real run.
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
	/* hides what the tools print */
	stderr = fopen("/dev/null", "w");
}

int fuzz_input(const uint8_t *data, size_t size)
{
	open_once();
	if (size)
		folder_try(data[0] % FOLDER_FILE_COUNT, data + 1, size - 1);
	return 0;
}
