/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection of the remote stub: one debugger on TCP, packets with checksum and
 * acknowledgement. Source: "Debugging with GDB", appendix E.1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "model/rv32/gdb_link.h"

enum { CTRL_C = 3 };

void rv_gdb_disconnect(struct rv_gdb *gdb)
{
	if (gdb->fd >= 0)
		close(gdb->fd);
	gdb->fd = -1;
	gdb->arrived = false;
	gdb->running = false;
	gdb->interrupted = false;
	rv_core_clear_breakpoints(gdb->core);
	rv_core_set_debugged(gdb->core, false);
}

static bool send_all(struct rv_gdb *gdb, const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = send(gdb->fd, bytes, count, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		count -= (size_t)n;
	}
	return true;
}

bool rv_gdb_packet_send(struct rv_gdb *gdb, const char *text)
{
	char frame[RV_GDB_PACKET_MAX + 8];
	unsigned sum = 0;
	int n;

	for (const char *c = text; *c; c++)
		sum += (uint8_t)*c;
	n = snprintf(frame, sizeof(frame), "$%s#%02x", text, sum & 0xff);
	return send_all(gdb, frame, (size_t)n);
}

/* The next byte, or -1 when the connection ended. -EAGAIN if no byte has arrived and @flags forbid
 * waiting. */
static int next_byte(struct rv_gdb *gdb, int flags)
{
	ssize_t n;

	if (gdb->in_at < gdb->in_count)
		return gdb->in[gdb->in_at++];
	do
		n = recv(gdb->fd, gdb->in, sizeof(gdb->in), flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return -EAGAIN;
	if (n <= 0)
		return -1;
	gdb->in_at = 1;
	gdb->in_count = (size_t)n;
	return gdb->in[0];
}

int rv_hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads the text of one packet after its '$'. False if the connection ended. *@good: the packet
 * fits the buffer and its checksum is right. */
static bool read_body(struct rv_gdb *gdb, bool *good)
{
	unsigned sum = 0;
	size_t count = 0;
	int c, high, low;

	while ((c = next_byte(gdb, 0)) != '#') {
		if (c < 0)
			return false;
		sum += (unsigned)c;
		if (count < RV_GDB_PACKET_MAX)
			gdb->packet[count] = (char)c;
		count++;
	}
	high = next_byte(gdb, 0);
	low = next_byte(gdb, 0);
	*good = count <= RV_GDB_PACKET_MAX && rv_hex_digit(high) == (int)(sum >> 4 & 15) &&
		rv_hex_digit(low) == (int)(sum & 15);
	gdb->packet[count <= RV_GDB_PACKET_MAX ? count : RV_GDB_PACKET_MAX] = '\0';
	return low >= 0;
}

bool rv_gdb_packet_read(struct rv_gdb *gdb)
{
	for (;;) {
		bool good;
		int c = next_byte(gdb, 0);

		if (c < 0)
			return false;
		if (c == '-' && !rv_gdb_packet_send(gdb, gdb->reply))
			return false;
		if (c != '$')
			continue;
		if (!read_body(gdb, &good))
			return false;
		if (!gdb->no_ack && !send_all(gdb, good ? "+" : "-", 1))
			return false;
		if (good)
			return true;
	}
}

static void accept_debugger(struct rv_gdb *gdb)
{
	int one = 1;
	int fd = accept(gdb->listener, NULL, NULL);

	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	gdb->fd = fd;
	gdb->arrived = true;
	gdb->no_ack = false;
	gdb->in_at = 0;
	gdb->in_count = 0;
	gdb->reply[0] = '\0';
	rv_core_set_debugged(gdb->core, true);
}

bool rv_gdb_poll(struct rv_gdb *gdb)
{
	struct pollfd listener = {.fd = gdb->listener, .events = POLLIN};
	int c;

	if (gdb->fd < 0) {
		if (poll(&listener, 1, 0) == 1)
			accept_debugger(gdb);
		return gdb->arrived;
	}
	if (gdb->arrived)
		return true;
	while ((c = next_byte(gdb, MSG_DONTWAIT)) >= 0)
		if (c == CTRL_C)
			gdb->interrupted = true;
	if (c != -EAGAIN)
		rv_gdb_disconnect(gdb);
	return gdb->interrupted;
}

int rv_gdb_wait(struct rv_gdb *gdb)
{
	struct pollfd listener = {.fd = gdb->listener, .events = POLLIN};

	while (gdb->fd < 0) {
		if (poll(&listener, 1, -1) < 0 && errno != EINTR)
			return -errno;
		if (listener.revents & POLLIN)
			accept_debugger(gdb);
	}
	return 0;
}

static int open_listener(uint16_t *port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(*port)};
	socklen_t size = sizeof(addr);
	int one = 1, rc;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&addr, &size)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	*port = ntohs(addr.sin_port);
	return fd;
}

int rv_gdb_listen(struct rv_core *core, uint16_t port, struct rv_gdb **gdb)
{
	struct rv_gdb *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->core = core;
	made->fd = -1;
	made->port = port;
	made->signal = 5; /* SIGTRAP */
	made->listener = open_listener(&made->port);
	if (made->listener < 0) {
		int rc = made->listener;

		fprintf(stderr, "rv32: gdb port %u: %s\n", port, strerror(-rc));
		free(made);
		return rc;
	}
	*gdb = made;
	return 0;
}

uint16_t rv_gdb_port(const struct rv_gdb *gdb)
{
	return gdb->port;
}

void rv_gdb_close(struct rv_gdb *gdb)
{
	if (!gdb)
		return;
	if (gdb->running)
		rv_gdb_packet_send(gdb, "W00");
	rv_gdb_disconnect(gdb);
	close(gdb->listener);
	free(gdb);
}
