/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a user names. Reads are bounded, and a failed write reports its own cause. Each error
 * is printed to err (NULL: nowhere) as one line, "path: what is wrong".
 */
#ifndef MODEL_SIM_FILE_H
#define MODEL_SIM_FILE_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum file_kind {
	FILE_ANY,     /* a pipe or a device too: <(command), /dev/stdin */
	FILE_REGULAR, /* a file that a tool has written: must be a regular file */
};

enum { FILE_LINE_MAX = 1 << 20 };

/* 0 or -errno, printed. A folder is refused. Opening waits only for a pipe, and only with
 * FILE_ANY. */
int file_open(FILE **in, const char *path, enum file_kind kind, FILE *err);

/*
 * Reads a whole file of at most `most` bytes and puts a zero byte after it; the caller frees it.
 * Reading stops at a zero byte inside the file, because such a file is not text: strlen(*text) is
 * then less than *len. 0 or -errno, printed; -EFBIG when the file is too long.
 */
int file_text(char **text, size_t *len, const char *path, enum file_kind kind, size_t most,
	      FILE *err);

/* Like getline(), but a line of more than FILE_LINE_MAX bytes gives -1 with errno EFBIG. The end of
 * the file gives -1 with errno 0. */
ssize_t file_line(FILE *in, char **line, size_t *room);

struct file_out {
	FILE *out;
	const char *path; /* borrowed */
	int fd;
	int error; /* of the first write that failed: -errno, else 0 */
};

/* Makes or empties a file. 0 or -errno, printed. */
int file_create(struct file_out *f, const char *path, FILE *err);
/* Writes the rest and closes the file. rc is the caller's own result so far, 0 or -errno. Returns
 * and prints the error; if a write failed, that error takes the place of rc. */
int file_finish(struct file_out *f, int rc, FILE *err);

#ifdef __cplusplus
}
#endif

#endif
