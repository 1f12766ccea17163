// SPDX-License-Identifier: Apache-2.0
/* What a client can take of the process: its share, by limits that are told by name; the other
 * guest has its own. */
#define _GNU_SOURCE
#include "model/vfio_user/tests/client.h"

#include "model/engine/interrupt.h"

#include <netinet/in.h>

enum { PAGE = 4096, MAPS = 65535, FILES = 4096, SHARE_GIB = 16384 };

/* where pages are mapped one by one */
static const uint64_t pages_bus = 0x100000000;

/* Not through the socket, for speed. */
static int page_map(unsigned device, uint64_t bus, int fd, uint64_t offset)
{
	return vfu_device_map(&bench.devices[device], &(struct guest_map){.start = bus,
									  .size = PAGE,
									  .offset = offset,
									  .fd = fd,
									  .readable = true,
									  .writable = true});
}

static int file_of(uint64_t size)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	return fd;
}

static unsigned process_mappings(void)
{
	FILE *in = fopen("/proc/self/maps", "r");
	unsigned lines = 0;

	assert_non_null(in);
	for (int c = getc(in); c != EOF; c = getc(in))
		lines += c == '\n';
	fclose(in);
	return lines;
}

/* As many as are promised, page by page in any order, of both guests: one mapping of the process
 * each. */
static void every_promised_range_is_mapped(void **state)
{
	unsigned before;

	join(0);
	join(1);
	before = process_mappings();
	for (unsigned d = 0; d < DEVICES; d++)
		for (unsigned i = 1; i < MAPS; i++) { /* all of the memory is the first one */
			const uint64_t n = d ? i : i * 7919ull % MAPS;

			assert_int_equal(page_map(d, pages_bus + 2 * n * PAGE,
						  bench.clients[d].memfd,
						  n % (GUEST_BYTES / PAGE) * PAGE),
					 0);
		}
	assert_true(process_mappings() < before + 4);
	assert_int_equal(bench.limits, 0);
	for (unsigned d = 0; d < DEVICES; d++) {
		struct client *c = &bench.clients[d];

		/* page 0x1000 of the file, by another way */
		assert_int_equal(query_fw(c, pages_bus + 2ull * 257 * PAGE), 0);
		assert_int_equal(c->memory[0x100b], 3);
	}
	assert_int_equal(bench.guest_errors[0] + bench.guest_errors[1], 0);
}

/* The first range beyond what is promised: told to the client and by name, and when a driver uses
 * it that is not called its fault. */
static void a_limit_is_not_the_drivers_fault(void **state)
{
	struct client *c = join(0);
	const uint64_t beyond = 0x10000000;

	for (unsigned i = 1; i < MAPS; i++)
		assert_int_equal(page_map(0, pages_bus + 2ull * i * PAGE, c->memfd, 0), 0);
	assert_int_equal(map(c, 3, 0x5000, beyond, PAGE, c->memfd), ENOSPC);
	assert_int_equal(bench.limits, 1);
	assert_non_null(strstr(bench.limit, "65535 ranges of bus addresses (max_dma_maps)"));
	assert_int_not_equal(query_fw(c, beyond), 0);
	assert_int_equal(bench.guest_errors[0], 0);
	assert_int_equal(bench.limits, 2);
	assert_non_null(strstr(bench.limit, "not by the driver's fault, at 10000000"));
	/* what nobody mapped is */
	assert_int_not_equal(query_fw(c, 0x20000000), 0);
	assert_int_equal(bench.guest_errors[0], 1);
	assert_string_equal(bench.rule, "dma_unmapped");
	/* the client takes it back: no range, no excuse */
	assert_int_equal(unmap(c, 0, beyond, PAGE), 0);
	assert_int_not_equal(query_fw(c, beyond), 0);
	assert_int_equal(bench.guest_errors[0], 2);
	/* there is room again */
	assert_int_equal(map(c, 3, 0x5000, beyond, PAGE, c->memfd), ENOSPC);
	assert_int_equal(unmap(c, 0, pages_bus + 2 * PAGE, PAGE), 0);
	assert_int_equal(map(c, 3, 0x5000, beyond, PAGE, c->memfd), 0);
	assert_int_equal(query_fw(c, beyond), 0);
	assert_int_equal(c->memory[0x500b], 3);
	assert_int_equal(bench.limits, 2);
}

/* A client that gives file after file has its share of the process's mappings. */
static void files_have_a_limit(void **state)
{
	struct client *c = join(0), *other;
	unsigned taken = 1;
	int rc = 0;

	for (uint64_t bus = pages_bus; !rc && taken < 2 * FILES; bus += PAGE) {
		int fd = file_of(PAGE);

		rc = map(c, 3, 0, bus, PAGE, fd);
		close(fd);
		taken += !rc;
	}
	assert_int_equal(rc, ENFILE);
	assert_int_equal(taken, FILES);
	assert_non_null(strstr(bench.limit, "4096 memory files of a client"));
	other = join(1);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(map(other, 3, 0, pages_bus + i * PAGE, PAGE, other->memfd), 0);
	assert_query_fw(other);
	assert_query_fw(c);
	/* with the client goes all of it */
	hang_up(c);
	turn(4);
	assert_int_equal(bench.devices[0].memory.files.count, 0);
	bench.limits = 0;
	assert_query_fw(join(0));
	assert_int_equal(bench.limits, 0);
}

/* Files without pages are as long as one likes. */
static void addresses_have_a_limit(void **state)
{
	struct client *c = join(0);
	const uint64_t tib = UINT64_C(1) << 40;
	int fds[2] = {file_of(9 * tib), file_of(9 * tib)};

	assert_int_equal(map(c, 3, 8 * tib, pages_bus, PAGE, fds[0]), 0);
	assert_int_equal(map(c, 3, 8 * tib, pages_bus + PAGE, PAGE, fds[1]), EFBIG);
	assert_non_null(strstr(bench.limit, "16384 GiB of memory files of a client"));
	assert_query_fw(c);
	assert_query_fw(join(1));
	close(fds[0]);
	close(fds[1]);
}

/* --- files that change, descriptors that do not allow it --- */

static void a_file_grows(void **state)
{
	struct client *c = join(0);
	int fd = file_of(PAGE);
	uint8_t byte;

	assert_int_equal(map(c, 3, 0, pages_bus, PAGE, fd), 0);
	assert_int_equal(map(c, 3, PAGE, pages_bus + PAGE, PAGE, fd), EINVAL);
	assert_int_equal(ftruncate(fd, 64 * PAGE), 0);
	assert_int_equal(map(c, 3, 63 * PAGE, pages_bus + PAGE, PAGE, fd), 0);
	assert_int_equal(query_fw(c, pages_bus), 0);
	assert_int_equal(query_fw(c, pages_bus + PAGE), 0);
	assert_int_equal(pread(fd, &byte, 1, 63 * PAGE + 11), 1);
	assert_int_equal(byte, 3);
	close(fd);
}

/* The seal is worth nothing for what was cut off before it. */
static void a_seal_comes_after_the_cut(void **state)
{
	struct client *c = join(0);
	int fd = file_of(64 * PAGE);

	assert_int_equal(map(c, 3, 0, pages_bus, 64 * PAGE, fd), 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(map(c, 3, 0, pages_bus + 64 * PAGE, PAGE, fd), 0);
	assert_int_equal(query_fw(c, pages_bus), 0);
	assert_int_not_equal(query_fw(c, pages_bus + 0x8000), 0);
	assert_int_equal(query_fw(c, pages_bus + 64 * PAGE), 0);
	close(fd);
}

static void a_descriptor_is_not_more_than_it_allows(void **state)
{
	struct client *c = join(0);
	char path[64];
	int reading, writing, named;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", c->memfd);
	reading = open(path, O_RDONLY | O_CLOEXEC);
	writing = open(path, O_WRONLY | O_CLOEXEC);
	named = open(path, O_PATH | O_CLOEXEC);
	assert_true(reading >= 0 && writing >= 0 && named >= 0);
	/* though the file is mapped for writing already */
	assert_int_equal(map(c, 3, 0, pages_bus, PAGE, reading), EACCES);
	assert_int_equal(map(c, 3, 0, pages_bus, PAGE, writing), EACCES);
	assert_int_equal(map(c, 1, 0, pages_bus, PAGE, writing), EACCES);
	assert_int_equal(map(c, 3, 0, pages_bus, PAGE, named), EBADF);
	assert_int_equal(map(c, 1, 0, pages_bus, PAGE, reading), 0);
	assert_int_not_equal(query_fw(c, pages_bus), 0);
	assert_string_equal(bench.rule, "dma_unmapped");
	/* only for reading first, then for both */
	assert_int_equal(unmap(c, 2, 0, 0), 0);
	assert_int_equal(map(c, 1, 0, pages_bus, PAGE, reading), 0);
	assert_int_equal(map(c, 3, 0, GUEST_BUS, GUEST_BYTES, c->memfd), 0);
	assert_query_fw(c);
	close(reading);
	close(writing);
	close(named);
}

/* --- descriptors that make the server wait --- */

static uint64_t wall_ms(void)
{
	return vfu_server_wall_ns() / 1000000;
}

/* The client fills the counter and has writes to it wait; then the device has an interrupt. Without
 * an end to that wait this test does not end. */
static void a_full_eventfd_stops_nobody(void **state)
{
	struct client *c = join(0), *other = join(1);
	const uint8_t enable[2] = {0, 0x80};
	const uint64_t full = UINT64_MAX - 1;
	const uint64_t start = wall_ms();

	for (unsigned intx = 0; intx < 2; intx++, c = join(0)) {
		int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

		if (!intx)
			assert_int_equal(region_write(c, R_CONFIG, 0x9e, enable, sizeof(enable)),
					 0);
		assert_int_equal(set_irqs(c, 0x24, intx ? 0 : 2, 0, 1, &fd, 1), 0);
		assert_int_equal(write(fd, &full, sizeof(full)), sizeof(full));
		/* full is a pending interrupt, no more */
		interrupt_raise(bench.devices[0].hca, 0);
		turn(4);
		assert_true(vfu_server_has_client(bench.server, &bench.devices[0]));
		interrupt_clear_intx(bench.devices[0].hca);
		assert_int_equal(set_irqs(c, 0x11, 0, 0, 1, NULL, 0), 0);
		assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
		interrupt_raise(bench.devices[0].hca, 0);
		turn(4);
		assert_false(vfu_server_has_client(bench.server, &bench.devices[0]));
		assert_non_null(strstr(bench.log, "its event file descriptor blocks the writer"));
		assert_query_fw(other);
		/* by a message of its own */
		c = join(0);
		assert_int_equal(set_irqs(c, 0x24, intx ? 0 : 2, 0, 1, &fd, 1), 0);
		assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
		assert_int_equal(set_irqs(c, 0x21, intx ? 0 : 2, 0, 1, NULL, 0), 0);
		turn(4);
		assert_false(vfu_server_has_client(bench.server, &bench.devices[0]));
		assert_query_fw(other);
		close(fd);
	}
	assert_query_fw(c);
	assert_true(wall_ms() - start < 5000);
}

/* A TCP socket that has bytes nobody reads, and lingers for a long time when the last one closes
 * it. */
static int lingering_socket(int *peer)
{
	const struct linger linger = {1, 600};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint8_t bytes[4096] = {0};

	assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, len), 0);
	*peer = accept(listener, NULL, NULL);
	assert_true(*peer >= 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	close(listener);
	return fd;
}

/* Of a message that is refused, of one that has too many of them, of one that is never read. */
static void a_descriptor_that_lingers_stops_nobody(void **state)
{
	struct client *c = join(0), *other = join(1);
	const uint64_t start = wall_ms();
	uint8_t b[32] = {0};
	int fds[20], peers[20];

	fds[0] = lingering_socket(&peers[0]);
	send_request(c, C_MAP, 0, b, sizeof(b), fds, 1);
	close(fds[0]);
	assert_int_equal(await(c)->error, EINVAL);
	for (unsigned i = 1; i < 20; i++)
		fds[i] = lingering_socket(&peers[i]);
	send_request(c, C_MAP, 0, b, sizeof(b), fds + 1, 18);
	send_request(c, C_MAP, 0, b, sizeof(b), fds + 19, 1);
	for (unsigned i = 1; i < 20; i++)
		close(fds[i]);
	assert_true(await(c)->closed);
	assert_query_fw(other);
	assert_query_fw(join(0));
	assert_true(wall_ms() - start < 5000);
	for (unsigned i = 0; i < 20; i++)
		close(peers[i]);
}

/* One that goes on with it is not let in again before they are gone. */
static void descriptors_that_linger_do_not_pile_up(void **state)
{
	struct client *c = join(0), *other = join(1);
	uint8_t b[32] = {0}, byte;
	int peers[128], fd;
	unsigned sent = 0;

	while (sent < 128 && vfu_server_has_client(bench.server, &bench.devices[0])) {
		fd = lingering_socket(&peers[sent++]);
		send_request(c, C_MAP, 0, b, sizeof(b), &fd, 1);
		close(fd);
		turn(4);
	}
	assert_true(sent > 16 && sent < 128);
	assert_non_null(strstr(bench.log, "its file descriptors cannot be closed"));
	fd = dial(0);
	turn(20);
	assert_false(vfu_server_has_client(bench.server, &bench.devices[0]));
	assert_query_fw(other);
	for (unsigned i = 0; i < sent; i++)
		close(peers[i]);
	for (unsigned i = 0;
	     i < TURNS_MAX && !vfu_server_has_client(bench.server, &bench.devices[0]); i++)
		turn(1);
	close(fd);
	turn(4);
	assert_int_equal(recv(c->fd, &byte, 1, MSG_DONTWAIT), 1); /* an answer of before */
	assert_query_fw(join(0));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_up, bench_down)
	const struct CMUnitTest tests[] = {
		T(every_promised_range_is_mapped),
		T(a_limit_is_not_the_drivers_fault),
		T(files_have_a_limit),
		T(addresses_have_a_limit),
		T(a_file_grows),
		T(a_seal_comes_after_the_cut),
		T(a_descriptor_is_not_more_than_it_allows),
		T(a_full_eventfd_stops_nobody),
		T(a_descriptor_that_lingers_stops_nobody),
		T(descriptors_that_linger_do_not_pile_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
