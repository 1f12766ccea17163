// SPDX-License-Identifier: Apache-2.0
/* See guest_memory.h. */
#define _GNU_SOURCE
#include "model/vfio_user/guest_memory.h"

#include "model/vfio_user/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FIRST_ROOM = 16, TAIL = 64 };

/* Index of the first range that ends behind `bus`. */
static size_t find_from(const struct guest_memory *m, uint64_t bus)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct guest_range *r = &m->ranges[mid];

		if (bus - r->start < r->size || bus < r->start)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static bool has(const struct guest_range *r, uint64_t bus)
{
	return bus >= r->start && bus - r->start < r->size;
}

const struct guest_range *guest_memory_find(struct guest_memory *m, uint64_t bus)
{
	size_t i = m->latest;

	if (i >= m->count || !has(&m->ranges[i], bus))
		i = find_from(m, bus);
	if (i == m->count || !has(&m->ranges[i], bus))
		return NULL;
	m->latest = i;
	return &m->ranges[i];
}

/* The file must have every byte that is asked for. */
static int file_covers(int fd, uint64_t offset, uint64_t size)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size < 0 || offset > (uint64_t)st.st_size || size > (uint64_t)st.st_size - offset)
		return -EINVAL;
	return 0;
}

static int range_map(struct guest_range *r, int fd, uint64_t offset)
{
	int protection = (r->readable ? PROT_READ : 0) | (r->writable ? PROT_WRITE : 0);
	int seals, rc = file_covers(fd, offset, r->size);

	if (rc)
		return rc;
	r->base = mmap(NULL, r->size, protection, MAP_SHARED, fd, (off_t)offset);
	if (r->base == MAP_FAILED)
		return -errno;
	seals = fcntl(fd, F_GET_SEALS);
	r->may_shrink = seals < 0 || !(seals & F_SEAL_SHRINK);
	/* It may have shrunk before it was sealed. */
	rc = file_covers(fd, offset, r->size);
	if (rc)
		munmap(r->base, r->size);
	return rc;
}

static int make_room(struct guest_memory *m)
{
	size_t room = m->room ? m->room * 2 : FIRST_ROOM;
	struct guest_range *ranges;

	if (m->count < m->room)
		return 0;
	if (m->count >= VFU_MAX_MAPS)
		return -ENOSPC;
	ranges = realloc(m->ranges, room * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	m->ranges = ranges;
	m->room = room;
	return 0;
}

int guest_memory_map(struct guest_memory *m, uint64_t start, uint64_t size, int fd, uint64_t offset,
		     bool readable, bool writable)
{
	struct guest_range r = {
		.start = start, .size = size, .readable = readable, .writable = writable};
	size_t at;
	int rc;

	if (!size || (start | size | offset) % VFU_PAGE || start + size - 1 < start ||
	    offset + size < offset || offset + size > INT64_MAX)
		return -EINVAL;
	at = find_from(m, start);
	if (at < m->count && m->ranges[at].start - start < size)
		return -EEXIST;
	if (at < m->count && has(&m->ranges[at], start))
		return -EEXIST;
	rc = make_room(m);
	if (!rc && fd >= 0)
		rc = range_map(&r, fd, offset);
	if (rc)
		return rc;
	memmove(&m->ranges[at + 1], &m->ranges[at], (m->count - at) * sizeof(r));
	m->ranges[at] = r;
	m->count++;
	return 0;
}

int guest_memory_unmap(struct guest_memory *m, uint64_t start, uint64_t size)
{
	const uint64_t last = start + size - 1;
	size_t at = find_from(m, start), end = at;

	if (!size || last < start)
		return -EINVAL;
	while (end < m->count && m->ranges[end].start <= last) {
		const struct guest_range *r = &m->ranges[end++];

		if (r->start < start || r->start + r->size - 1 > last)
			return -EINVAL;
	}
	if (end == at)
		return 0;
	for (size_t i = at; i < end; i++)
		if (m->ranges[i].base)
			munmap(m->ranges[i].base, m->ranges[i].size);
	memmove(&m->ranges[at], &m->ranges[end], (m->count - end) * sizeof(m->ranges[0]));
	m->count -= end - at;
	return 0;
}

void guest_memory_unmap_all(struct guest_memory *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->ranges[i].base)
			munmap(m->ranges[i].base, m->ranges[i].size);
	free(m->ranges);
	memset(m, 0, sizeof(*m));
}

/* --- bytes --- */

/* Ascending, a word of 8 where both sides are aligned alike; nothing moves across a fence. */
static void copy_ordered(uint8_t *to, const uint8_t *from, size_t len, const uint8_t *guest)
{
	while (len) {
		size_t n = (uintptr_t)guest % sizeof(uint64_t) || len < sizeof(uint64_t)
				   ? 1
				   : sizeof(uint64_t);

		if (n == 1 && !((uintptr_t)guest % sizeof(uint32_t)) && len >= sizeof(uint32_t))
			n = sizeof(uint32_t);
		if (n == sizeof(uint64_t))
			memcpy(to, from, sizeof(uint64_t));
		else if (n == sizeof(uint32_t))
			memcpy(to, from, sizeof(uint32_t));
		else
			*to = *from;
		atomic_thread_fence(memory_order_acq_rel);
		to += n;
		from += n;
		guest += n;
		len -= n;
	}
}

static void copy_in(uint8_t *buf, const uint8_t *guest, size_t len)
{
	if (len <= GUEST_ORDERED)
		copy_ordered(buf, guest, len, guest);
	else
		memcpy(buf, guest, len);
}

static void copy_out(uint8_t *guest, const uint8_t *buf, size_t len)
{
	size_t first = len <= GUEST_ORDERED ? 0 : len - TAIL;

	memcpy(guest, buf, first);
	atomic_thread_fence(memory_order_release);
	copy_ordered(guest + first, buf + first, len - first, guest + first);
}

/* Through the kernel: -EFAULT where the file has no such page any more. */
static int copy_careful(void *buf, uint8_t *guest, size_t len, bool write)
{
	struct iovec local = {buf, len}, remote = {guest, len};
	ssize_t n = write ? process_vm_writev(getpid(), &local, 1, &remote, 1, 0)
			  : process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return n == (ssize_t)len ? 0 : -EFAULT;
}

static bool reachable(struct guest_memory *m, uint64_t bus, size_t len, bool write)
{
	while (len) {
		const struct guest_range *r = guest_memory_find(m, bus);
		uint64_t rest;

		if (!r || !r->base || !(write ? r->writable : r->readable))
			return false;
		rest = r->size - (bus - r->start);
		if (rest >= len)
			return true;
		bus += rest;
		len -= rest;
	}
	return true;
}

static int move(struct guest_memory *m, uint64_t bus, uint8_t *buf, size_t len, bool write)
{
	if (!reachable(m, bus, len, write))
		return -EFAULT;
	while (len) {
		const struct guest_range *r = guest_memory_find(m, bus);
		uint8_t *guest = r->base + (bus - r->start);
		size_t n = len;

		if (r->size - (bus - r->start) < n)
			n = r->size - (bus - r->start);
		if (r->may_shrink) {
			if (copy_careful(buf, guest, n, write))
				return -EFAULT;
		} else if (write) {
			copy_out(guest, buf, n);
		} else {
			copy_in(buf, guest, n);
		}
		bus += n;
		buf += n;
		len -= n;
	}
	return 0;
}

int guest_memory_read(struct guest_memory *m, uint64_t bus, void *buf, size_t len)
{
	return move(m, bus, buf, len, false);
}

int guest_memory_write(struct guest_memory *m, uint64_t bus, const void *buf, size_t len)
{
	/* only read from: write is true */
	return move(m, bus, (uint8_t *)(uintptr_t)buf, len, true);
}
