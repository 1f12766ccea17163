/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration files and -s settings. */
#include "model/sim/cfg.h"
#include "testbench/fuzz/rig.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size)
{
	static FILE *err;
	struct config config;
	char *text = malloc(size + 1);

	if (!err)
		err = fopen("/dev/null", "w");
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	cfg_defaults(&config);
	cfg_load_ini(&config, fuzz_file(data, size), err);
	cfg_set(&config, text, "-s", err);
	cfg_save(&config, err);
	free(text);
	return 0;
}
