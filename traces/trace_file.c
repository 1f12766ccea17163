/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "traces/trace_impl.h"

static struct trace_file *open_files;

int trace_file_open(struct trace_file *f, const char *path)
{
	*f = (struct trace_file){.fd = -1};
	f->buf = malloc(TRACE_FILE_BUFFER);
	if (!f->buf)
		return -ENOMEM;
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (f->fd < 0) {
		int err = -errno;

		free(f->buf);
		f->buf = NULL;
		return err;
	}
	f->next = open_files;
	open_files = f;
	return 0;
}

void trace_file_flush(struct trace_file *f)
{
	size_t done = 0;

	while (done < f->len && !f->err) {
		ssize_t n = write(f->fd, f->buf + done, f->len - done);

		if (n < 0 && errno != EINTR)
			f->err = -errno;
		else if (n > 0)
			done += (size_t)n;
	}
	f->len = 0;
}

void trace_file_write(struct trace_file *f, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n) {
		size_t part = n < TRACE_FILE_RESERVE_MAX ? n : TRACE_FILE_RESERVE_MAX;

		memcpy(trace_file_reserve(f, part), p, part);
		p += part;
		n -= part;
	}
}

void trace_files_rescue(void)
{
	for (struct trace_file *f = open_files; f; f = f->next) {
		trace_file_flush(f);
		if (f->tail)
			trace_file_write(f, f->tail, strlen(f->tail));
		trace_file_flush(f);
	}
}

int trace_file_close(struct trace_file *f)
{
	struct trace_file **at = &open_files;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	trace_file_flush(f);
	if (close(f->fd) && !f->err)
		f->err = -errno;
	free(f->buf);
	f->buf = NULL;
	return f->err;
}
