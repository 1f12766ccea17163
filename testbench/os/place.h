/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the program finds its own files. It looks from the folder that the executable is in, so
 * that a build tree and an installation can both be moved. Each place has a path in an installation
 * and one in a build tree; the first of the two that exists is taken.
 */
#ifndef TESTBENCH_PLACE_H
#define TESTBENCH_PLACE_H

#include <stddef.h>
#include <stdio.h>

enum place {
	PLACE_FIRMWARE,   /* the folder of hcasim-fw.elf */
	PLACE_DATA,       /* configs/, testbench/perf/, testbench/programs/ */
	PLACE_HEADERS,    /* the headers that scenario files include */
	PLACE_GENERATED,  /* those of them that the build makes */
	PLACE_TEST_LOGS,  /* of the last make test; an installation has none */
	PLACE_VM_RESULTS, /* of the last make vm-test; an installation has none */
};

/* The path of the running executable. 0 or -errno. */
int place_executable(char *buf, size_t size);
/*
 * The path of the file or folder `name` in a place; "" is the place itself. 0; or -errno, with one
 * line printed to err (NULL: nowhere) that names both paths that were tried.
 */
int place_find(enum place place, const char *name, char *buf, size_t size, FILE *err);
/* The firmware: the file `fw`, or for NULL the one that belongs to this program. 0 or -errno. */
int place_firmware(const char *fw, char *buf, size_t size);
/*
 * The folder that runs without -o write below: traces/ beside the executable of a build tree,
 * hcasim-traces/ in the working directory for an installed one. It may not exist yet.
 */
int place_runs(char *buf, size_t size);

#endif
