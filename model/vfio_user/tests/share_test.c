// SPDX-License-Identifier: Apache-2.0
/* How much of the process one client can take. Each limit is reported by name, and the other guest
 * keeps its own share. */
#define _GNU_SOURCE
#include "model/vfio_user/tests/client.h"

#include "model/engine/base/engine.h"
#include "model/engine/host/interrupt.h"

#include <malloc.h>
#include <netinet/in.h>
#include <sys/resource.h>

enum { PAGE = 4096, MAPS = 65535, FILES = 4096, SHARE_GIB = 16384 };

/* bus address at which pages are mapped one by one */
static const uint64_t pages_bus = 0x100000000;

/* Maps a page without using the socket, which would be slow. */
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

/* Counts mappings of memory files only, because an allocator also makes mappings. */
static unsigned file_mappings(void)
{
	FILE *in = fopen("/proc/self/maps", "r");
	unsigned found = 0;
	char line[512];

	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		found += strstr(line, "/memfd:") != NULL;
	fclose(in);
	return found;
}

/* As many ranges as are promised can be mapped, page by page, in any order, by both guests. The
 * process needs only one mapping for each guest. */
static void every_promised_range_is_mapped(void **state)
{
	unsigned before;

	join(0);
	join(1);
	before = file_mappings();
	for (unsigned d = 0; d < DEVICES; d++)
		for (unsigned i = 1; i < MAPS; i++) { /* the guest's memory is the first range */
			const uint64_t n = d ? i : i * 7919ull % MAPS;

			assert_int_equal(page_map(d, pages_bus + 2 * n * PAGE,
						  bench.clients[d].memfd,
						  n % (GUEST_BYTES / PAGE) * PAGE),
					 0);
		}
	assert_true(file_mappings() < before + 4);
	assert_int_equal(bench.limits, 0);
	for (unsigned d = 0; d < DEVICES; d++) {
		struct client *c = &bench.clients[d];

		/* page 0x1000 of the file is mapped here, too */
		assert_int_equal(query_fw(c, pages_bus + 2ull * 257 * PAGE), 0);
		assert_int_equal(c->memory[0x100b], 3);
	}
	assert_int_equal(bench.guest_errors[0] + bench.guest_errors[1], 0);
}

/* The first range beyond the limit is refused, and the limit is reported by name. If a driver then
 * uses that range, it is not counted as the driver's mistake. */
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
	assert_non_null(strstr(bench.limit, "not the driver's fault, at 10000000"));
	/* an address that nobody tried to map is the driver's mistake */
	assert_int_not_equal(query_fw(c, 0x20000000), 0);
	assert_int_equal(bench.guest_errors[0], 1);
	assert_string_equal(bench.rule, "dma_unmapped");
	/* the client unmaps the refused range: from now on using it is the driver's mistake */
	assert_int_equal(unmap(c, 0, beyond, PAGE), 0);
	assert_int_not_equal(query_fw(c, beyond), 0);
	assert_int_equal(bench.guest_errors[0], 2);
	/* the limit still holds; after one unmap there is room again */
	assert_int_equal(map(c, 3, 0x5000, beyond, PAGE, c->memfd), ENOSPC);
	assert_int_equal(unmap(c, 0, pages_bus + 2 * PAGE, PAGE), 0);
	assert_int_equal(map(c, 3, 0x5000, beyond, PAGE, c->memfd), 0);
	assert_int_equal(query_fw(c, beyond), 0);
	assert_int_equal(c->memory[0x500b], 3);
	assert_int_equal(bench.limits, 2);
}

/* A client that passes one file after another gets only its share of the process' mappings. */
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
	/* when the client goes, all its files are released */
	hang_up(c);
	turn(4);
	assert_int_equal(bench.devices[0].memory.files.count, 0);
	bench.limits = 0;
	assert_query_fw(join(0));
	assert_int_equal(bench.limits, 0);
}

/* A file without pages can have any length, so the total length is limited. */
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

/* A file is sealed after it has become shorter: the seal does not protect the part that was cut
 * off. */
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
	/* refused, although the file is already mapped for writing */
	assert_int_equal(map(c, 3, 0, pages_bus, PAGE, reading), EACCES);
	assert_int_equal(map(c, 3, 0, pages_bus, PAGE, writing), EACCES);
	assert_int_equal(map(c, 1, 0, pages_bus, PAGE, writing), EACCES);
	assert_int_equal(map(c, 3, 0, pages_bus, PAGE, named), EBADF);
	assert_int_equal(map(c, 1, 0, pages_bus, PAGE, reading), 0);
	assert_int_not_equal(query_fw(c, pages_bus), 0);
	assert_string_equal(bench.rule, "dma_unmapped");
	/* a file mapped only for reading first, then for reading and writing */
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

/* The client fills the counter of its eventfd and makes writes to it block. Then the device raises
 * an interrupt. If the server blocked, this test would not end. */
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
		/* a full counter means that an interrupt is pending, nothing worse */
		interrupt_raise(bench.devices[0].hca, 0);
		turn(4);
		assert_true(vfu_server_has_client(bench.server, &bench.devices[0]));
		interrupt_clear_intx(bench.devices[0].hca);
		assert_int_equal(set_irqs(c, 0x11, 0, 0, 1, NULL, 0), 0);
		assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
		interrupt_raise(bench.devices[0].hca, 0);
		turn(4);
		assert_false(vfu_server_has_client(bench.server, &bench.devices[0]));
		assert_non_null(strstr(bench.log, "writing to its eventfd blocks"));
		assert_query_fw(other);
		/* the same, when a message of the client triggers the interrupt */
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

/* A TCP socket with bytes that nobody reads. It lingers for a long time when its last copy is
 * closed. */
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

/* Lingering descriptors in a refused message, in a message with too many descriptors, and in a
 * message that is never read. */
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

/* A client that sends them again and again is not let in again until they have been closed. */
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
	/* an answer to an earlier message */
	assert_int_equal(recv(c->fd, &byte, 1, MSG_DONTWAIT), 1);
	assert_query_fw(join(0));
}

/* --- memory of the simulator --- */

/* Executes a command by polling. An input mailbox is the guest's first page. */
static unsigned command(struct client *c, unsigned op, uint64_t in, uint32_t modifier)
{
	const uint32_t hcr[7] = {(uint32_t)(in >> 32), (uint32_t)in, modifier, 0, GUEST_BUS, 0,
				 0x00800000u | op};
	uint8_t word[4];

	for (unsigned i = 0; i < 7; i++) {
		be32(word, hcr[i]);
		assert_int_equal(region_write(c, R_BAR0, 0x80680 + 4 * i, word, 4), 0);
	}
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		assert_int_equal(region_read(c, R_BAR0, 0x80698, word, 4), 0);
		if (!(word[1] & 0x80))
			return word[0];
		if (bench.catastrophes)
			return 0xff;
	}
	fail_msg("the command does not end");
	return 0;
}

enum { MAP_FA = 0xfff, RUN_FW = 0xff6, SET_ICM_SIZE = 0xffd, MAP_ICM_AUX = 0xffc, MAP_ICM = 0xffa };

static void list_put(struct client *c, unsigned i, uint64_t icm, uint64_t bus, unsigned log_pages)
{
	uint8_t *entry = c->memory + 16 * i;

	be32(entry, (uint32_t)(icm >> 32));
	be32(entry + 4, (uint32_t)icm);
	be32(entry + 8, (uint32_t)(bus >> 32));
	be32(entry + 12, (uint32_t)bus | log_pages);
}

/* Brings a device up until ICM can be mapped. None of the pages exists. */
static struct client *join_with_icm(unsigned device)
{
	struct client *c = join(device);

	list_put(c, 0, 0, 1ull << 40, 12);
	assert_int_equal(command(c, MAP_FA, GUEST_BUS, 1), 0);
	assert_int_equal(command(c, RUN_FW, 0, 0), 0);
	assert_int_equal(command(c, SET_ICM_SIZE, 1ull << 30, 0), 0);
	list_put(c, 0, 0, 2ull << 40, 4);
	assert_int_equal(command(c, MAP_ICM_AUX, GUEST_BUS, 1), 0);
	return c;
}

/* Limits the process to the addresses that it has now. It is called again, because other threads
 * may have given some back. */
static void host_has_no_more(void)
{
	FILE *in = fopen("/proc/self/statm", "r");
	struct rlimit limit;
	unsigned long pages;

	if (!in) /* there is not even memory to open the file */
		return;
	assert_int_equal(fscanf(in, "%lu", &pages), 1);
	fclose(in);
	assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = pages << 12;
	assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

/* Maps page after page until the memory is used up. */
static void icm_exhaust(struct client *c, void (*before_each)(void))
{
	for (uint64_t page = 0; !bench.catastrophes; page += 256) {
		assert_true(page < 1 << 24);
		if (before_each)
			before_each();
		for (unsigned i = 0; i < 256; i++)
			list_put(c, i, (page + i) << 12, (3ull << 40) + ((page + i) << 13), 0);
		command(c, MAP_ICM, GUEST_BUS, 256);
	}
}

/* The device has stopped, its message names the memory, and it has given its memory back. The other
 * device and the next client do not notice. */
static void assert_one_stopped(struct client *other)
{
	const struct hca *hca = bench.devices[0].hca;
	uint8_t word[4];

	turn(100);
	assert_int_equal(bench.catastrophes, 1);
	assert_non_null(strstr(bench.catastrophe, "out of memory for the map of ICM"));
	assert_true(hca->memory.bytes < 1 << 20);
	assert_int_equal(region_read(&bench.clients[0], R_BAR0, 0x80a00, word, 4), 0);
	assert_true(word[0] | word[1] | word[2] | word[3]);
	assert_query_fw(other);
	bench.catastrophes = 0;
	assert_query_fw(join(0));
	assert_int_equal(command(join_with_icm(0), MAP_ICM, GUEST_BUS, 1), 0);
	assert_int_equal(bench.catastrophes, 0);
}

static void a_device_has_its_share_of_memory(void **state)
{
	struct client *other = join(1);

	bench.config.hca[0].hca_memory = 4 << 20;
	icm_exhaust(join_with_icm(0), NULL);
	assert_one_stopped(other);
}

enum { HOARD_BYTES = 65536 };

struct hoard {
	struct hoard *next;
};

static struct hoard *hoard_free(struct hoard *h)
{
	struct hoard *next = h ? h->next : NULL;

	free(h);
	return next;
}

/* The host's memory ends before the device's limit is reached. */
static void the_end_of_memory_stops_one_device(void **state)
{
	struct client *other = join(1), *c = join_with_icm(0);
	struct hoard *hoard = NULL;
	struct rlimit before;

#ifdef __SANITIZE_ADDRESS__
	skip(); /* the sanitizer's allocator ends the process instead */
#endif
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	host_has_no_more();
	/* takes most of the memory that is still free */
	for (struct hoard *h; (h = malloc(HOARD_BYTES)); hoard = h)
		h->next = hoard;
	for (unsigned i = 0; i < 8; i++)
		hoard = hoard_free(hoard);
	icm_exhaust(c, host_has_no_more);
	turn(100);
	assert_query_fw(other);
	assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
	while (hoard)
		hoard = hoard_free(hoard);
	assert_one_stopped(other);
}

/* Maps chunks of 256 MiB that do not exist. Memory must not follow the sizes: 16 such commands once
 * took 2.3 GB. */
static void chunks_that_do_not_exist_cost_nothing(void **state)
{
	struct client *c = join_with_icm(0);
	const uint64_t before = bench.devices[0].hca->memory.bytes;

	for (unsigned n = 0; n < 16; n++) {
		for (unsigned i = 0; i < 256; i++)
			list_put(c, i, (uint64_t)(n * 256 + i) << 28, (uint64_t)(i + 1) << 40, 16);
		assert_int_equal(command(c, MAP_ICM, GUEST_BUS, 256), 0);
	}
	assert_true(bench.devices[0].hca->memory.bytes < before + (1 << 20));
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
		T(a_device_has_its_share_of_memory),
		T(the_end_of_memory_stops_one_device),
		T(chunks_that_do_not_exist_cost_nothing),
	};

	mallopt(M_ARENA_MAX, 1); /* a single arena, so that memory can run out */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
