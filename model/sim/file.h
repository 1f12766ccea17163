/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a user names: read with a bound, and written so that a failure says its own cause.
 * Each error is printed to err (NULL: to nobody) as one line, "path: what is wrong".
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
	FILE_REGULAR, /* what a tool has written: nothing else can stand there */
};

enum { FILE_LINE_MAX = 1 << 20 };

/* 0 or -errno, printed. A folder is no file; nothing is waited for unless a pipe is welcome. */
int file_open(FILE **in, const char *path, enum file_kind kind, FILE *err);

/*
 * All of a file of at most `most` bytes, with a zero byte behind it; the caller frees. Reading ends
 * at a zero byte within the file, for that is no text: strlen(*text) is then less than *len. 0 or
 * -errno, printed: -EFBIG.
 */
int file_text(char **text, size_t *len, const char *path, enum file_kind kind, size_t most,
	      FILE *err);

/* As getline(), but -1 with errno EFBIG for a line of more than FILE_LINE_MAX bytes; at the end -1
 * with errno 0. */
ssize_t file_line(FILE *in, char **line, size_t *room);

struct file_out {
	FILE *out;
	const char *path; /* borrowed */
	int fd;
	int error; /* 0 or -errno: the first that writing gave */
};

/* Makes or empties a file. 0 or -errno, printed. */
int file_create(struct file_out *f, const char *path, FILE *err);
/* Writes the rest and closes. rc: what went wrong so far, 0 or -errno; the result is the cause,
 * which is printed: a failed write comes before rc. */
int file_finish(struct file_out *f, int rc, FILE *err);

#ifdef __cplusplus
}
#endif

#endif
