/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_guest.h. */
#define _GNU_SOURCE
#include "testbench/tests/serve_guest.h"
#include "model/interface/regs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	HEADER = 16,
	ACCESS = 16,
	ACCESS_MAX = 4096,
	MAP_BYTES = 32,
	PS_PER_NS = 1000,
	PATTERN = 0xa5,
	LINE = 64,
	WORD = 8,
};

uint64_t guest_wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* --- messages --- */

int guest_send(struct guest *g, unsigned command, uint32_t flags, const void *payload, size_t len,
	       const int *fds, unsigned n_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control = {.bytes = {0}};
	uint32_t header[HEADER / 4] = {++g->id | command << 16, HEADER + (uint32_t)len, flags, 0};
	struct iovec iov[2] = {{header, HEADER}, {(void *)(uintptr_t)payload, len}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};

	if (n_fds) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){.cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
							.cmsg_level = SOL_SOCKET,
							.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, n_fds * sizeof(int));
	}
	return sendmsg(g->fd, &msg, MSG_NOSIGNAL) == (ssize_t)(HEADER + len) ? 0 : -1;
}

static int hear(struct guest *g, void *bytes, size_t len)
{
	for (uint8_t *b = bytes; len;) {
		ssize_t n = recv(g->fd, b, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		b += n;
		len -= (size_t)n;
	}
	return 0;
}

int guest_ask(struct guest *g, unsigned command, const void *payload, size_t len, const int *fds,
	      unsigned n_fds, void *answer, size_t room)
{
	uint8_t bytes[HEADER + ACCESS + ACCESS_MAX];
	uint32_t header[HEADER / 4];
	size_t size;

	if (guest_send(g, command, 0, payload, len, fds, n_fds))
		return -1;
	do {
		if (hear(g, header, HEADER))
			return -1;
		size = header[1] - HEADER;
		if (size > sizeof(bytes) || hear(g, bytes, size))
			return -1;
	} while ((uint16_t)header[0] != g->id); /* skips answers that nobody waited for */
	if (header[3])
		return (int)header[3];
	if (room)
		memcpy(answer, bytes, size < room ? size : room);
	return 0;
}

int guest_map(struct guest *g, uint64_t bus, uint64_t size, int fd, uint64_t offset, bool writable)
{
	struct {
		uint32_t size, flags;
		uint64_t offset, bus, len;
	} m = {MAP_BYTES, writable ? 3 : 1, offset, bus, size};

	return guest_ask(g, GUEST_MAP, &m, sizeof(m), &fd, fd >= 0, NULL, 0);
}

struct access {
	uint64_t offset;
	uint32_t region, count;
	uint8_t bytes[ACCESS_MAX];
};

int guest_read(struct guest *g, unsigned region, uint64_t offset, void *bytes, uint32_t size)
{
	struct access m = {offset, region, size, {0}};
	int rc = guest_ask(g, GUEST_READ, &m, ACCESS, NULL, 0, &m, ACCESS + size);

	memcpy(bytes, m.bytes, size);
	return rc;
}

int guest_write(struct guest *g, unsigned region, uint64_t offset, const void *bytes, uint32_t size)
{
	struct access m = {offset, region, size, {0}};

	memcpy(m.bytes, bytes, size);
	return guest_send(g, GUEST_WRITE, GUEST_NO_REPLY, &m, ACCESS + size, NULL, 0);
}

/* --- the platform --- */

static struct guest *guest_of(struct platform *p)
{
	return (struct guest *)(void *)p;
}

static void need(struct guest *g, int rc)
{
	if (rc)
		g->lost();
}

static uint32_t op_config_read(struct platform *p, unsigned offset, unsigned size)
{
	uint32_t value = 0;

	need(guest_of(p), guest_read(guest_of(p), GUEST_CONFIG, offset, &value, size));
	return value;
}

static void op_config_write(struct platform *p, unsigned offset, unsigned size, uint32_t value)
{
	need(guest_of(p), guest_write(guest_of(p), GUEST_CONFIG, offset, &value, size));
}

static void op_mmio_read(struct platform *p, unsigned bar, uint64_t offset, void *bytes,
			 unsigned size)
{
	need(guest_of(p), guest_read(guest_of(p), bar, offset, bytes, size));
}

static void op_mmio_write(struct platform *p, unsigned bar, uint64_t offset, const void *bytes,
			  unsigned size)
{
	need(guest_of(p), guest_write(guest_of(p), bar, offset, bytes, size));
}

/* Writes as a processor without write combining does. */
static void op_mmio_copy64(struct platform *p, unsigned bar, uint64_t offset, const void *line)
{
	for (unsigned i = 0; i < LINE; i += WORD)
		op_mmio_write(p, bar, offset + i, (const uint8_t *)line + i, WORD);
}

static size_t pages_of(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE;
}

static void *op_pages_alloc(struct platform *p, size_t bytes, uint64_t *bus)
{
	struct guest *g = guest_of(p);
	const size_t n = pages_of(bytes);
	size_t run = 0;

	for (size_t i = 0; i < GUEST_PAGES; i++) {
		run = g->used[i] ? 0 : run + 1;
		if (run < n)
			continue;
		i -= n - 1;
		memset(&g->used[i], 1, n);
		memset(g->memory + i * PAGE, PATTERN, n * PAGE);
		if (bus)
			*bus = guest_bus + i * PAGE;
		return g->memory + i * PAGE;
	}
	return NULL;
}

static void op_pages_free(struct platform *p, void *addr, size_t bytes)
{
	struct guest *g = guest_of(p);

	memset(&g->used[(size_t)((uint8_t *)addr - g->memory) / PAGE], 0, pages_of(bytes));
}

static void *op_user_alloc(struct platform *p, size_t bytes)
{
	return op_pages_alloc(p, bytes, NULL);
}

static uint64_t op_dma_map(struct platform *p, void *addr, size_t bytes)
{
	return guest_bus + (uint64_t)((uint8_t *)addr - guest_of(p)->memory);
}

static void op_dma_unmap(struct platform *p, uint64_t bus, size_t bytes)
{
}

static int op_irq_request(struct platform *p, unsigned vector, void (*handler)(void *arg),
			  void *arg)
{
	return 0;
}

static void op_irq_free(struct platform *p, unsigned vector)
{
}

static void op_msi_message(struct platform *p, unsigned vector, uint64_t *address, uint32_t *data)
{
	*address = 0xfee00000;
	*data = vector;
}

static uint64_t op_now(struct platform *p)
{
	return guest_wall_ns() * PS_PER_NS;
}

static void op_sleep(struct platform *p, uint64_t ps)
{
	const uint64_t ns = ps / PS_PER_NS;
	const struct timespec t = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

	nanosleep(&t, NULL);
}

static void op_cpu(struct platform *p, uint64_t ps)
{
}

/* Returns at once, so that the caller polls again. */
static bool op_wait_write(struct platform *p, const void *addr, size_t len, uint64_t deadline_ps)
{
	return op_now(p) < deadline_ps;
}

/* The driver polls in a single thread, so nothing ever waits here. */
static struct platform_waitq *op_waitq_create(struct platform *p)
{
	return (struct platform_waitq *)p;
}

static void op_waitq_destroy(struct platform *p, struct platform_waitq *q)
{
}

static bool op_waitq_wait(struct platform *p, struct platform_waitq *q, uint64_t deadline_ps)
{
	abort();
}

static void op_waitq_wake_all(struct platform *p, struct platform_waitq *q)
{
}

static void op_thread_start(struct platform *p, const char *name, void (*fn)(void *arg), void *arg)
{
	abort();
}

static void op_trace_call(struct platform *p, const struct platform_call *call)
{
}

static bool op_trace_on(struct platform *p)
{
	return false;
}

static const struct platform_ops ops = {
	.config_read = op_config_read,
	.config_write = op_config_write,
	.mmio_read = op_mmio_read,
	.mmio_write = op_mmio_write,
	.mmio_copy64 = op_mmio_copy64,
	.pages_alloc = op_pages_alloc,
	.pages_free = op_pages_free,
	.user_alloc = op_user_alloc,
	.user_free = op_pages_free,
	.dma_map = op_dma_map,
	.dma_unmap = op_dma_unmap,
	.irq_request = op_irq_request,
	.irq_free = op_irq_free,
	.msi_message = op_msi_message,
	.now_ps = op_now,
	.sleep_ps = op_sleep,
	.cpu_ps = op_cpu,
	.wait_write = op_wait_write,
	.thread_start = op_thread_start,
	.waitq_create = op_waitq_create,
	.waitq_destroy = op_waitq_destroy,
	.waitq_wait = op_waitq_wait,
	.waitq_wake_all = op_waitq_wake_all,
	.trace_call = op_trace_call,
	.trace_on = op_trace_on,
};

/* --- connecting and leaving --- */

int guest_open(struct guest *g, const char *path, void (*lost)(void))
{
	static const uint8_t version[] = {0, 0, 0, 0, '{', '}', 0};
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	memset(g, 0, sizeof(*g));
	g->platform = (struct platform){
		.ops = &ops, .msix_vectors = 4, .pci_id = HCA_PCI_DEVICE << 16 | HCA_PCI_VENDOR};
	g->lost = lost;
	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	g->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	g->memfd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ftruncate(g->memfd, (off_t)GUEST_PAGES * PAGE))
		return -1;
	/* as QEMU does */
	fcntl(g->memfd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	g->memory = mmap(NULL, (size_t)GUEST_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 g->memfd, 0);
	if (g->memory == MAP_FAILED ||
	    connect(g->fd, (struct sockaddr *)&address, sizeof(address)) ||
	    guest_ask(g, GUEST_VERSION, version, sizeof(version), NULL, 0, NULL, 0))
		return -1;
	return guest_map(g, guest_bus, (uint64_t)GUEST_PAGES * PAGE, g->memfd, 0, true);
}

void guest_close(struct guest *g)
{
	munmap(g->memory, (size_t)GUEST_PAGES * PAGE);
	close(g->memfd);
	close(g->fd);
}
