// SPDX-License-Identifier: Apache-2.0
/* See guest_file.h. */
#define _GNU_SOURCE
#include "model/vfio_user/guest_file.h"

#include "model/interface/macros.h"
#include "model/vfio_user/release.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum { LOG_GIB = 30 };
static const uint64_t bytes_max = (uint64_t)GUEST_MAX_FILE_GIB << LOG_GIB;

void guest_limit_text(enum guest_limit limit, char *text, unsigned size)
{
	static const struct {
		unsigned number;
		const char *meaning;
	} rows[] = {
#define L(name, number, meaning) [GUEST_LIMIT_##name] = {number, meaning},
		GUEST_LIMITS(L)
#undef L
	};

	if (rows[limit].number)
		snprintf(text, size, "limit %u %s", rows[limit].number, rows[limit].meaning);
	else
		snprintf(text, size, "limit %s", rows[limit].meaning);
}

/*
 * Whether the file is on a remote file system. Touching one of its pages would wait for another
 * process or machine, possibly for the client itself.
 */
static bool is_remote(const struct statfs *fs)
{
	static const uint32_t kinds[] = {
		FUSE_SUPER_MAGIC, NFS_SUPER_MAGIC,  SMB_SUPER_MAGIC,  AFS_SUPER_MAGIC,  V9FS_MAGIC,
		CODA_SUPER_MAGIC, CEPH_SUPER_MAGIC, CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if ((uint32_t)fs->f_type == kinds[i])
			return true;
	return false;
}

/* Does the checks of mmap(). They are needed here because a file that is already mapped is not
 * mapped again. */
static int access_check(int fd, bool writable)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if (flags & O_PATH)
		return -EBADF;
	if ((flags & O_ACCMODE) == O_WRONLY || (writable && (flags & O_ACCMODE) != O_RDWR))
		return -EACCES;
	return 0;
}

static int status_get(int fd, uint64_t end, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	return !S_ISREG(st->st_mode) || st->st_size < 0 || (uint64_t)st->st_size < end ? -EINVAL
										       : 0;
}

/* Decides whether the file needs careful access. The seal is read before the size: a sealed file
 * that is long enough afterwards stays long enough. */
static int careful_set(struct guest_file *file, int fd, uint64_t end, bool huge)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	int rc = status_get(fd, end, &st);

	/* If a hugetlbfs page is punched out, there may be no huge page left to replace it. */
	if (!rc)
		file->careful = seals < 0 || !(seals & F_SEAL_SHRINK) || huge ||
				(uint64_t)st.st_size < file->used;
	return rc;
}

static struct guest_file *file_find(struct guest_files *files, const struct stat *st, bool writable)
{
	struct guest_file *f = files->first;

	while (f && (f->device != st->st_dev || f->inode != st->st_ino || f->writable < writable))
		f = f->next;
	return f;
}

/* Maps the file at its present size, in place of its previous mapping. */
static int file_map(struct guest_files *files, struct guest_file *file, int fd, uint64_t size,
		    enum guest_limit *limit)
{
	uint8_t *base;

	if (size > bytes_max - (files->bytes - file->size)) {
		*limit = GUEST_LIMIT_FILE_GIB;
		return -EFBIG;
	}
	base = mmap(NULL, size, PROT_READ | (file->writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		if (errno == ENOMEM)
			*limit = GUEST_LIMIT_HOST;
		return -errno;
	}
	if (file->base)
		releaser_mapping(files->releaser, file->base, file->size);
	files->bytes += size - file->size;
	file->base = base;
	file->size = size;
	return 0;
}

static int file_make(struct guest_files *files, const struct stat *st, bool writable,
		     struct guest_file **file, enum guest_limit *limit)
{
	if (files->count >= GUEST_MAX_FILES) {
		*limit = GUEST_LIMIT_FILES;
		return -ENFILE;
	}
	*file = calloc(1, sizeof(**file));
	if (!*file) {
		*limit = GUEST_LIMIT_HOST;
		return -ENOMEM;
	}
	(*file)->device = st->st_dev;
	(*file)->inode = st->st_ino;
	(*file)->writable = writable;
	(*file)->next = files->first;
	files->first = *file;
	files->count++;
	return 0;
}

static void file_free(struct guest_files *files, struct guest_file *file)
{
	struct guest_file **link = &files->first;

	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	if (file->base)
		releaser_mapping(files->releaser, file->base, file->size);
	files->bytes -= file->size;
	files->count--;
	free(file);
}

int guest_file_get(struct guest_files *files, int fd, uint64_t end, bool writable,
		   struct guest_file **file, enum guest_limit *limit)
{
	struct guest_file *f;
	struct statfs fs;
	struct stat st;
	int rc = access_check(fd, writable);

	*limit = GUEST_LIMIT_NONE;
	if (!rc)
		rc = status_get(fd, end, &st);
	if (!rc && fstatfs(fd, &fs))
		rc = -errno;
	if (rc)
		return rc;
	if (is_remote(&fs))
		return -EOPNOTSUPP;
	f = file_find(files, &st, writable);
	if (!f)
		rc = file_make(files, &st, writable, &f, limit);
	if (rc)
		return rc;
	if (f->size < end)
		rc = file_map(files, f, fd, (uint64_t)st.st_size, limit);
	if (!rc)
		rc = careful_set(f, fd, end, (uint32_t)fs.f_type == HUGETLBFS_MAGIC);
	if (rc) {
		if (!f->ranges)
			file_free(files, f);
		return rc;
	}
	if (f->used < end)
		f->used = end;
	f->ranges++;
	*file = f;
	return 0;
}

void guest_file_put(struct guest_files *files, struct guest_file *file)
{
	if (!--file->ranges)
		file_free(files, file);
}
