/* SPDX-License-Identifier: Apache-2.0 */
/* See outdir.h. */
#include "testbench/os/outdir.h"

#include "model/interface/macros.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const run_files[] = {"packets.pcapng", "run.log",       "run.records",
					"waves.vcd",      "timeline.json", "config.ini",
					"stats.json",     "run.json",      "report.html"};

void outdir_name(struct outdir *dir, const char *format, ...)
{
	va_list args;
	size_t n;

	va_start(args, format);
	vsnprintf(dir->path, sizeof(dir->path), format, args);
	va_end(args);
	n = strlen(dir->path);
	while (n > 1 && dir->path[n - 1] == '/')
		dir->path[--n] = 0;
	dir->kept = n;
	dir->lock = -1;
}

void outdir_file(const struct outdir *dir, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "%s/%s", dir->path, name);
}

static void remove_files(const struct outdir *dir)
{
	char path[OUTDIR_CHARS + 32];

	for (size_t i = 0; i < ARRAY_SIZE(run_files); i++) {
		outdir_file(dir, run_files[i], path, sizeof(path));
		unlink(path);
	}
}

static int make(const char *path)
{
	struct stat st;

	if (!mkdir(path, 0777))
		return 0;
	if (errno != EEXIST)
		return -errno;
	if (stat(path, &st))
		return -errno;
	return S_ISDIR(st.st_mode) ? 1 : -ENOTDIR;
}

/* A file system without locks: nobody is kept out. */
static int take(struct outdir *dir)
{
	dir->lock = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir->lock < 0)
		return -errno;
	if (!flock(dir->lock, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0;
	outdir_release(dir);
	return -EBUSY;
}

void outdir_release(struct outdir *dir)
{
	if (dir->lock >= 0)
		close(dir->lock);
	dir->lock = -1;
}

int outdir_create(struct outdir *dir, FILE *err)
{
	size_t n = strlen(dir->path), existed = 0;
	char part[OUTDIR_CHARS];
	int rc;

	dir->kept = n;
	for (size_t i = 1; i <= n; i++) {
		if ((dir->path[i] && dir->path[i] != '/') || dir->path[i - 1] == '/')
			continue;
		memcpy(part, dir->path, i);
		part[i] = 0;
		rc = make(part);
		if (rc < 0) {
			fprintf(err, "%s: %s\n", part, strerror(-rc));
			dir->kept = existed;
			outdir_undo(dir);
			return rc;
		}
		if (rc == 1)
			existed = i;
	}
	dir->kept = existed;
	rc = take(dir);
	if (rc) {
		fprintf(err, "%s: %s\n", dir->path,
			rc == -EBUSY ? "another run is writing there" : strerror(-rc));
		dir->kept = n;
		return rc;
	}
	remove_files(dir);
	return 0;
}

void outdir_undo(struct outdir *dir)
{
	char part[OUTDIR_CHARS];
	size_t n = strlen(dir->path);

	outdir_release(dir);
	if (dir->kept == n)
		return;
	remove_files(dir);
	for (; n > dir->kept; n--) {
		if (dir->path[n] && dir->path[n] != '/')
			continue;
		memcpy(part, dir->path, n);
		part[n] = 0;
		rmdir(part);
	}
	dir->kept = strlen(dir->path);
}

int outdir_file_check(const char *path, FILE *err)
{
	const bool existed = !access(path, F_OK);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0) {
		const int rc = -errno;

		fprintf(err, "%s: %s\n", path, strerror(-rc));
		return rc;
	}
	close(fd);
	if (!existed)
		unlink(path);
	return 0;
}
