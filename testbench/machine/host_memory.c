/* SPDX-License-Identifier: Apache-2.0 */
/* See host_memory.h. */
#include "testbench/machine/host_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	PAGE = 4096,
	RANGE_PAGES = 512,
	USED_BEFORE = 0xa5,
	FILL_WHOLE_PAGES =
		4, /* up to this many pages are filled completely; of a larger allocation only both ends
				 of each page */
	FILL_END_BYTES = 64,
};

static size_t pages_of(uint64_t offset, size_t bytes)
{
	return (offset % PAGE + bytes + PAGE - 1) / PAGE;
}

int host_memory_create(struct host_memory *m, uint64_t bytes, uint64_t bus, void *at)
{
	void *base = mmap(at, bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return -ENOMEM;
	memset(m, 0, sizeof(*m));
	m->base = base;
	m->bus = bus;
	m->pages = bytes / PAGE;
	m->used = calloc(m->pages, sizeof(*m->used));
	m->mappings = calloc(m->pages, sizeof(*m->mappings));
	if (m->used && m->mappings)
		return 0;
	host_memory_destroy(m);
	return -ENOMEM;
}

void host_memory_destroy(struct host_memory *m)
{
	if (m->base)
		munmap(m->base, m->pages * PAGE);
	free(m->used);
	free(m->mappings);
	memset(m, 0, sizeof(*m));
}

/* Index of the first of `count` consecutive free pages within [from, to); `to` if there are none. */
static size_t find_run(const struct host_memory *m, size_t from, size_t to, size_t count)
{
	size_t run = 0;

	for (size_t i = from; i < to; i++) {
		run = m->used[i] ? 0 : run + 1;
		if (run == count)
			return i + 1 - count;
	}
	return to;
}

/* Fills pages with a pattern, so that no code works only because new memory is zero, or because
 * freed memory still has its content. */
static void fill(struct host_memory *m, size_t at, size_t count, unsigned char value)
{
	unsigned char *page = m->base + at * PAGE;

	if (count <= FILL_WHOLE_PAGES) {
		memset(page, value, count * PAGE);
		return;
	}
	for (; count; count--, page += PAGE) {
		memset(page, value, FILL_END_BYTES);
		memset(page + PAGE - FILL_END_BYTES, value, FILL_END_BYTES);
	}
}

/* From the last allocation on, then from the beginning. */
static size_t find_around(const struct host_memory *m, size_t count)
{
	const size_t at = find_run(m, m->next, m->pages, count);

	return at < m->pages ? at : find_run(m, 0, m->pages, count);
}

void *host_memory_alloc(struct host_memory *m, size_t bytes)
{
	size_t count = pages_of(0, bytes), at;

	if (!count || count > m->pages)
		return NULL;
	/* a free page on each side, unless they are all needed */
	at = find_around(m, count + 2) + 1;
	if (at > m->pages)
		at = find_around(m, count);
	if (at == m->pages)
		return NULL;
	memset(m->used + at, 1, count);
	m->next = at + count;
	m->pages_used += count;
	fill(m, at, count, USED_BEFORE);
	return m->base + at * PAGE;
}

void host_memory_free(struct host_memory *m, void *addr, size_t bytes)
{
	size_t at = (size_t)((unsigned char *)addr - m->base) / PAGE, count = pages_of(0, bytes);

	memset(m->used + at, 0, count);
	m->pages_used -= count;
	if (at < m->next)
		m->next = at;
	fill(m, at, count, (unsigned char)~USED_BEFORE);
}

uint64_t host_memory_bus(const struct host_memory *m, const void *addr)
{
	const unsigned char *p = addr;

	if (p < m->base || p >= m->base + m->pages * PAGE)
		return 0;
	return m->bus + (uint64_t)(p - m->base);
}

uint64_t host_memory_map(struct host_memory *m, const void *addr, size_t bytes)
{
	uint64_t bus = host_memory_bus(m, addr);
	size_t first = (bus - m->bus) / PAGE, count = pages_of(bus, bytes);

	if (!bus || first + count > m->pages)
		return 0;
	for (size_t i = first; i < first + count; i++)
		if (!m->mappings[i]++)
			m->pages_mapped++;
	return bus;
}

void host_memory_unmap(struct host_memory *m, uint64_t bus, size_t bytes)
{
	size_t first = (bus - m->bus) / PAGE, count = pages_of(bus, bytes);

	for (size_t i = first; i < first + count && i < m->pages; i++)
		if (m->mappings[i] && !--m->mappings[i])
			m->pages_mapped--;
}

static bool reachable(const struct host_memory *m, uint64_t bus, size_t len)
{
	size_t first, count;

	if (bus < m->bus || len > m->pages * PAGE || bus - m->bus > m->pages * PAGE - len)
		return false;
	first = (bus - m->bus) / PAGE;
	count = pages_of(bus, len);
	for (size_t i = first; i < first + count; i++)
		if (!m->mappings[i])
			return false;
	return true;
}

int host_memory_read(const struct host_memory *m, uint64_t bus, void *buf, size_t len)
{
	if (!reachable(m, bus, len))
		return -EFAULT;
	memcpy(buf, m->base + (bus - m->bus), len);
	return 0;
}

int host_memory_write(struct host_memory *m, uint64_t bus, const void *buf, size_t len)
{
	if (!reachable(m, bus, len))
		return -EFAULT;
	memcpy(m->base + (bus - m->bus), buf, len);
	return 0;
}

int host_memory_range(const struct host_memory *m, uint64_t bus, uint64_t *start, uint64_t *end,
		      unsigned char **ptr)
{
	size_t page, first, last;

	if (!reachable(m, bus, 1))
		return -EFAULT;
	page = first = last = (bus - m->bus) / PAGE;
	while (first > 0 && page - first < RANGE_PAGES && m->mappings[first - 1])
		first--;
	while (last + 1 < m->pages && last - page < RANGE_PAGES && m->mappings[last + 1])
		last++;
	*start = m->bus + first * PAGE;
	*end = m->bus + (last + 1) * PAGE - 1;
	*ptr = m->base + first * PAGE;
	return 0;
}
