// SPDX-License-Identifier: Apache-2.0
/* The server with two real HCAs and their firmware, driven by a client over its sockets. */
#define _GNU_SOURCE
#include "model/vfio_user/tests/client.h"

#include "model/engine/host/interrupt.h"
#include "model/interface/macros.h"
#include "model/vfio_user/pace.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

static void tells_version_and_shape(void **state)
{
	static const struct {
		uint32_t index;
		uint64_t size;
	} regions[] = {{0, 0x100000}, {1, 0}, {2, 0x800000}, {3, 0}, {4, 0},
		       {5, 0},        {6, 0}, {7, 4096},     {8, 0}};
	static const struct {
		uint32_t count, flags;
	} irqs[] = {{1, 7}, {0, 0}, {128, 9}, {1, 9}, {1, 9}};
	struct client *c = &bench.clients[0];
	struct answer *a;
	uint8_t b[32] = {0};

	c->fd = dial(0);
	assert_int_equal(greet(c, 0, "{\"capabilities\":{}}", &a), 0);
	assert_int_equal(get(a->bytes, 4), 0);
	assert_int_equal(a->bytes[a->len - 1], 0);
	assert_non_null(strstr((char *)a->bytes + 4, "\"max_msg_fds\":16"));
	put(b, 4, 16);
	assert_int_equal(ask(c, C_INFO, b, 16, NULL, 0, &a), 0);
	assert_int_equal(a->len, 16);
	assert_int_equal(get(a->bytes, 4), 16);
	assert_int_equal(get(a->bytes + 4, 4), 3); /* flags: reset, PCI */
	assert_int_equal(get(a->bytes + 8, 4), 9);
	assert_int_equal(get(a->bytes + 12, 4), 5);
	for (unsigned i = 0; i < ARRAY_SIZE(regions); i++) {
		put(b, 4, 32);
		put(b + 8, 4, regions[i].index);
		assert_int_equal(ask(c, C_REGION, b, 32, NULL, 0, &a), 0);
		assert_int_equal(a->len, 32);
		assert_int_equal(get(a->bytes + 4, 4), regions[i].size ? 3 : 0);
		assert_int_equal(get(a->bytes + 16, 8), regions[i].size);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(irqs); i++) {
		put(b, 4, 16);
		put(b + 8, 4, i);
		assert_int_equal(ask(c, C_IRQ, b, 16, NULL, 0, &a), 0);
		assert_int_equal(get(a->bytes + 4, 4), irqs[i].flags);
		assert_int_equal(get(a->bytes + 12, 4), irqs[i].count);
	}
	put(b + 8, 4, 5);
	assert_int_equal(ask(c, C_IRQ, b, 16, NULL, 0, NULL), EINVAL);
	put(b, 4, 32);
	put(b + 8, 4, 9);
	assert_int_equal(ask(c, C_REGION, b, 32, NULL, 0, NULL), EINVAL);
}

static void is_the_pci_function(void **state)
{
	struct client *c = join(0);
	uint8_t all[4096], id[4];

	assert_int_equal(region_read(c, R_CONFIG, 0, id, 4), 0);
	assert_int_equal(get(id, 4), 0x100315b3);
	assert_int_equal(region_read(c, R_CONFIG, 0, all, sizeof(all)), 0);
	assert_memory_equal(all, id, 4);
	assert_int_equal(region_read(c, R_CONFIG, 4093, all, 4), EINVAL);
	assert_int_equal(region_read(c, R_CONFIG, UINT64_MAX, all, 1), EINVAL);
}

static void runs_a_command_in_guest_memory(void **state)
{
	struct client *a = join(0), *b = join(1);

	assert_query_fw(a);
	assert_query_fw(b);
	assert_int_equal(bench.guest_errors[0] + bench.guest_errors[1], 0);
}

static void answers_no_posted_write(void **state)
{
	struct client *c = join(0);
	uint8_t b[16 + 4] = {0}, word[4];
	struct answer *a;
	uint16_t id;

	/* GO of a command whose mailbox is the first page of the guest's memory */
	for (unsigned i = 0; i < 7; i++) {
		put(b, 8, 0x80680 + 4 * i);
		put(b + 12, 4, 4);
		be32(b + 16, i == 4 ? GUEST_BUS : i == 6 ? 0x00800004 : 0);
		send_request(c, C_WRITE, NO_REPLY, b, sizeof(b), NULL, 0);
	}
	put(b, 8, 0x80698);
	id = send_request(c, C_READ, 0, b, 16, NULL, 0);
	a = await(c);
	assert_int_equal(a->id, id);
	assert_int_equal(a->command, C_READ);
	/* the posted writes were executed first: the opcode is in the register */
	assert_int_equal(a->bytes[16 + 3], 4);
	do
		assert_int_equal(region_read(c, R_BAR0, 0x80698, word, 4), 0);
	while (word[1] & 0x80);
	assert_int_equal(c->memory[0x0b], 3);
}

static void takes_many_writes_in_a_message(void **state)
{
	struct client *c = join(0);
	uint8_t b[8 + 7 * 24] = {0}, word[4];
	struct answer *a;

	put(b, 8, 7);
	for (unsigned i = 0; i < 7; i++) {
		uint8_t *w = b + 8 + 24 * i;

		put(w, 8, 0x80680 + 4 * i);
		put(w + 12, 4, 4);
		be32(w + 16, i == 4 ? GUEST_BUS : i == 6 ? 0x00800004 : 0);
	}
	assert_int_equal(ask(c, C_MULTI, b, sizeof(b), NULL, 0, &a), 0);
	assert_int_equal(get(a->bytes, 8), 7);
	do
		assert_int_equal(region_read(c, R_BAR0, 0x80698, word, 4), 0);
	while (word[1] & 0x80);
	assert_int_equal(c->memory[0x0b], 3);
	put(b, 8, 8);
	assert_int_equal(ask(c, C_MULTI, b, sizeof(b), NULL, 0, NULL), EINVAL);
}

/* --- interrupts --- */

static void events_open(int fds[4])
{
	for (unsigned i = 0; i < 4; i++)
		fds[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

static void events_close(const int fds[4])
{
	for (unsigned i = 0; i < 4; i++)
		close(fds[i]);
}

static void msix_enable(struct client *c)
{
	const uint8_t enable[2] = {0, 0x80};

	assert_int_equal(region_write(c, R_CONFIG, 0x9e, enable, sizeof(enable)), 0);
}

static void latches_interrupts_until_a_descriptor_comes(void **state)
{
	struct client *c = join(0);
	int fds[4];
	uint8_t pending[8];

	events_open(fds);
	msix_enable(c);
	/* as QEMU does it: first enabled with no descriptors, then vector by vector */
	assert_int_equal(set_irqs(c, 0x24, 2, 0, 1, NULL, 0), 0);
	interrupt_raise(bench.devices[0].hca, 2);
	turn(4);
	assert_int_equal(region_read(c, R_BAR0, 0x7d000, pending, 8), 0);
	assert_int_equal(pending[0], 1 << 2);
	assert_int_equal(set_irqs(c, 0x21, 2, 0, 0, NULL, 0), 0);
	assert_int_equal(set_irqs(c, 0x24, 2, 0, 4, fds, 4), 0);
	turn(4);
	assert_int_equal(eventfd_count(fds[2]), 1);
	assert_int_equal(eventfd_count(fds[0]) + eventfd_count(fds[1]) + eventfd_count(fds[3]), 0);
	interrupt_raise(bench.devices[0].hca, 0);
	turn(4);
	assert_int_equal(eventfd_count(fds[0]), 1);
	events_close(fds);
}

/* A message that has left the device is kept while its descriptor is being replaced. */
static void keeps_a_message_that_was_on_its_way(void **state)
{
	struct client *c = join(0);
	struct irqs *irqs = &bench.devices[0].irqs;
	int fds[4];

	events_open(fds);
	msix_enable(c);
	assert_int_equal(set_irqs(c, 0x24, 2, 0, 4, fds, 4), 0);
	assert_int_equal(set_irqs(c, 0x21, 2, 0, 0, NULL, 0), 0);
	irqs_msix(irqs, 1);
	assert_int_equal(eventfd_count(fds[1]), 0);
	assert_int_equal(set_irqs(c, 0x24, 2, 1, 1, &fds[3], 1), 0);
	assert_int_equal(eventfd_count(fds[3]), 1);
	assert_int_equal(eventfd_count(fds[1]), 0);
	events_close(fds);
}

static void signals_intx_once_until_unmasked(void **state)
{
	struct client *c = join(0);
	int fds[4];

	events_open(fds);
	assert_int_equal(set_irqs(c, 0x24, 0, 0, 1, fds, 1), 0);
	interrupt_raise(bench.devices[0].hca, 0);
	turn(4);
	assert_int_equal(eventfd_count(fds[0]), 1);
	interrupt_raise(bench.devices[0].hca, 0);
	turn(4);
	assert_int_equal(eventfd_count(fds[0]), 0);
	/* the line is still asserted */
	assert_int_equal(set_irqs(c, 0x11, 0, 0, 1, NULL, 0), 0);
	assert_int_equal(eventfd_count(fds[0]), 1);
	interrupt_clear_intx(bench.devices[0].hca);
	turn(4);
	assert_int_equal(set_irqs(c, 0x11, 0, 0, 1, NULL, 0), 0);
	assert_int_equal(eventfd_count(fds[0]), 0);
	events_close(fds);
}

static void refuses_what_is_no_interrupt(void **state)
{
	struct client *c = join(0);
	int fds[4], pipes[2];

	events_open(fds);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(set_irqs(c, 0x24, 5, 0, 1, fds, 1), EINVAL);
	assert_int_equal(set_irqs(c, 0x24, 2, 127, 2, fds, 2), EINVAL);
	assert_int_equal(set_irqs(c, 0x24, 2, UINT32_MAX, 2, fds, 2), EINVAL);
	assert_int_equal(set_irqs(c, 0x24, 2, 0, UINT32_MAX, fds, 2), EINVAL);
	assert_int_equal(set_irqs(c, 0x24, 2, 0, 2, fds, 1), EINVAL);
	assert_int_equal(set_irqs(c, 0x24, 1, 0, 1, fds, 1), EINVAL);
	assert_int_equal(set_irqs(c, 0x26, 2, 0, 1, fds, 1), EINVAL);
	assert_int_equal(set_irqs(c, 0x3c, 2, 0, 1, fds, 1), EINVAL);
	/* 4 booleans are announced, but none is sent */
	assert_int_equal(set_irqs(c, 0x22, 2, 0, 4, NULL, 0), EINVAL);
	assert_int_equal(set_irqs(c, 0x24, 2, 0, 1, &pipes[1], 1), EINVAL);
	assert_int_equal(set_irqs(c, 0x24, 3, 0, 1, fds, 1), 0);
	assert_int_equal(set_irqs(c, 0x24, 4, 0, 1, fds, 1), 0);
	assert_query_fw(c);
	close(pipes[0]);
	close(pipes[1]);
	events_close(fds);
}

/* --- guest memory --- */

static void maps_only_what_is_there_once(void **state)
{
	struct client *c = join(0);
	const uint64_t top = UINT64_MAX - 0xfff;
	int fd = c->memfd;

	assert_int_equal(map(c, 3, 0, GUEST_BUS, GUEST_BYTES, fd), EEXIST);
	assert_int_equal(map(c, 3, 0, GUEST_BUS + 0x1000, 0x1000, fd), EEXIST);
	assert_int_equal(map(c, 3, 0, GUEST_BUS - 0x1000, 0x2000, fd), EEXIST);
	assert_int_equal(map(c, 3, 0, GUEST_BUS + GUEST_BYTES - 0x1000, 0x2000, fd), EEXIST);
	assert_int_equal(map(c, 3, 0, 0, 0, fd), EINVAL);
	assert_int_equal(map(c, 3, 0, 0x800, 0x1000, fd), EINVAL);
	assert_int_equal(map(c, 3, 0, 0, 0x1001, fd), EINVAL);
	assert_int_equal(map(c, 3, 1, 0, 0x1000, fd), EINVAL);
	assert_int_equal(map(c, 3, 0, top, 0x2000, fd), EINVAL);
	assert_int_equal(map(c, 3, 0, 0, top, fd), EINVAL);
	assert_int_equal(map(c, 3, top, 0, 0x1000, fd), EINVAL);
	assert_int_equal(map(c, 3, 0, 0, GUEST_BYTES + 0x1000, fd), EINVAL);
	assert_int_equal(map(c, 3, GUEST_BYTES, 0, 0x1000, fd), EINVAL);
	assert_int_equal(map(c, 0, 0, 0, 0x1000, fd), EINVAL);
	assert_int_equal(map(c, 0xff, 0, 0, 0x1000, fd), EINVAL);
	/* next to existing ranges, and at the very top */
	assert_int_equal(map(c, 3, 0, GUEST_BUS + GUEST_BYTES, 0x1000, fd), 0);
	assert_int_equal(map(c, 3, 0, GUEST_BUS - 0x1000, 0x1000, fd), 0);
	assert_int_equal(map(c, 3, 0, top, 0x1000, fd), 0);
	assert_int_equal(guest_memory_count(&bench.devices[0].memory), 4);
	assert_int_equal(unmap(c, 0, GUEST_BUS, 0x1000), EINVAL);
	assert_int_equal(unmap(c, 0, GUEST_BUS + 0x1000, GUEST_BYTES - 0x1000), EINVAL);
	assert_int_equal(unmap(c, 0, GUEST_BUS - 0x1000, GUEST_BYTES), EINVAL);
	assert_int_equal(unmap(c, 0, GUEST_BUS, 0), EINVAL);
	assert_int_equal(unmap(c, 0, top, 0x2000), EINVAL);
	assert_int_equal(guest_memory_count(&bench.devices[0].memory), 4);
	assert_query_fw(c);
	/* One unmap of several ranges; the topmost range stays. Then an unmap of a range that does
	 * not exist. */
	assert_int_equal(unmap(c, 0, 0, top), 0);
	assert_int_equal(guest_memory_count(&bench.devices[0].memory), 1);
	assert_int_equal(unmap(c, 0, GUEST_BUS, GUEST_BYTES), 0);
	assert_int_equal(map(c, 3, 0, GUEST_BUS, GUEST_BYTES, fd), 0);
	assert_query_fw(c);
	assert_int_equal(unmap(c, 2, 0, 0), 0);
	assert_int_equal(guest_memory_count(&bench.devices[0].memory), 0);
}

/* A command whose mailbox cannot be written. It is a guest error, and no byte of it is written
 * anywhere. */
static void assert_unreachable(struct client *c, uint64_t bus)
{
	unsigned before = bench.guest_errors[0];

	assert_int_not_equal(query_fw(c, bus), 0);
	assert_true(bench.guest_errors[0] > before);
	assert_string_equal(bench.rule, "dma_unmapped");
}

static void dma_stays_in_what_is_mapped(void **state)
{
	struct client *c = join(0);
	uint8_t *untouched = c->memory + GUEST_BYTES - 0x1000;

	assert_unreachable(c, 0x1000);
	assert_unreachable(c, GUEST_BUS - 0x1000);
	assert_unreachable(c, GUEST_BUS + GUEST_BYTES);
	assert_unreachable(c, UINT64_MAX - 0xfff);
	/* a read-only range, and one without a descriptor, which is logged only once */
	assert_int_equal(map(c, 1, GUEST_BYTES - 0x1000, 0, 0x1000, c->memfd), 0);
	assert_unreachable(c, 0);
	assert_int_equal(map(c, 3, 0, 0x10000, 0x2000, -1), 0);
	bench.log_lines[0] = 0;
	assert_unreachable(c, 0x10000);
	assert_unreachable(c, 0x10000);
	assert_int_equal(bench.log_lines[0], 1);
	assert_non_null(strstr(bench.log, "file descriptor"));
	for (unsigned i = 0; i < 0x1000; i++)
		assert_int_equal(untouched[i], 0);
	assert_int_equal(unmap(c, 0, GUEST_BUS, GUEST_BYTES), 0);
	assert_unreachable(c, GUEST_BUS);
	assert_int_equal(bench.catastrophes, 0);
}

/* The file behind a range becomes shorter: that must not cause SIGBUS. */
static void survives_memory_that_shrinks(void **state)
{
	struct client *c = join(0), *other = join(1);

	assert_query_fw(c);
	assert_int_equal(ftruncate(c->memfd, 0x1000), 0);
	assert_unreachable(c, GUEST_BUS + 0x3000);
	assert_query_fw(other);
}

static int memory_map(struct guest_memory *m, uint64_t start, uint64_t size, int fd,
		      uint64_t offset)
{
	enum guest_limit limit;

	return guest_memory_map(m,
				&(struct guest_map){.start = start,
						    .size = size,
						    .offset = offset,
						    .fd = fd,
						    .readable = true,
						    .writable = true},
				&limit);
}

static void moves_bytes_across_ranges(void **state)
{
	struct guest_memory m = {0};
	uint8_t buf[0x3000], back[0x3000];
	int fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	for (unsigned i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(ftruncate(fd, 0x4000), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	/* adjacent on the bus, but in another order in the file */
	assert_int_equal(memory_map(&m, 0x3000, 0x2000, fd, 0x0000), 0);
	assert_int_equal(memory_map(&m, 0x1000, 0x2000, fd, 0x2000), 0);
	for (unsigned len = 1; len <= 0x2800; len += len < 80 ? 1 : 777)
		for (unsigned at = 0x2fbd; at < 0x2fbd + 5; at++) {
			if (at + len > 0x5000)
				continue;
			memset(back, 0, sizeof(back));
			assert_int_equal(guest_memory_write(&m, at, buf, len), 0);
			assert_int_equal(guest_memory_read(&m, at, back, len), 0);
			assert_memory_equal(back, buf, len);
		}
	assert_int_equal(guest_memory_read(&m, 0x2ff8, back, 16), 0);
	assert_int_equal(pread(fd, buf, 8, 0x3ff8), 8);
	assert_int_equal(pread(fd, buf + 8, 8, 0), 8);
	assert_memory_equal(back, buf, 16);
	assert_int_equal(guest_memory_read(&m, 0x4ff9, back, 8), -EFAULT);
	assert_int_equal(guest_memory_write(&m, 0xfff, back, 2), -EFAULT);
	guest_memory_unmap_all(&m);
	close(fd);
}

/* Of a file without a seal, pages may be missing: those before them are moved, and the process stays.
 * A fault of anybody else ends it as ever. */
static void misses_pages_of_a_file(void **state)
{
	struct guest_memory m = {0};
	uint8_t buf[0x2000];
	int fd = memfd_create("x", MFD_CLOEXEC), status;
	volatile uint8_t *own;
	pid_t child;

	(void)state;
	signal(SIGBUS, SIG_DFL); /* cmocka has set one of its own */
	assert_int_equal(ftruncate(fd, 0x3000), 0);
	assert_int_equal(memory_map(&m, 0, 0x3000, fd, 0), 0);
	own = mmap(NULL, 0x3000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(own != MAP_FAILED);
	own[0x1fff] = 7;
	assert_int_equal(ftruncate(fd, 0x2000), 0);
	for (unsigned n = 0; n < 3; n++) {
		assert_int_equal(guest_memory_read(&m, 0x1000, buf, sizeof(buf)), -EFAULT);
		assert_int_equal(guest_memory_write(&m, 0x2800, buf, 16), -EFAULT);
		assert_int_equal(guest_memory_read(&m, 0x1000, buf, 0x1000), 0);
		assert_int_equal(buf[0xfff], 7);
	}
	child = fork();
	if (!child) {
		own[0x2000] = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	/* a sanitizer makes an exit of it */
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status) != 0);
	munmap((void *)own, 0x3000);
	guest_memory_unmap_all(&m);
	close(fd);
}

/* A guest thread that writes a ring of work requests again and again. It writes each request from
 * its end to its start, so the owner bit in the first word comes last. */
enum { ENTRY = 256 / sizeof(uint64_t), ENTRIES = 8, RING_ROOM = 4096 };

struct ring_writer {
	_Atomic uint64_t *words;
	atomic_bool stop;
};

static void *ring_write(void *arg)
{
	struct ring_writer *w = arg;

	for (uint64_t lap = 1; !atomic_load(&w->stop); lap++)
		for (unsigned i = 0; i < ENTRIES; i++)
			for (unsigned at = ENTRY; at-- > 0;)
				atomic_store_explicit(&w->words[i * ENTRY + at], lap,
						      memory_order_release);
	return NULL;
}

/* Reads several entries at once while that guest writes. The words behind an owner bit must be at
 * least as new as the bit. */
static void read_meets_a_writer(bool sealed)
{
	static uint64_t seen[ENTRIES * ENTRY];
	struct guest_memory m = {0};
	struct ring_writer w = {0};
	unsigned torn = 0, changed = 0;
	int fd = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	pthread_t thread;

	assert_int_equal(ftruncate(fd, RING_ROOM), 0);
	if (sealed)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(memory_map(&m, 0, RING_ROOM, fd, 0), 0);
	w.words = mmap(NULL, RING_ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true((void *)w.words != MAP_FAILED);
	assert_int_equal(pthread_create(&thread, NULL, ring_write, &w), 0);
	for (unsigned n = 0; n < 200000 || (!changed && n < 10000000); n++) {
		assert_int_equal(guest_memory_read(&m, 0, seen, sizeof(seen)), 0);
		for (unsigned i = 0; i < ENTRIES; i++)
			for (unsigned at = 1; at < ENTRY; at++) {
				torn += seen[i * ENTRY + at] < seen[i * ENTRY];
				changed += seen[i * ENTRY + at] > seen[i * ENTRY];
			}
	}
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(torn, 0);
	assert_true(changed > 0); /* reads and writes did overlap */
	munmap((void *)w.words, RING_ROOM);
	guest_memory_unmap_all(&m);
	close(fd);
}

static void reads_see_memory_in_order(void **state)
{
	read_meets_a_writer(true);
	read_meets_a_writer(false);
}

/* --- clients come and go --- */

static void begins_anew_with_the_next_client(void **state)
{
	struct client *c = join(0), *other = join(1);
	int second, fds[4];
	uint8_t command[2], nothing;

	events_open(fds);
	msix_enable(c);
	assert_int_equal(set_irqs(c, 0x24, 2, 0, 4, fds, 4), 0);
	assert_query_fw(c);
	/* while a client is connected, another one is turned away */
	second = dial(0);
	turn(4);
	assert_int_equal(recv(second, &nothing, 1, 0), 0);
	close(second);
	assert_query_fw(c);
	hang_up(c);
	turn(4);
	assert_false(vfu_server_has_client(bench.server, &bench.devices[0]));
	assert_int_equal(guest_memory_count(&bench.devices[0].memory), 0);
	assert_query_fw(other);
	c->fd = dial(0);
	assert_int_equal(greet(c, 0, "{}", NULL), 0);
	assert_int_equal(region_read(c, R_CONFIG, 4, command, 2), 0);
	assert_int_equal(command[0] & 6, 0);
	assert_int_equal(region_read(c, R_CONFIG, 0x9e, command, 2), 0);
	assert_int_equal(command[1] & 0x80, 0);
	hang_up(c);
	turn(4);
	c = join(0);
	assert_query_fw(c);
	events_close(fds);
}

static void resets_the_function(void **state)
{
	struct client *c = join(0);
	const uint8_t on[2] = {6, 0};
	uint8_t word[4];

	assert_query_fw(c);
	assert_int_equal(region_read(c, R_BAR0, 0x8069c, word, 4), 0);
	assert_int_equal(region_read(c, R_BAR0, 0x8069c, word, 4), 0);
	assert_int_equal(word[3], 1); /* ownership is taken */
	assert_int_equal(ask(c, C_RESET, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(region_read(c, R_CONFIG, 4, word, 2), 0);
	assert_int_equal(word[0], 0);
	assert_int_equal(region_write(c, R_CONFIG, 4, on, sizeof(on)), 0);
	assert_int_equal(region_read(c, R_BAR0, 0x8069c, word, 4), 0);
	assert_int_equal(word[3], 0);
	/* the guest's memory is still mapped */
	assert_query_fw(c);
}

static void command_write(struct client *c, uint8_t command)
{
	const uint8_t word[2] = {command, 0};

	assert_int_equal(region_write(c, R_CONFIG, 4, word, sizeof(word)), 0);
}

static void a_driver_comes_and_goes(void **state)
{
	struct client *c = join(0);

	command_write(c, 2);
	memset(bench.masterings, 0, sizeof(bench.masterings));
	command_write(c, 6);
	command_write(c, 6);
	assert_int_equal(bench.masterings[true], 1);
	assert_int_equal(bench.masterings[false], 0);
	command_write(c, 2);
	assert_int_equal(bench.masterings[false], 1);
	/* the whole function is taken away */
	command_write(c, 6);
	command_write(c, 0);
	assert_int_equal(bench.masterings[true], 2);
	assert_int_equal(bench.masterings[false], 1);
}

/* --- time --- */

static void time_never_hurries(void **state)
{
	struct pace pace;
	const uint64_t ms = 1000000000, none = UINT64_MAX;

	pace_init(&pace, 100, ms, 5000, 7);
	assert_int_equal(pace_target_ps(&pace, 5000, none), 7);
	assert_int_equal(pace_target_ps(&pace, 6000, none), 1000007);
	assert_int_equal(pace_wall_ns(&pace, 1001), 2);
	/* an hour without events takes an hour */
	assert_int_equal(pace_target_ps(&pace, 5000 + 3600ull * 1000000000, none),
			 7 + 3600ull * 1000 * ms);
	/* An event that is 10 ms late: time runs 1 ms fast at most, and continues from there. */
	pace_init(&pace, 100, ms, 0, 0);
	assert_int_equal(pace_target_ps(&pace, 10000000, 5000), 5000 + ms);
	assert_int_equal(pace_target_ps(&pace, 10001000, none), 5000 + ms + 1000000);
	/* half speed */
	pace_init(&pace, 50, ms, 0, 0);
	assert_int_equal(pace_target_ps(&pace, 2000, none), 1000000);
	assert_int_equal(pace_wall_ns(&pace, 1000), 2);
}

static unsigned jobs_done;

static void job(struct event *ev)
{
	jobs_done++;
}

/* Work that a doorbell has started is done without waiting for the wall clock. An event far in the
 * future has to wait. */
static void what_is_under_way_is_done_at_once(void **state)
{
	struct event soon = {.job = job}, far = {.job = job};
	struct event_core core;
	struct vfu_server *server;
	struct sim_params params = bench.config.sim;

	jobs_done = 0;
	params.sim_pace = 1;
	event_core_init(&core);
	server = vfu_server_create(&core, &params);
	assert_non_null(server);
	event_set(&core, &soon, CFG_US(90));
	event_set(&core, &far, CFG_S(1));
	vfu_server_catch_up(server);
	assert_int_equal(jobs_done, 1);
	assert_true(core.now_ps >= CFG_US(90) && core.now_ps < CFG_S(1));
	vfu_server_destroy(server);
	event_core_free(&core);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_up, bench_down)
	const struct CMUnitTest tests[] = {
		T(tells_version_and_shape),
		T(is_the_pci_function),
		T(runs_a_command_in_guest_memory),
		T(answers_no_posted_write),
		T(takes_many_writes_in_a_message),
		T(latches_interrupts_until_a_descriptor_comes),
		T(keeps_a_message_that_was_on_its_way),
		T(signals_intx_once_until_unmasked),
		T(refuses_what_is_no_interrupt),
		T(maps_only_what_is_there_once),
		T(dma_stays_in_what_is_mapped),
		T(survives_memory_that_shrinks),
		cmocka_unit_test(moves_bytes_across_ranges),
		cmocka_unit_test(misses_pages_of_a_file),
		cmocka_unit_test(reads_see_memory_in_order),
		T(begins_anew_with_the_next_client),
		T(resets_the_function),
		T(a_driver_comes_and_goes),
		cmocka_unit_test(time_never_hurries),
		T(what_is_under_way_is_done_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
