// SPDX-License-Identifier: Apache-2.0
/* See file.h. */
#define _GNU_SOURCE /* fopencookie */
#include "model/sim/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16, FIRST_MAX = 1 << 26, LINE_ROOM = 256 };

static int complain(FILE *err, const char *path, const char *what, int rc)
{
	if (err)
		fprintf(err, "%s: %s\n", path, what);
	return rc;
}

int file_open(FILE **in, const char *path, enum file_kind kind, FILE *err)
{
	/* without O_NONBLOCK, opening a pipe would wait for its writer */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | (kind == FILE_REGULAR ? O_NONBLOCK : 0));
	struct stat st;
	int rc = 0;

	if (fd < 0 || fstat(fd, &st))
		rc = complain(err, path, strerror(errno), -errno);
	else if (S_ISDIR(st.st_mode))
		rc = complain(err, path, strerror(EISDIR), -EISDIR);
	else if (kind == FILE_REGULAR && !S_ISREG(st.st_mode))
		rc = complain(err, path, "not a regular file", -EINVAL);
	if (!rc) {
		*in = fdopen(fd, "r");
		if (*in)
			return 0;
		rc = complain(err, path, strerror(errno), -errno);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

/* --- whole texts --- */

struct growing {
	char *s;
	size_t len, room;
};

/* Makes room for a piece and a terminator after the text read so far. */
static int make_room(struct growing *t, size_t hint)
{
	size_t room = t->room ? 2 * t->room : (hint < FIRST_MAX ? hint : FIRST_MAX) + PIECE + 1;
	char *more;

	if (t->room - t->len > PIECE)
		return 0;
	more = realloc(t->s, room);
	if (!more)
		return -ENOMEM;
	t->s = more;
	t->room = room;
	return 0;
}

static int read_all(struct growing *t, FILE *in, size_t most)
{
	struct stat st;
	size_t n;

	if (fstat(fileno(in), &st))
		return -errno;
	if ((size_t)st.st_size > most)
		return -EFBIG;
	do {
		if (make_room(t, (size_t)st.st_size))
			return -ENOMEM;
		errno = 0;
		n = fread(t->s + t->len, 1, PIECE, in);
		if (ferror(in))
			return errno ? -errno : -EIO;
		t->len += n;
		if (t->len > most)
			return -EFBIG;
	} while (n == PIECE && !memchr(t->s + t->len - n, 0, n));
	t->s[t->len] = 0;
	return 0;
}

int file_text(char **text, size_t *len, const char *path, enum file_kind kind, size_t most,
	      FILE *err)
{
	struct growing t = {0};
	char what[64];
	FILE *in;
	int rc = file_open(&in, path, kind, err);

	if (rc)
		return rc;
	rc = read_all(&t, in, most);
	fclose(in);
	if (rc) {
		free(t.s);
		snprintf(what, sizeof(what), "expected at most %zu bytes", most);
		return complain(err, path, rc == -EFBIG ? what : strerror(-rc), rc);
	}
	*text = realloc(t.s, t.len + 1);
	*text = *text ? *text : t.s;
	*len = t.len;
	return 0;
}

ssize_t file_line(FILE *in, char **line, size_t *room)
{
	size_t n = 0;
	int c;

	errno = 0;
	do {
		if (n + 1 >= *room) {
			size_t more = *room ? 2 * *room : LINE_ROOM;
			char *grown = realloc(*line, more);

			if (!grown)
				return -1;
			*line = grown;
			*room = more;
		}
		c = getc_unlocked(in);
		if (c == EOF)
			break;
		if (n == FILE_LINE_MAX) {
			errno = EFBIG;
			return -1;
		}
		(*line)[n++] = (char)c;
	} while (c != '\n');
	(*line)[n] = 0;
	return n && !ferror(in) ? (ssize_t)n : -1;
}

/* --- writing --- */

/* stdio remembers that a write failed, but not why; this keeps the errno. */
static ssize_t cookie_write(void *cookie, const char *bytes, size_t n)
{
	struct file_out *f = cookie;
	size_t done = 0;

	while (done < n) {
		const ssize_t part = write(f->fd, bytes + done, n - done);

		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0) {
			if (!f->error)
				f->error = part ? -errno : -ENOSPC;
			return 0;
		}
		done += (size_t)part;
	}
	return (ssize_t)n;
}

int file_create(struct file_out *f, const char *path, FILE *err)
{
	const cookie_io_functions_t io = {.write = cookie_write};
	int rc;

	*f = (struct file_out){.path = path};
	f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	f->out = f->fd < 0 ? NULL : fopencookie(f, "w", io);
	if (f->out)
		return 0;
	rc = complain(err, path, strerror(errno), -errno);
	if (f->fd >= 0)
		close(f->fd);
	return rc;
}

int file_finish(struct file_out *f, int rc, FILE *err)
{
	fclose(f->out);
	if (close(f->fd) && !f->error)
		f->error = -errno;
	if (f->error)
		rc = f->error;
	return rc ? complain(err, f->path, strerror(-rc), rc) : 0;
}
