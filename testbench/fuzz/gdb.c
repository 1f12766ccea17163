/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a debugger sends to the firmware's remote stub. An input is a sequence of packets: raw
 * bytes, or a text that is sent with a correct frame and checksum. The core runs a loop of a few
 * instructions.
 */
#include "model/rv32/rv32.h"
#include "testbench/fuzz/rig.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RAM = 0x80000000, RAM_BYTES = 1 << 16, TURNS = 64, BATCH = 100, PACKET_MAX = 255 };

/* addi x1, x1, 1; sw x1, 64(x2); lw x3, 64(x2); jal x0, -12 */
static const uint32_t loop[] = {0x00108093, 0x04112023, 0x04012183, 0xff5ff06f};

static struct rv_core *core_get(void)
{
	static struct rv_core *core;
	uint32_t base, size;
	uint8_t *ram;

	if (!core)
		core = rv_core_create(RAM, RAM_BYTES, NULL);
	if (!core)
		abort();
	rv_core_reset(core, RAM);
	ram = rv_core_ram(core, &base, &size);
	memset(ram, 0, size);
	memcpy(ram, loop, sizeof(loop));
	rv_core_flush_decoded(core);
	rv_core_set_reg(core, 2, RAM + 256);
	return core;
}

static int dial(const struct rv_gdb *gdb)
{
	const struct sockaddr_in address = {.sin_family = AF_INET,
					    .sin_port = htons(rv_gdb_port(gdb)),
					    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		abort();
	return fd;
}

/* Sends everything at once. The stub's answers stay in the socket's buffer, and the stub sees the
 * end of the connection when it has read everything. */
static void say(int fd, struct fuzz_bytes *b)
{
	while (fuzz_more(b)) {
		const unsigned how = (unsigned)fuzz_take(b, 1);
		char frame[PACKET_MAX + 8];
		const uint8_t *text;
		size_t n = fuzz_take_some(b, how & 127, &text);
		unsigned sum = 0;
		int len;

		for (size_t i = 0; i < n; i++)
			sum += text[i];
		if (how & 128)
			len = (int)n;
		else
			len = (int)n + 5;
		if (how & 128) {
			memcpy(frame, text, n);
		} else {
			memcpy(frame, "+$", 2);
			memcpy(frame + 2, text, n);
			snprintf(frame + 2 + n, 4, "#%02x", sum & 0xff);
		}
		if (send(fd, frame, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT) != len)
			break;
	}
	shutdown(fd, SHUT_WR);
}

int fuzz_input(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, data + size};
	struct rv_core *core = core_get();
	struct rv_gdb *gdb;
	uint64_t retired;
	int fd;

	if (rv_gdb_listen(core, 0, &gdb))
		abort();
	fd = dial(gdb);
	say(fd, &b);
	rv_gdb_wait(gdb);
	for (unsigned i = 0; i < TURNS; i++) {
		enum rv_stop stop;

		if (rv_gdb_poll(gdb) && rv_gdb_serve(gdb, RV_STOP_DEBUG))
			break;
		stop = rv_core_run(core, BATCH, &retired);
		if ((stop == RV_STOP_DEBUG || stop == RV_STOP_TRAP_LOOP) && rv_gdb_serve(gdb, stop))
			break;
	}
	close(fd);
	rv_gdb_close(gdb);
	return 0;
}
