/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run's files. It is created with its parents, and removed again if the run does
 * not start.
 */
#ifndef TESTBENCH_OUTDIR_H
#define TESTBENCH_OUTDIR_H

#include <stddef.h>
#include <stdio.h>

enum { OUTDIR_CHARS = 4000 };

struct outdir {
	char path[OUTDIR_CHARS];
	size_t kept; /* characters of path that existed before */
	int lock;    /* descriptor of the folder, -1: none */
};

__attribute__((format(printf, 2, 3))) void outdir_name(struct outdir *dir, const char *format, ...);
/* Creates and locks the folder, and removes the files of an earlier run from it. Returns 0; or
 * -errno after printing one line and removing the folders it created. Until outdir_release() or
 * the end of the process, others get -EBUSY for this folder. */
int outdir_create(struct outdir *dir, FILE *err);
void outdir_release(struct outdir *dir);
void outdir_file(const struct outdir *dir, const char *name, char *buf, size_t size);
/* Removes the run's files and the folders that outdir_create() created, and releases the lock. */
void outdir_undo(struct outdir *dir);

/* Checks that a file can be written, before a long run fills it. 0, or -errno after one line. */
int outdir_file_check(const char *path, FILE *err);

#endif
