/* SPDX-License-Identifier: Apache-2.0 */
/* See hostile.h. Each act is limited by a count, and by the alarm of its process. */
#define _GNU_SOURCE
#include "testbench/tests/hostile.h"

#include "host_driver/mlx4/connect.h"
#include "host_driver/mlx4/mlx4.h"
#include "model/interface/commands.h"
#include "model/interface/macros.h"
#include "model/interface/regs.h"
#include "model/sim/rng.h"
#include "testbench/tests/serve_guest.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	ALARM_S = 20,
	RANDOM_MAX = 256,
	MULTI = 200,
	MULTI_BYTES = 24,
	LINGER_S = 1,
	FILES = 4200
};

static struct guest guest;
static struct rng rng;

static void lost(void)
{
	_exit(0);
}

static uint64_t below(uint64_t n)
{
	return rng_below(&rng, n);
}

static void fill(void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((uint8_t *)bytes)[i] = below(3) ? 0 : (uint8_t)rng_next(&rng);
}

static void let_in(const char *path)
{
	const uint16_t on = 6;

	if (guest_open(&guest, path, lost))
		_exit(0);
	guest_write(&guest, GUEST_CONFIG, 4, &on, sizeof(on));
}

static int file_of(uint64_t size)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size))
		_exit(0);
	return fd;
}

/* Brings the device up with the real driver. */
static struct drv_device *bring_up(void)
{
	const struct drv_options options = {.poll_commands = true,
					    .no_ports = true,
					    .command_timeout_ps = UINT64_C(2000000000000)};
	struct drv_device *dev;

	if (drv_probe(&guest.platform, &options, &dev))
		_exit(1);
	return dev;
}

/* --- messages, memory --- */

static void act_messages(void)
{
	uint8_t bytes[RANDOM_MAX];

	for (unsigned i = 0; i < 2000; i++) {
		const int fds[2] = {guest.memfd, guest.memfd};
		size_t len = below(sizeof(bytes));

		fill(bytes, len);
		if (guest_send(&guest, (unsigned)(2 + below(15)), below(2) ? GUEST_NO_REPLY : 0,
			       bytes, len, fds, (unsigned)below(3)))
			return;
		while (recv(guest.fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
			;
	}
	/* half a message, then nothing more */
	send(guest.fd, bytes, 7, MSG_NOSIGNAL);
}

static void act_maps(void)
{
	const uint64_t base = UINT64_C(1) << 40;
	int huge = file_of(UINT64_C(1) << 50);

	guest_map(&guest, base * 4, PAGE, huge, 0, true);
	for (uint64_t i = 0; i < 2000; i++)
		guest_map(&guest, base + 2 * below(1 << 20) * PAGE, PAGE, guest.memfd,
			  below(GUEST_PAGES) * PAGE, true);
	for (uint64_t i = 0; i < FILES; i++) {
		int fd = file_of(PAGE * (1 + below(8)));

		guest_map(&guest, base * 2 + i * PAGE, PAGE, fd, 0, true);
		close(fd);
	}
}

static void act_shrink(void)
{
	struct drv_device *dev;
	const uint64_t bus = UINT64_C(1) << 40;
	int fd = file_of(64 * PAGE);

	guest_map(&guest, bus, 64 * PAGE, fd, 0, true);
	dev = bring_up();
	for (unsigned i = 0; i < 50; i++) {
		struct drv_raw_cmd cmd = {.op = HCR_QUERY_DEV_CAP};
		uint8_t list[16 * 16];

		(void)!ftruncate(fd, (off_t)(below(65) * PAGE));
		fill(list, sizeof(list));
		cmd = (struct drv_raw_cmd){.op = HCR_MAD_IFC, .in = list, .in_len = sizeof(list)};
		if (below(2))
			cmd = (struct drv_raw_cmd){.op = HCR_SW2HW_MPT,
						   .in_param = bus + below(64) * PAGE};
		drv_cmd(dev, &cmd);
	}
}

/* --- descriptors --- */

static void act_eventfd(void)
{
	struct {
		uint32_t size, flags, index, start, count;
	} m = {20, 0x24, 2, 0, 1}, trigger = {20, 0x21, 2, 0, 1};
	const uint64_t full = UINT64_MAX - 1, one = 1;
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	const bool races = below(2);

	if (guest_ask(&guest, GUEST_SET_IRQS, &m, sizeof(m), &fd, 1, NULL, 0))
		return;
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t count;

		if (guest_send(&guest, GUEST_SET_IRQS, GUEST_NO_REPLY, &trigger, sizeof(trigger),
			       NULL, 0))
			return;
		fcntl(fd, F_SETFL, O_NONBLOCK);
		(void)!write(fd, &full, sizeof(full));
		(void)!write(fd, &one, sizeof(one));
		fcntl(fd, F_SETFL, 0);
		if (races) {
			fcntl(fd, F_SETFL, O_NONBLOCK);
			(void)!read(fd, &count, sizeof(count));
		}
	}
}

/* A socket with SO_LINGER that has unsent bytes, because its peer does not read. */
static int lingering_socket(int *peer)
{
	const struct linger linger = {1, 60};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint8_t bytes[PAGE] = {0};

	if (bind(listener, (struct sockaddr *)&address, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &len) ||
	    connect(fd, (struct sockaddr *)&address, len))
		_exit(1);
	*peer = accept(listener, NULL, NULL);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(listener);
	return fd;
}

/* Gives the server sockets that linger when they are closed. Closing a socket does not linger when
 * a process exits, so the server must be the last to close them. A child keeps the peers open a
 * while longer. */
static void act_linger(void)
{
	int fds[12], peers[12], ready[2];
	char byte;

	for (unsigned i = 0; i < 12; i++)
		fds[i] = lingering_socket(&peers[i]);
	if (pipe(ready))
		_exit(1);
	if (!fork()) {
		for (unsigned i = 0; i < 12; i++)
			close(fds[i]);
		close(guest.fd);
		close(ready[0]);
		close(ready[1]);
		sleep(LINGER_S);
		_exit(0);
	}
	/* waits until the child has closed its copies, while this process still has its own; so the
	 * child's close does not linger either */
	close(ready[1]);
	(void)!read(ready[0], &byte, 1);
	for (unsigned i = 0; i < 12; i++)
		guest_send(&guest, (unsigned)(1 + below(15)), GUEST_NO_REPLY, fds, sizeof(fds),
			   fds + i % 10, (unsigned)(1 + below(3)));
}

/* --- requests without end --- */

static void act_silent(void)
{
	uint32_t m[] = {24, 32, 0, 0, 0, 0, GUEST_CONFIG, PAGE};

	m[0] = GUEST_READ << 16;
	for (unsigned i = 0; i < 4000; i++)
		if (send(guest.fd, m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(m))
			usleep(10);
}

static uint64_t some_register(unsigned *region)
{
	*region = below(3) ? GUEST_BAR2 : GUEST_BAR0;
	if (*region == GUEST_BAR2)
		return below(HCA_BAR2_SIZE / 8) * 8;
	return below(2) ? BAR0_HCR + below(16) * 4 : below(HCA_BAR0_SIZE / 4) * 4;
}

static void many_writes(void)
{
	uint8_t m[8 + MULTI * MULTI_BYTES] = {MULTI};

	for (unsigned i = 0; i < MULTI; i++) {
		uint8_t *w = m + 8 + i * MULTI_BYTES;
		unsigned region;
		uint64_t offset = some_register(&region);
		const uint32_t size = region == GUEST_BAR2 ? 8 : 4;

		memcpy(w, &offset, sizeof(offset));
		memcpy(w + 8, &region, sizeof(region));
		memcpy(w + 12, &size, sizeof(size));
		fill(w + 16, 8);
	}
	if (guest_send(&guest, GUEST_WRITE_MULTI, GUEST_NO_REPLY, m, sizeof(m), NULL, 0))
		_exit(0);
}

static void act_registers(void)
{
	uint8_t bytes[PAGE];

	for (unsigned i = 0; i < 500; i++) {
		unsigned region;
		uint64_t offset = some_register(&region);

		many_writes();
		guest_read(&guest, region, offset & ~4095ull, bytes, sizeof(bytes));
		if (!below(100))
			guest_ask(&guest, GUEST_RESET, NULL, 0, NULL, 0, NULL, 0);
	}
}

/* --- with a driver --- */

static void act_icm(void)
{
	struct drv_device *dev = bring_up();
	uint64_t list[512];

	for (unsigned i = 0; i < 16; i++) {
		struct drv_raw_cmd cmd = {
			.op = HCR_MAP_ICM, .in_mod = 256, .in = list, .in_len = sizeof(list)};

		for (unsigned k = 0; k < 256; k++) {
			list[2 * k] = htobe64((below(1 << 12) << 28) +
					      (i % 2 ? below(1 << 12) << 12 : 0));
			list[2 * k + 1] = htobe64((below(1 << 20) << 28) | (i % 4 == 3 ? 0 : 16));
		}
		drv_cmd(dev, &cmd);
		if (i % 4 == 3) {
			cmd = (struct drv_raw_cmd){.op = HCR_UNMAP_ICM,
						   .in_param = below(1 << 12) << 28,
						   .in_mod = 1u << 28};
			drv_cmd(dev, &cmd);
		}
	}
}

static void act_commands(void)
{
	static const uint16_t ops[] = {
#define C(name, op, ...) op,
		HCR_COMMANDS(C)
#undef C
	};
	struct drv_device *dev = bring_up();
	uint8_t box[1024];

	for (unsigned i = 0; i < 500; i++) {
		struct drv_raw_cmd cmd = {
			.op = ops[below(ARRAY_SIZE(ops))],
			.op_mod = (unsigned)below(8) ? 0 : (unsigned)below(256),
			.in_mod = (uint32_t)(below(4) ? below(512) : rng_next(&rng)),
			.in = below(8) ? box : NULL,
			.in_len = sizeof(box),
			.in_param = rng_next(&rng),
		};

		/* these would only end the driver's session */
		if (cmd.op == HCR_CLOSE_HCA || cmd.op == HCR_UNMAP_FA)
			continue;
		fill(box, sizeof(box));
		if (drv_cmd(dev, &cmd) == -ETIMEDOUT)
			return;
	}
}

enum { QPS = 8, QPS_MANY = 100, ENTRIES = 64 };

static struct drv_qp *qp_ready(struct drv_pd *pd, struct drv_cq *cq)
{
	const struct drv_qp_init init = {.type = IBV_QPT_RC,
					 .send_cq = cq,
					 .recv_cq = cq,
					 .cap = {ENTRIES, ENTRIES, 2, 2, 0}};
	struct drv_qp *qp;
	struct drv_rc_path path;

	if (drv_qp_create(pd, &init, &qp))
		_exit(1);
	path = drv_rc_path_default(1, drv_qp_num(qp));
	if (drv_qp_connect(qp, &path))
		_exit(1);
	return qp;
}

/* Rings a doorbell as user processes can: on any page, with any QP number. */
static void ring(uint32_t qpn)
{
	const uint32_t value = htobe32(qpn << 8);

	guest_write(&guest, GUEST_BAR2, (HCA_UAR_EQ_PAGES + below(8)) * PAGE + 0x14, &value,
		    sizeof(value));
}

static void act_wqes(void)
{
	struct drv_device *dev = bring_up();
	struct drv_qp *qp[QPS];
	struct drv_pd *pd;
	struct drv_cq *cq;
	unsigned top = 0;

	if (drv_pd_alloc(dev, &pd) || drv_cq_create(dev, 255, DRV_CQ_POLLED, &cq))
		_exit(1);
	for (unsigned i = 0; i < QPS; i++)
		qp[i] = qp_ready(pd, cq);
	while (top < GUEST_PAGES && guest.used[top])
		top++;
	for (unsigned i = 0; i < 5000; i++) {
		uint8_t *at = guest.memory + below(top) * PAGE + below(PAGE / 64) * 64;

		fill(at, 64);
		/* changes an index in a doorbell record, or an owner bit */
		at[below(64)] = (uint8_t)below(256);
		ring(below(8) ? drv_qp_num(qp[below(QPS)]) : (uint32_t)below(1 << 24));
	}
}

static void act_qps(void)
{
	struct drv_device *dev = bring_up();
	struct drv_pd *pd;
	struct drv_cq *cq;

	if (drv_pd_alloc(dev, &pd) || drv_cq_create(dev, 4095, DRV_CQ_POLLED, &cq))
		_exit(1);
	for (unsigned i = 0; i < QPS_MANY; i++) {
		struct drv_qp *qp = qp_ready(pd, cq);
		const struct drv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
		const struct drv_send_wr *bad;

		for (unsigned k = 0; k < ENTRIES; k++)
			drv_post_send(qp, &wr, &bad);
		for (unsigned k = 0; k < 16; k++)
			ring((uint32_t)below(1 << 18));
	}
}

/* --- rows --- */

static const struct {
	const char *name;
	void (*act)(void);
} acts[] = {
#define A(name, meaning) [HOSTILE_##name] = {#name, act_##name},
	HOSTILE_ACTS(A)
#undef A
};

const char *hostile_name(enum hostile_act act)
{
	return acts[act].name;
}

void hostile_do(const char *path, enum hostile_act act, uint64_t seed)
{
	alarm(ALARM_S);
	rng_init(&rng, seed, acts[act].name);
	let_in(path);
	acts[act].act();
	_exit(0);
}
