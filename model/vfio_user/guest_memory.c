// SPDX-License-Identifier: Apache-2.0
/* See guest_memory.h. */
#define _GNU_SOURCE
#include "model/vfio_user/guest_memory.h"

#include "model/vfio_user/protocol.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_ROOM = 16,
	TAIL = 64,
};

/* Index of the first range that ends after `bus`. */
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

/* The range that contains this address, or NULL. */
static const struct guest_range *find(struct guest_memory *m, uint64_t bus)
{
	size_t i = m->latest;

	if (i >= m->count || !has(&m->ranges[i], bus))
		i = find_from(m, bus);
	if (i == m->count || !has(&m->ranges[i], bus))
		return NULL;
	m->latest = i;
	return &m->ranges[i];
}

/* Whether the range was refused. Nothing of a refused range is in use, so a new range that overlaps
 * it replaces it. */
static bool is_refused(const struct guest_range *r)
{
	return r->limit != GUEST_LIMIT_NONE;
}

static void ranges_drop(struct guest_memory *m, size_t at, size_t end)
{
	if (end == at)
		return;
	for (size_t i = at; i < end; i++) {
		if (m->ranges[i].file)
			guest_file_put(&m->files, m->ranges[i].file);
		m->refused -= is_refused(&m->ranges[i]);
	}
	memmove(&m->ranges[at], &m->ranges[end], (m->count - end) * sizeof(m->ranges[0]));
	m->count -= end - at;
}

/* Index after the last range that begins at or below `last`. */
static size_t find_end(const struct guest_memory *m, size_t at, uint64_t last)
{
	while (at < m->count && m->ranges[at].start <= last)
		at++;
	return at;
}

size_t guest_memory_count(const struct guest_memory *m)
{
	return m->count - m->refused;
}

static int make_room(struct guest_memory *m)
{
	size_t room = m->room ? m->room * 2 : FIRST_ROOM;
	struct guest_range *ranges;

	if (m->count < m->room)
		return 0;
	ranges = realloc(m->ranges, room * sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	m->ranges = ranges;
	m->room = room;
	return 0;
}

static void insert(struct guest_memory *m, size_t at, const struct guest_range *r)
{
	memmove(&m->ranges[at + 1], &m->ranges[at], (m->count - at) * sizeof(*r));
	m->ranges[at] = *r;
	m->count++;
	m->refused += is_refused(r);
}

/* Where a copy ends that meets a page which its file no longer has; NULL: none is under way. */
static _Thread_local sigjmp_buf *volatile way_out;
static struct sigaction bus_before;

/* Another fault of this kind happens again, with the action that was there before. */
static void on_bus_error(int number)
{
	if (way_out)
		siglongjmp(*way_out, 1);
	sigaction(number, &bus_before, NULL);
}

/* Somebody else may have set an action since the last time. */
static void bus_errors_catch(void)
{
	/* SA_NODEFER: the jump leaves the signal unblocked */
	const struct sigaction action = {.sa_handler = on_bus_error, .sa_flags = SA_NODEFER};
	struct sigaction now;

	if (sigaction(SIGBUS, NULL, &now) || now.sa_handler == on_bus_error)
		return;
	bus_before = now;
	sigaction(SIGBUS, &action, NULL);
}

static int range_take(struct guest_memory *m, struct guest_range *r, int fd)
{
	int rc;

	if (guest_memory_count(m) >= GUEST_MAX_MAPS) {
		r->limit = GUEST_LIMIT_MAPS;
		return -ENOSPC;
	}
	if (fd < 0)
		return 0;
	rc = guest_file_get(&m->files, fd, r->offset + r->size, r->writable, &r->file, &r->limit);
	if (!rc && r->file->careful)
		bus_errors_catch();
	return rc;
}

int guest_memory_map(struct guest_memory *m, const struct guest_map *map, enum guest_limit *limit)
{
	struct guest_range r = {.start = map->start,
				.size = map->size,
				.offset = map->offset,
				.readable = map->readable,
				.writable = map->writable};
	const uint64_t last = r.start + r.size - 1;
	size_t at = find_from(m, r.start), end;
	int rc;

	*limit = GUEST_LIMIT_NONE;
	if (!r.size || (r.start | r.size | r.offset) % VFU_PAGE || last < r.start ||
	    r.offset + r.size < r.offset || r.offset + r.size > INT64_MAX)
		return -EINVAL;
	end = find_end(m, at, last);
	for (size_t i = at; i < end; i++)
		if (!is_refused(&m->ranges[i]))
			return -EEXIST;
	ranges_drop(m, at, end);
	rc = range_take(m, &r, map->fd);
	*limit = r.limit;
	if (rc && !r.limit)
		return rc;
	if (r.limit && m->refused >= GUEST_MAX_MAPS) {
		m->lost = r.limit;
		return rc;
	}
	if (make_room(m)) {
		if (r.file)
			guest_file_put(&m->files, r.file);
		*limit = m->lost = GUEST_LIMIT_HOST;
		return -ENOMEM;
	}
	insert(m, at, &r);
	return rc;
}

int guest_memory_unmap(struct guest_memory *m, uint64_t start, uint64_t size)
{
	const uint64_t last = start + size - 1;
	size_t at = find_from(m, start), end = find_end(m, at, last);

	if (!size || last < start)
		return -EINVAL;
	for (size_t i = at; i < end; i++) {
		const struct guest_range *r = &m->ranges[i];

		if (!is_refused(r) && (r->start < start || r->start + r->size - 1 > last))
			return -EINVAL;
	}
	ranges_drop(m, at, end);
	return 0;
}

void guest_memory_unmap_all(struct guest_memory *m)
{
	struct releaser *releaser = m->files.releaser;

	ranges_drop(m, 0, m->count);
	free(m->ranges);
	memset(m, 0, sizeof(*m));
	m->files.releaser = releaser;
}

enum guest_lack guest_memory_lack(struct guest_memory *m, uint64_t bus, enum guest_limit *limit)
{
	const struct guest_range *r = find(m, bus);

	*limit = r ? r->limit : m->lost;
	if (*limit)
		return GUEST_LACK_LIMIT;
	return r && !r->file ? GUEST_LACK_FILE : GUEST_LACK_UNMAPPED;
}

/* --- bytes --- */

/* Copies in ascending order, with a fence after each access. Moves aligned words of 8 or 4 bytes of
 * guest memory in one access, else single bytes. */
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

static void copy_out(uint8_t *guest, const uint8_t *buf, size_t len)
{
	size_t first = len <= GUEST_ORDERED ? 0 : len - TAIL;

	memcpy(guest, buf, first);
	atomic_thread_fence(memory_order_release);
	copy_ordered(guest + first, buf + first, len - first, guest + first);
}

static void copy_trusted(uint8_t *buf, uint8_t *guest, size_t len, bool write)
{
	if (write)
		copy_out(guest, buf, len);
	else
		copy_ordered(buf, guest, len, guest);
}

/* -EFAULT where the file no longer has the page. The kernel's own copies (process_vm_readv) are no
 * other way: with FSRM they are one string instruction, which keeps no order. On an AMD EPYC it read
 * the second half of a cache line first, and an owner bit was newer than the words behind it. */
static int copy_careful(uint8_t *buf, uint8_t *guest, size_t len, bool write)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		way_out = NULL;
		return -EFAULT;
	}
	way_out = &here;
	copy_trusted(buf, guest, len, write);
	way_out = NULL;
	return 0;
}

static bool reachable(struct guest_memory *m, uint64_t bus, size_t len, bool write)
{
	while (len) {
		const struct guest_range *r = find(m, bus);
		uint64_t rest;

		if (!r || !r->file || !(write ? r->writable : r->readable))
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
		const struct guest_range *r = find(m, bus);
		uint8_t *guest = r->file->base + r->offset + (bus - r->start);
		size_t n = len;

		if (r->size - (bus - r->start) < n)
			n = r->size - (bus - r->start);
		if (r->file->careful) {
			if (copy_careful(buf, guest, n, write))
				return -EFAULT;
		} else {
			copy_trusted(buf, guest, n, write);
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
	/* move() only reads from buf, because write is true */
	return move(m, bus, (uint8_t *)(uintptr_t)buf, len, true);
}
