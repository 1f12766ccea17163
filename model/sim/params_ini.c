/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the ini files that are generated from the parameter rows: params_ini default|ideal. */
#include <stdio.h>
#include <string.h>

#include "model/sim/cfg.h"

int main(int argc, char **argv)
{
	struct config cfg;

	cfg_defaults(&cfg);
	if (argc == 2 && !strcmp(argv[1], "ideal")) {
		cfg_make_ideal(&cfg);
	} else if (argc != 2 || strcmp(argv[1], "default")) {
		fprintf(stderr, "usage: params_ini default|ideal\n");
		return 2;
	}
	return cfg_save(&cfg, stdout) ? 1 : 0;
}
