/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vfio-user client for tests. It sends raw messages over its own socket and runs the server,
 * which is in the same thread, until the reply is there. Offsets and numbers are written here from
 * the protocol's description, not taken from protocol.h. Include it once.
 */
#ifndef MODEL_VFIO_USER_TESTS_CLIENT_H
#define MODEL_VFIO_USER_TESTS_CLIENT_H

#include "model/sim/cfg.h"
#include "model/sim/fault.h"
#include "model/vfio_user/device.h"
#include "model/vfio_user/server.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

/* relative to the folder of the test program */
#define TEST_FIRMWARE "../../../fw/hcasim-fw.elf"

enum {
	DEVICES = 2,
	REPLY_MAX = 16384,
	TURNS_MAX = 20000,
	NO_REPLY = 0x10,
	GUEST_BUS = 0x40000000,
	GUEST_BYTES = 0x100000,
	C_VERSION = 1,
	C_MAP,
	C_UNMAP,
	C_INFO,
	C_REGION,
	C_IRQ = 7,
	C_SET_IRQS,
	C_READ,
	C_WRITE,
	C_RESET = 13,
	C_MULTI = 15,
	R_BAR0 = 0,
	R_BAR2 = 2,
	R_CONFIG = 7,
};

struct client {
	int fd;
	uint16_t next_id;
	uint8_t *memory; /* the guest's own view of [GUEST_BUS, GUEST_BUS + GUEST_BYTES) */
	int memfd;
	unsigned commands; /* that query_fw() has sent */
};

struct answer {
	bool closed; /* the connection was closed instead of a reply */
	uint16_t id, command;
	uint32_t flags, error, len;
	uint8_t bytes[REPLY_MAX];
};

struct bench {
	struct config config;
	struct event_core core;
	struct vfu_device devices[DEVICES];
	struct vfu_server *server;
	struct fault_plan plan;
	struct client clients[DEVICES];
	char dir[64], paths[DEVICES][108];
	unsigned log_lines[DEVICES], guest_errors[DEVICES], catastrophes;
	unsigned masterings[2]; /* off, on */
	char log[256], rule[64];
	unsigned limits;
	char limit[256], catastrophe[256];
};

static struct bench bench;

/* --- bytes --- */

static __attribute__((unused)) void put(uint8_t *b, unsigned size, uint64_t value)
{
	for (unsigned i = 0; i < size; i++)
		b[i] = (uint8_t)(value >> (8 * i));
}

static __attribute__((unused)) uint64_t get(const uint8_t *b, unsigned size)
{
	uint64_t v = 0;

	for (unsigned i = size; i-- > 0;)
		v = v << 8 | b[i];
	return v;
}

/* --- the bench --- */

static __attribute__((unused)) void on_log(void *arg, const struct vfu_device *device,
					   const char *line)
{
	bench.log_lines[device->index]++;
	snprintf(bench.log, sizeof(bench.log), "%s", line);
}

static __attribute__((unused)) void on_mastering(void *arg, const struct vfu_device *device,
						 bool on)
{
	bench.masterings[on]++;
}

static __attribute__((unused)) void on_guest_error(void *arg, const struct vfu_device *device,
						   const struct guest_error *error)
{
	bench.guest_errors[device->index]++;
	snprintf(bench.rule, sizeof(bench.rule), "%s", error->name);
}

static __attribute__((unused)) void on_catastrophe(void *arg, const struct vfu_device *device,
						   const char *text)
{
	bench.catastrophes++;
	snprintf(bench.catastrophe, sizeof(bench.catastrophe), "%s", text);
}

static __attribute__((unused)) void on_limit(void *arg, const struct vfu_device *device,
					     const char *text)
{
	bench.limits++;
	snprintf(bench.limit, sizeof(bench.limit), "%s", text);
}

static __attribute__((unused)) void firmware_path(char *path, size_t size)
{
	char self[4096] = {0};

	assert_true(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	snprintf(path, size, "%s/" TEST_FIRMWARE, dirname(self));
}

static char fw_path[4200];

static __attribute__((unused)) int bench_up(void **state)
{
	const struct vfu_watcher watcher = {
		.mastering = on_mastering,
		.log = on_log,
		.guest_error = on_guest_error,
		.catastrophe = on_catastrophe,
		.limit = on_limit,
	};
	char err[256] = "";

	memset(&bench, 0, sizeof(bench));
	firmware_path(fw_path, sizeof(fw_path));
	cfg_defaults(&bench.config);
	event_core_init(&bench.core);
	bench.server = vfu_server_create(&bench.core, &bench.config.sim);
	strcpy(bench.dir, "/tmp/vfu_test_XXXXXX");
	assert_non_null(mkdtemp(bench.dir));
	for (unsigned i = 0; i < DEVICES; i++) {
		vfu_device_create(&bench.devices[i], i, &bench.config.hca[i], &bench.config.host[i],
				  &bench.core, NULL, fw_path, &watcher, err, sizeof(err));
		assert_string_equal(err, "");
		snprintf(bench.paths[i], sizeof(bench.paths[i]), "%s/%u.sock", bench.dir, i);
		vfu_server_offer(bench.server, &bench.devices[i], bench.paths[i], err, sizeof(err));
		assert_string_equal(err, "");
		bench.clients[i].fd = bench.clients[i].memfd = -1;
	}
	fault_plan_init(&bench.plan, 1);
	hca_link(bench.devices[0].hca, 1, bench.devices[1].hca, 1, &bench.plan);
	return 0;
}

static __attribute__((unused)) void hang_up(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->memfd >= 0)
		close(c->memfd);
	if (c->memory)
		munmap(c->memory, GUEST_BYTES);
	c->fd = c->memfd = -1;
	c->memory = NULL;
}

static __attribute__((unused)) int bench_down(void **state)
{
	vfu_server_destroy(bench.server);
	for (unsigned i = 0; i < DEVICES; i++) {
		hang_up(&bench.clients[i]);
		vfu_device_destroy(&bench.devices[i]);
	}
	event_core_free(&bench.core);
	fault_plan_free(&bench.plan);
	/* the socket files have been removed */
	assert_int_equal(rmdir(bench.dir), 0);
	return 0;
}

static __attribute__((unused)) void turn(unsigned turns)
{
	while (turns--)
		vfu_server_turn(bench.server, 100000);
}

/* --- messages --- */

static __attribute__((unused)) int dial(unsigned device)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, bench.paths[device]);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Sends any bytes, with any descriptors. */
static __attribute__((unused)) void send_raw(struct client *c, const void *bytes, size_t len,
					     const int *fds, unsigned n)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec iov = {(void *)(uintptr_t)bytes, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n) {
		struct cmsghdr *h;

		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		h = CMSG_FIRSTHDR(&msg);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(h), fds, n * sizeof(int));
	}
	assert_int_equal(sendmsg(c->fd, &msg, MSG_NOSIGNAL), (ssize_t)len);
}

static __attribute__((unused)) uint16_t send_request(struct client *c, unsigned command,
						     uint32_t flags, const uint8_t *payload,
						     uint32_t len, const int *fds, unsigned n)
{
	uint8_t message[16 + REPLY_MAX] = {0};

	put(message, 2, ++c->next_id);
	put(message + 2, 2, command);
	put(message + 4, 4, 16 + len);
	put(message + 8, 4, flags);
	if (len)
		memcpy(message + 16, payload, len);
	send_raw(c, message, 16 + len, fds, n);
	return c->next_id;
}

/* Runs the server until len bytes have come. False: the connection was closed before that. */
static __attribute__((unused)) bool receive(struct client *c, uint8_t *bytes, size_t len)
{
	for (unsigned i = 0; i < TURNS_MAX && len; i++) {
		ssize_t n = recv(c->fd, bytes, len, MSG_DONTWAIT);

		if (n == 0 || (n < 0 && errno != EAGAIN))
			return false;
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
			continue;
		}
		turn(1);
	}
	assert_int_equal(len, 0);
	return true;
}

static __attribute__((unused)) struct answer *await(struct client *c)
{
	static struct answer a;
	uint8_t header[16];

	memset(&a, 0, sizeof(a));
	a.closed = !receive(c, header, sizeof(header));
	if (a.closed)
		return &a;
	a.id = (uint16_t)get(header, 2);
	a.command = (uint16_t)get(header + 2, 2);
	a.len = (uint32_t)get(header + 4, 4) - 16;
	a.flags = (uint32_t)get(header + 8, 4);
	a.error = (uint32_t)get(header + 12, 4);
	assert_true(a.len <= sizeof(a.bytes));
	a.closed = !receive(c, a.bytes, a.len);
	return &a;
}

/* Sends a request and waits for its reply. Returns the reply's errno; 0: success; -1: the
 * connection was closed. */
static __attribute__((unused)) int ask(struct client *c, unsigned command, const uint8_t *payload,
				       uint32_t len, const int *fds, unsigned n,
				       struct answer **answer)
{
	uint16_t id = send_request(c, command, 0, payload, len, fds, n);
	struct answer *a = await(c);

	if (answer)
		*answer = a;
	if (a->closed)
		return -1;
	assert_int_equal(a->id, id);
	assert_int_equal(a->command, command);
	assert_int_equal(a->flags & 0xf, 1);
	if (!(a->flags & 0x20))
		return 0;
	assert_int_equal(a->len, 0);
	assert_int_not_equal(a->error, 0);
	return (int)a->error;
}

static __attribute__((unused)) int greet(struct client *c, unsigned major, const char *json,
					 struct answer **answer)
{
	uint8_t b[512] = {0};

	put(b, 2, major);
	strcpy((char *)b + 4, json);
	return ask(c, C_VERSION, b, 4 + (uint32_t)strlen(json) + 1, NULL, 0, answer);
}

static __attribute__((unused)) int map(struct client *c, uint32_t flags, uint64_t offset,
				       uint64_t address, uint64_t size, int fd)
{
	uint8_t b[32];

	put(b, 4, sizeof(b));
	put(b + 4, 4, flags);
	put(b + 8, 8, offset);
	put(b + 16, 8, address);
	put(b + 24, 8, size);
	return ask(c, C_MAP, b, sizeof(b), &fd, fd >= 0, NULL);
}

static __attribute__((unused)) int unmap(struct client *c, uint32_t flags, uint64_t address,
					 uint64_t size)
{
	uint8_t b[24];

	put(b, 4, sizeof(b));
	put(b + 4, 4, flags);
	put(b + 8, 8, address);
	put(b + 16, 8, size);
	return ask(c, C_UNMAP, b, sizeof(b), NULL, 0, NULL);
}

static __attribute__((unused)) int region_write(struct client *c, unsigned region, uint64_t offset,
						const void *bytes, uint32_t n)
{
	uint8_t b[16 + 4096];

	put(b, 8, offset);
	put(b + 8, 4, region);
	put(b + 12, 4, n);
	memcpy(b + 16, bytes, n);
	return ask(c, C_WRITE, b, 16 + n, NULL, 0, NULL);
}

static __attribute__((unused)) int region_read(struct client *c, unsigned region, uint64_t offset,
					       void *bytes, uint32_t n)
{
	struct answer *a;
	uint8_t b[16];
	int rc;

	put(b, 8, offset);
	put(b + 8, 4, region);
	put(b + 12, 4, n);
	rc = ask(c, C_READ, b, sizeof(b), NULL, 0, &a);
	if (rc)
		return rc;
	assert_int_equal(a->len, 16 + n);
	assert_memory_equal(a->bytes, b, 16);
	memcpy(bytes, a->bytes + 16, n);
	return 0;
}

/* DATA_EVENTFD | TRIGGER with n descriptors. The client keeps its own copies. */
static __attribute__((unused)) int set_irqs(struct client *c, uint32_t flags, uint32_t index,
					    uint32_t start, uint32_t count, const int *fds,
					    unsigned n)
{
	uint8_t b[20];

	put(b, 4, sizeof(b));
	put(b + 4, 4, flags);
	put(b + 8, 4, index);
	put(b + 12, 4, start);
	put(b + 16, 4, count);
	return ask(c, C_SET_IRQS, b, sizeof(b), fds, n, NULL);
}

/* A client that has sent its version and its memory, and has switched on memory space and bus
 * master. */
static __attribute__((unused)) struct client *join(unsigned device)
{
	struct client *c = &bench.clients[device];
	const uint8_t on[2] = {6, 0};

	hang_up(c);
	c->fd = dial(device);
	assert_int_equal(greet(c, 0, "{\"capabilities\":{\"max_msg_fds\":16}}", NULL), 0);
	c->memfd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(c->memfd, GUEST_BYTES), 0);
	c->memory = mmap(NULL, GUEST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, c->memfd, 0);
	assert_ptr_not_equal(c->memory, MAP_FAILED);
	assert_int_equal(map(c, 3, 0, GUEST_BUS, GUEST_BYTES, c->memfd), 0);
	assert_int_equal(region_write(c, R_CONFIG, 4, on, sizeof(on)), 0);
	return c;
}

/* --- the device as a driver sees it --- */

static __attribute__((unused)) void be32(uint8_t *b, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		b[i] = (uint8_t)(v >> (24 - 8 * i));
}

/* Executes QUERY_FW into the mailbox at `bus`, by polling. Returns the status of the command. */
static __attribute__((unused)) unsigned query_fw(struct client *c, uint64_t bus)
{
	/* GO, QUERY_FW, and the toggle bit, which is another one in each command */
	const uint32_t command = 0x00800004 | (uint32_t)(c->commands++ & 1) << 21;
	const uint32_t hcr[7] = {0, 0, 0, (uint32_t)(bus >> 32), (uint32_t)bus, 0, command};
	uint8_t word[4];

	for (unsigned i = 0; i < 7; i++) {
		be32(word, hcr[i]);
		assert_int_equal(region_write(c, R_BAR0, 0x80680 + 4 * i, word, 4), 0);
	}
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		assert_int_equal(region_read(c, R_BAR0, 0x80698, word, 4), 0);
		if (!(word[1] & 0x80))
			return word[0];
	}
	fail_msg("the command does not end");
	return 0;
}

/* Checks that fw_pages is not 0 and that the command interface revision is 3. */
static __attribute__((unused)) void assert_query_fw(struct client *c)
{
	memset(c->memory, 0, GUEST_BYTES);
	assert_int_equal(query_fw(c, GUEST_BUS + 0x3000), 0);
	assert_true(c->memory[0x3000] || c->memory[0x3001]);
	assert_int_equal(c->memory[0x300a] << 8 | c->memory[0x300b], 3);
	/* no byte around the mailbox has changed */
	for (unsigned i = 0; i < GUEST_BYTES; i++)
		if ((i < 0x3000 || i >= 0x4000) && c->memory[i])
			fail_msg("byte %x of guest memory was written", i);
}

static __attribute__((unused)) uint64_t eventfd_count(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

#endif
