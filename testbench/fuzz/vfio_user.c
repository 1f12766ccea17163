/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of a vfio-user client:
 * - messages that are whole, short, oversized, out of order, or raw bytes;
 * - DMA ranges that overlap or are absurd, mapped page by page, in files that shrink or grow;
 * - interrupt descriptors that are not eventfds, or that block;
 * - accesses and commands while memory is mapped and unmapped;
 * - a client that leaves in the middle.
 * After each step the table of ranges must agree with the files that are mapped. After each input
 * the other guest must still be served, and its memory must be unchanged.
 */
#define _GNU_SOURCE
#include "model/interface/macros.h"
#include "model/sim/cfg.h"
#include "model/sim/fault.h"
#include "model/vfio_user/device.h"
#include "model/vfio_user/protocol.h"
#include "model/vfio_user/server.h"
#include "testbench/fuzz/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	GUESTS = 2,
	MEMORY = 1 << 20,
	LOG_TIB = 40,
	PATTERN = 0x5a,
	STEPS_MAX = 64,
	RAW_MAX = 64,
	PAGES_MAX = 40,
	MESSAGE_MAX = 9000,     /* more than the server accepts */
	ANSWER_TURNS = 1000000, /* the processor may be with others meanwhile */
	TURN_NS = 1000,
	INPUTS = 256, /* per server */
};

static const uint64_t bus_base = 0x40000000;

enum guest_file_kind {
	FILE_SEALED,  /* memory that keeps its size */
	FILE_SHRINKS, /* memory that does not */
	FILE_NULL,    /* /dev/null */
	FILE_EVENT,   /* an eventfd */
	FILE_NONE,
	FILE_READING, /* FILE_SEALED, for reading only */
	FILE_SPARSE,  /* terabytes without pages */
	FILE_GROWS,   /* sealed after it is cut or grows for the first time */
	FILES,
};

struct guest {
	int fd;
	uint8_t *memory;
	int files[FILES];
};

static struct {
	struct config config;
	struct event_core core;
	struct fault_plan plan;
	struct vfu_device devices[GUESTS];
	struct vfu_server *server;
	char dir[32], paths[GUESTS][64];
	struct guest guests[GUESTS];
	unsigned inputs;
} rig;

static void needed(bool ok, int line, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s:%d: needed: %s\n", __FILE__, line, what);
	abort();
}

#define need(what) needed(what, __LINE__, #what)

static void turn(unsigned n)
{
	while (n--)
		vfu_server_turn(rig.server, TURN_NS);
}

/* --- the server and its guests --- */

static void hang_up(struct guest *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

static void rig_down(void)
{
	if (!rig.server)
		return;
	vfu_server_destroy(rig.server);
	for (unsigned i = 0; i < GUESTS; i++) {
		hang_up(&rig.guests[i]);
		vfu_device_destroy(&rig.devices[i]);
		munmap(rig.guests[i].memory, MEMORY);
		for (unsigned f = 0; f < FILES; f++)
			if (rig.guests[i].files[f] >= 0)
				close(rig.guests[i].files[f]);
	}
	event_core_free(&rig.core);
	fault_plan_free(&rig.plan);
	rmdir(rig.dir);
	memset(&rig, 0, sizeof(rig));
}

static void guest_make(struct guest *g)
{
	char path[32];

	g->fd = -1;
	g->files[0] = memfd_create("guest", MFD_ALLOW_SEALING);
	need(!ftruncate(g->files[0], MEMORY) && !fcntl(g->files[0], F_ADD_SEALS, F_SEAL_SHRINK));
	g->files[1] = memfd_create("shrinks", MFD_ALLOW_SEALING);
	g->files[2] = open("/dev/null", O_RDWR);
	g->files[3] = eventfd(0, EFD_NONBLOCK);
	g->files[FILE_NONE] = -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", g->files[FILE_SEALED]);
	g->files[FILE_READING] = open(path, O_RDONLY);
	g->files[FILE_SPARSE] = memfd_create("sparse", 0);
	need(!ftruncate(g->files[FILE_SPARSE], (off_t)9 << LOG_TIB));
	g->files[FILE_GROWS] = memfd_create("grows", MFD_ALLOW_SEALING);
	g->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED, g->files[0], 0);
	need(g->memory != MAP_FAILED);
	memset(g->memory, PATTERN, MEMORY);
}

static void rig_up(void)
{
	static const struct vfu_watcher nobody;
	const char *fw = getenv("FUZZ_FW");
	char err[256];

	atexit(rig_down);
	cfg_defaults(&rig.config);
	event_core_init(&rig.core);
	fault_plan_init(&rig.plan, 1);
	rig.server = vfu_server_create(&rig.core, &rig.config.sim);
	strcpy(rig.dir, "/tmp/fuzz_vfu_XXXXXX");
	need(rig.server && mkdtemp(rig.dir));
	for (unsigned i = 0; i < GUESTS; i++) {
		need(!vfu_device_create(&rig.devices[i], i, &rig.config.hca[i], &rig.config.host[i],
					&rig.core, NULL, fw ? fw : "build/fw/hcasim-fw.elf",
					&nobody, err, sizeof(err)));
		snprintf(rig.paths[i], sizeof(rig.paths[i]), "%s/%u", rig.dir, i);
		need(!vfu_server_offer(rig.server, &rig.devices[i], rig.paths[i], err,
				       sizeof(err)));
		guest_make(&rig.guests[i]);
	}
	hca_link(rig.devices[0].hca, 1, rig.devices[1].hca, 1, &rig.plan);
}

/* The server may close the connection at any time, or have no room in its buffer. What it does not
 * take is lost. */
static void send_bytes(struct guest *g, const uint8_t *bytes, size_t len, const int *fds,
		       unsigned n_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * VFU_MAX_FDS * sizeof(int))];
	} control = {{0}};
	struct iovec iov = {(void *)(uintptr_t)bytes, len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n_fds) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		*CMSG_FIRSTHDR(&msg) = (struct cmsghdr){.cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
							.cmsg_level = SOL_SOCKET,
							.cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, n_fds * sizeof(int));
	}
	(void)!sendmsg(g->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void send_message(struct guest *g, unsigned command, uint32_t flags, const uint8_t *payload,
			 uint32_t len, const int *fds, unsigned n_fds)
{
	static uint8_t m[VFU_HEADER + MESSAGE_MAX];

	memset(m, 0, VFU_HEADER);
	vfu_put16(m + VFU_H_COMMAND, (uint16_t)command);
	vfu_put32(m + VFU_H_SIZE, VFU_HEADER + len);
	vfu_put32(m + VFU_H_FLAGS, flags);
	memcpy(m + VFU_HEADER, payload, len);
	send_bytes(g, m, VFU_HEADER + len, fds, n_fds);
}

/* Reads answers. Returns the number of bytes; 0: none, -1: the connection ended. */
static ssize_t hear(struct guest *g, uint8_t *bytes, size_t room)
{
	ssize_t n = recv(g->fd, bytes, room, MSG_DONTWAIT);

	return n > 0 ? n : n ? 0 : -1;
}

static void dial(struct guest *g, bool greet)
{
	static const uint8_t version[VFU_V_DATA];
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, rig.paths[g - rig.guests]);
	/* the server accepts nobody while it closes earlier clients' descriptors, so it gets a
	 * turn */
	g->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	while (connect(g->fd, (struct sockaddr *)&address, sizeof(address))) {
		need(errno == EAGAIN);
		turn(1);
	}
	turn(2);
	if (greet)
		send_message(g, VFU_VERSION, 0, version, sizeof(version), NULL, 0);
	turn(2);
}

/* Reads the vendor ID in configuration space, which shows that the device is served. */
static void assert_served(struct guest *g)
{
	uint8_t b[VFU_A_DATA] = {0}, answer[VFU_HEADER + VFU_A_DATA + 4];
	ssize_t n = 0;

	vfu_put32(b + VFU_A_REGION, VFU_REGION_CONFIG);
	vfu_put32(b + VFU_A_COUNT, 4);
	send_message(g, VFU_REGION_READ, 0, b, sizeof(b), NULL, 0);
	for (unsigned i = 0; i < ANSWER_TURNS && !n; i++) {
		turn(1);
		n = hear(g, answer, sizeof(answer));
	}
	need(n == sizeof(answer) && vfu_get16(answer + VFU_HEADER + VFU_A_DATA) == 0x15b3);
}

/* --- what a guest does --- */

static uint64_t bus_of(struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);

	return how & 128 ? fuzz_take(b, 8) : bus_base + (how & 15) * VFU_PAGE * (how & 64 ? 1 : 16);
}

static uint64_t size_of(struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);

	return how & 128 ? fuzz_take(b, 8) : (uint64_t)VFU_PAGE << (how & 15);
}

static void step_map(struct guest *g, struct fuzz_bytes *b, bool map)
{
	const unsigned how = (unsigned)fuzz_take(b, 1), file = how % FILES;
	uint8_t m[32] = {0};

	vfu_put32(m + VFU_D_FLAGS, map ? (how & 128 ? 1 : 3) : how & 128 ? 2 : 0);
	vfu_put64(m + (map ? VFU_D_MAP_ADDRESS : VFU_D_UNMAP_ADDRESS), bus_of(b));
	vfu_put64(m + (map ? VFU_D_MAP_SIZE : VFU_D_UNMAP_SIZE), size_of(b));
	if (map)
		vfu_put64(m + VFU_D_MAP_OFFSET, how & 64 ? size_of(b) : 0);
	send_message(g, map ? VFU_DMA_MAP : VFU_DMA_UNMAP, 0, m, map ? 32 : 24, &g->files[file],
		     map && g->files[file] >= 0);
}

static void step_access(struct guest *g, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);
	const unsigned region = how & 1 ? VFU_REGION_BAR2 : how & 2 ? VFU_REGION_CONFIG : 0;
	const uint32_t count = how & 4 ? 4 : (uint32_t)fuzz_take(b, 1 + (how >> 7));
	uint8_t m[VFU_A_DATA + RAW_MAX] = {0};
	const uint8_t *bytes;
	size_t n;

	vfu_put64(m + VFU_A_OFFSET, fuzz_take(b, how & 8 ? 8 : 3));
	vfu_put32(m + VFU_A_REGION, how & 16 ? (uint32_t)fuzz_take(b, 1) : region);
	vfu_put32(m + VFU_A_COUNT, count);
	n = fuzz_take_some(b, how & 32 ? RAW_MAX : count % RAW_MAX, &bytes);
	if (n)
		memcpy(m + VFU_A_DATA, bytes, n);
	if (how & 64)
		send_message(g, VFU_REGION_READ, 0, m, VFU_A_DATA, NULL, 0);
	else
		send_message(g, VFU_REGION_WRITE, how & 8 ? VFU_F_NO_REPLY : 0, m,
			     VFU_A_DATA + (how & 32 ? (uint32_t)n : count % RAW_MAX), NULL, 0);
}

/* A command whose mailboxes are inside, outside or across the end of mapped memory. */
static void step_command(struct guest *g, struct fuzz_bytes *b)
{
	const uint64_t in = bus_of(b), out = bus_of(b);
	const uint32_t words[] = {(uint32_t)(in >> 32),
				  (uint32_t)in,
				  (uint32_t)fuzz_take(b, 4),
				  (uint32_t)(out >> 32),
				  (uint32_t)out,
				  (uint32_t)fuzz_take(b, 2) << 16,
				  1u << 23 | (uint32_t)fuzz_take(b, 2)};
	uint8_t m[VFU_A_DATA + sizeof(words)] = {0};
	const uint8_t master[2] = {6};

	vfu_put64(m + VFU_A_OFFSET, 4);
	vfu_put32(m + VFU_A_REGION, VFU_REGION_CONFIG);
	vfu_put32(m + VFU_A_COUNT, 2);
	memcpy(m + VFU_A_DATA, master, sizeof(master));
	send_message(g, VFU_REGION_WRITE, 0, m, VFU_A_DATA + 2, NULL, 0);
	vfu_put64(m + VFU_A_OFFSET, BAR0_HCR);
	vfu_put32(m + VFU_A_REGION, VFU_REGION_BAR0);
	vfu_put32(m + VFU_A_COUNT, sizeof(words));
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++) {
		const uint32_t word = htobe32(words[i]);

		memcpy(m + VFU_A_DATA + 4 * i, &word, sizeof(word));
	}
	send_message(g, VFU_REGION_WRITE, VFU_F_NO_REPLY, m, sizeof(m), NULL, 0);
	turn(50);
}

static void step_irqs(struct guest *g, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1), n = how & 31;
	uint8_t m[VFU_S_DATA + 8] = {0};
	int fds[31];

	for (unsigned i = 0; i < n; i++)
		fds[i] = g->files[how & 32 ? FILE_EVENT : i % FILE_NONE];
	vfu_put32(m + VFU_S_FLAGS, how & 64 ? (uint32_t)fuzz_take(b, 1) : 0x24);
	vfu_put32(m + VFU_S_INDEX, how & 128 ? (uint32_t)fuzz_take(b, 1) : 2);
	vfu_put32(m + VFU_S_START, (uint32_t)fuzz_take(b, how & 64 ? 4 : 1));
	vfu_put32(m + VFU_S_COUNT, how & 128 ? (uint32_t)fuzz_take(b, 4) : n);
	send_message(g, VFU_DEVICE_SET_IRQS, 0, m, sizeof(m), fds, n);
}

static void step_message(struct guest *g, struct fuzz_bytes *b)
{
	static uint8_t payload[MESSAGE_MAX];
	const unsigned how = (unsigned)fuzz_take(b, 1);
	const uint8_t *bytes;
	size_t n = fuzz_take_some(b, fuzz_take(b, 1), &bytes);
	uint32_t len = (uint32_t)n;

	memset(payload, 0, sizeof(payload));
	if (n)
		memcpy(payload, bytes, n);
	if (how & 128)
		len = (uint32_t)fuzz_take(b, 2) % MESSAGE_MAX;
	send_message(g, how & 15, how & 64 ? (uint32_t)fuzz_take(b, 4) : how & VFU_F_NO_REPLY,
		     payload, len, g->files, how & 32 ? 1 : 0);
}

static void step_raw(struct guest *g, struct fuzz_bytes *b)
{
	const uint8_t *bytes;
	size_t n = fuzz_take_some(b, 1 + fuzz_take(b, 1) % RAW_MAX, &bytes);

	send_bytes(g, bytes, n, NULL, 0);
}

/* Removes the pages of the file that is not sealed, or brings them back. Also cuts or extends
 * another file, and then sometimes seals it. */
static void step_shrink(struct guest *g, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);

	need(!ftruncate(g->files[FILE_SHRINKS], how & 1 ? MEMORY : 0));
	if (!(how & 2))
		return;
	(void)!ftruncate(g->files[FILE_GROWS], (off_t)(how >> 3) * VFU_PAGE);
	if (how & 4)
		fcntl(g->files[FILE_GROWS], F_ADD_SEALS, F_SEAL_SHRINK);
}

/* Maps memory page by page, as a client with an IOMMU does. */
static void step_pages(struct guest *g, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1), file = how % FILES;
	const uint64_t bus = bus_of(b), stride = (uint64_t)VFU_PAGE << (how >> 7);

	for (unsigned i = 0; i < PAGES_MAX; i++) {
		uint8_t m[32] = {0};

		vfu_put32(m + VFU_D_FLAGS, 3);
		vfu_put64(m + VFU_D_MAP_ADDRESS, bus + i * stride);
		vfu_put64(m + VFU_D_MAP_SIZE, VFU_PAGE);
		vfu_put64(m + VFU_D_MAP_OFFSET, (uint64_t)(i * 7 % PAGES_MAX) * VFU_PAGE);
		send_message(g, VFU_DMA_MAP, VFU_F_NO_REPLY, m, sizeof(m), &g->files[file],
			     g->files[file] >= 0);
		turn(1);
	}
}

/* Fills the eventfd's counter, so that a write to it blocks. */
static void step_block(struct guest *g)
{
	const uint64_t full = UINT64_MAX - 1;

	fcntl(g->files[FILE_EVENT], F_SETFL, O_NONBLOCK);
	(void)!write(g->files[FILE_EVENT], &full, sizeof(full));
	fcntl(g->files[FILE_EVENT], F_SETFL, 0);
}

/* Checks the table of ranges: it is sorted, no range overlaps the next or exceeds its file's
 * mapping, and each file counts the ranges that use it. */
static void assert_table(const struct guest_memory *m)
{
	unsigned files = 0;
	uint64_t bytes = 0;

	for (const struct guest_file *f = m->files.first; f; f = f->next) {
		unsigned named = 0;

		for (size_t i = 0; i < m->count; i++)
			named += m->ranges[i].file == f;
		need(named && named == f->ranges && f->used <= f->size);
		files++;
		bytes += f->size;
	}
	need(files == m->files.count && bytes == m->files.bytes);
	for (size_t i = 0; i < m->count; i++) {
		const struct guest_range *r = &m->ranges[i];

		need(!i || r->start > r[-1].start + (r[-1].size - 1));
		need(!r->file || r->offset + r->size <= r->file->used);
	}
}

static void step(struct guest *g, struct fuzz_bytes *b)
{
	const unsigned how = (unsigned)fuzz_take(b, 1);

	switch (how % 12) {
	case 0:
	case 1:
		step_map(g, b, true);
		break;
	case 2:
		step_map(g, b, false);
		break;
	case 3:
		step_access(g, b);
		break;
	case 4:
		step_command(g, b);
		break;
	case 5:
		step_irqs(g, b);
		break;
	case 6:
		step_message(g, b);
		break;
	case 7:
		step_raw(g, b);
		break;
	case 8:
		step_shrink(g, b);
		break;
	case 9:
		step_pages(g, b);
		break;
	case 10:
		step_block(g);
		break;
	default:
		hang_up(g);
		turn(2);
		dial(g, how & 128);
	}
}

int fuzz_input(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, data + size};
	struct guest *g, *other;
	uint8_t answers[8192];

	if (rig.inputs++ % INPUTS == 0) {
		rig_down();
		rig_up();
		rig.inputs = 1;
		dial(&rig.guests[1], true);
		(void)hear(&rig.guests[1], answers, sizeof(answers));
	}
	g = &rig.guests[0];
	other = &rig.guests[1];
	dial(g, fuzz_take(&b, 1) & 1);
	for (unsigned i = 0; i < STEPS_MAX && fuzz_more(&b); i++) {
		step(g, &b);
		turn(2);
		assert_table(&rig.devices[0].memory);
		if (hear(g, answers, sizeof(answers)) < 0) {
			hang_up(g);
			dial(g, true);
		}
	}
	hang_up(g);
	/* a client may still wait to be accepted, until the server has closed the descriptors of
	 * earlier ones, which is done beside it; then it is accepted, and found to have gone */
	for (unsigned i = 0;
	     i < ANSWER_TURNS && (vfu_device_is_clogged(&rig.devices[0]) ||
				  vfu_server_has_client(rig.server, &rig.devices[0]));
	     i++)
		turn(1);
	need(!vfu_server_has_client(rig.server, &rig.devices[0]));
	assert_served(other);
	for (unsigned i = 0; i < MEMORY; i += VFU_PAGE / 8)
		need(other->memory[i] == PATTERN);
	return 0;
}
