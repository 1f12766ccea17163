/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a run's files: made with its parents, and taken away again when the run does not
 * start.
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
/* 0 or -errno, printed as one line; then what was made is gone again. Files of an earlier run in
 * it, and its report, are removed. Until outdir_release() or the end of the process nobody else can
 * take the folder: -EBUSY. */
int outdir_create(struct outdir *dir, FILE *err);
void outdir_release(struct outdir *dir);
void outdir_file(const struct outdir *dir, const char *name, char *buf, size_t size);
/* Removes the run's files, and the folders that outdir_create() made; releases it. */
void outdir_undo(struct outdir *dir);

/* Whether a file can be written, before the work whose result it takes. 0 or -errno, printed. */
int outdir_file_check(const char *path, FILE *err);

#endif
