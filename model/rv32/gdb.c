/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The remote stub: packets of one debugger on one TCP connection. Source: "Debugging with GDB",
 * appendix E (remote serial protocol) and G.5 (standard target features of RISC-V).
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

#include "model/rv32/rv32_core.h"

enum { PACKET_MAX = 4096, REG_PC = 32, REGS = 33, REG_CSR0 = 65, CTRL_C = 3 };
enum { SIGNAL_INT = 2, SIGNAL_TRAP = 5, SIGNAL_SEGV = 11 };

/* What handle() asks of the loop. */
enum next { NEXT_PACKET, NEXT_RESUME, NEXT_KILLED, NEXT_GONE };

struct rv_gdb {
	struct rv_core *core;
	int listener;
	int fd; /* -1: no debugger */
	uint16_t port;
	bool arrived;     /* connected, and not yet served */
	bool running;     /* it resumed the core and waits for the stop */
	bool interrupted; /* ctrl-C */
	bool no_ack;
	int signal; /* of the last stop */
	uint8_t in[1024];
	size_t in_at;
	size_t in_count;
	char packet[PACKET_MAX + 1];
	char reply[PACKET_MAX + 1];
};

static const struct {
	const char *name;
	unsigned csr;
} csrs[] = {
	{"mstatus", 0x300},  {"misa", 0x301},   {"mie", 0x304},      {"mtvec", 0x305},
	{"mscratch", 0x340}, {"mepc", 0x341},   {"mcause", 0x342},   {"mtval", 0x343},
	{"mip", 0x344},      {"mcycle", 0xb00}, {"minstret", 0xb02},
};

static void disconnect(struct rv_gdb *gdb)
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

static bool send_packet(struct rv_gdb *gdb, const char *text)
{
	char frame[PACKET_MAX + 8];
	unsigned sum = 0;
	int n;

	for (const char *c = text; *c; c++)
		sum += (uint8_t)*c;
	n = snprintf(frame, sizeof(frame), "$%s#%02x", text, sum & 0xff);
	return send_all(gdb, frame, (size_t)n);
}

/* The next byte, or -1 when the connection ended; -EAGAIN if there is none and @flags say not to
 * wait. */
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

static int hex_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The text of one packet behind its '$': false if the connection ended. *@good: it fits and its
 * checksum is right. */
static bool read_body(struct rv_gdb *gdb, bool *good)
{
	unsigned sum = 0;
	size_t count = 0;
	int c, high, low;

	while ((c = next_byte(gdb, 0)) != '#') {
		if (c < 0)
			return false;
		sum += (unsigned)c;
		if (count < PACKET_MAX)
			gdb->packet[count] = (char)c;
		count++;
	}
	high = next_byte(gdb, 0);
	low = next_byte(gdb, 0);
	*good = count <= PACKET_MAX && hex_digit(high) == (int)(sum >> 4 & 15) &&
		hex_digit(low) == (int)(sum & 15);
	gdb->packet[count <= PACKET_MAX ? count : PACKET_MAX] = '\0';
	return low >= 0;
}

/* False: the connection ended. */
static bool read_packet(struct rv_gdb *gdb)
{
	for (;;) {
		bool good;
		int c = next_byte(gdb, 0);

		if (c < 0)
			return false;
		if (c == '-' && !send_packet(gdb, gdb->reply))
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

static void put_word(char *to, uint32_t value)
{
	snprintf(to, 9, "%02x%02x%02x%02x", value & 255, value >> 8 & 255, value >> 16 & 255,
		 value >> 24);
}

static bool get_bytes(const char *from, uint8_t *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int high = hex_digit(from[2 * i]);
		int low = high < 0 ? -1 : hex_digit(from[2 * i + 1]);

		if (low < 0)
			return false;
		to[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static bool get_word(const char *from, uint32_t *value)
{
	uint8_t bytes[4];

	if (!get_bytes(from, bytes, 4))
		return false;
	*value = rv_ram_get(bytes, 4);
	return true;
}

static bool read_reg(const struct rv_core *core, unsigned long n, uint32_t *value)
{
	if (n >= REG_CSR0)
		return n < REG_CSR0 + 4096 && !rv_core_csr(core, (unsigned)n - REG_CSR0, value);
	if (n > REG_PC)
		return false;
	*value = n == REG_PC ? rv_core_pc(core) : rv_core_reg(core, (unsigned)n);
	return true;
}

static bool write_reg(struct rv_core *core, unsigned long n, uint32_t value)
{
	if (n >= REG_CSR0)
		return n < REG_CSR0 + 4096 && !rv_csr_write(core, (unsigned)n - REG_CSR0, value);
	if (n > REG_PC)
		return false;
	if (n < REG_PC)
		rv_core_set_reg(core, (unsigned)n, value);
	else if (value != rv_core_pc(core))
		rv_core_set_pc(core, value);
	return true;
}

static const char *set_result(struct rv_gdb *gdb, const char *text)
{
	return strcpy(gdb->reply, text);
}

static void read_regs(struct rv_gdb *gdb)
{
	uint32_t value = 0;

	for (unsigned n = 0; n < REGS; n++) {
		read_reg(gdb->core, n, &value);
		put_word(gdb->reply + 8 * n, value);
	}
}

static void write_regs(struct rv_gdb *gdb, const char *text)
{
	uint32_t value;

	if (strlen(text) < 8 * REGS) {
		set_result(gdb, "E01");
		return;
	}
	for (unsigned n = 0; n < REGS; n++)
		if (get_word(text + 8 * n, &value))
			write_reg(gdb->core, n, value);
	set_result(gdb, "OK");
}

static void one_reg(struct rv_gdb *gdb, const char *text, bool write)
{
	char *end;
	unsigned long n = strtoul(text, &end, 16);
	uint32_t value;

	if (write && *end == '=' && get_word(end + 1, &value) && write_reg(gdb->core, n, value))
		set_result(gdb, "OK");
	else if (!write && read_reg(gdb->core, n, &value))
		put_word(gdb->reply, value);
	else
		set_result(gdb, "E01");
}

static void memory(struct rv_gdb *gdb, const char *text, bool write)
{
	uint32_t base, size;
	uint8_t *ram = rv_core_ram(gdb->core, &base, &size);
	char *end;
	unsigned long addr = strtoul(text, &end, 16);
	unsigned long count = *end == ',' ? strtoul(end + 1, &end, 16) : 0;

	if (addr > UINT32_MAX || count > PACKET_MAX / 2 ||
	    (count && !rv_in_ram(gdb->core, (uint32_t)addr, (uint32_t)count))) {
		set_result(gdb, "E0e");
		return;
	}
	if (!write) {
		for (unsigned long i = 0; i < count; i++)
			snprintf(gdb->reply + 2 * i, 3, "%02x", ram[addr - base + i]);
		return;
	}
	if (*end != ':' || strlen(end + 1) != 2 * count ||
	    !get_bytes(end + 1, ram + (addr - base), count)) {
		set_result(gdb, "E01");
		return;
	}
	rv_core_flush_decoded(gdb->core);
	set_result(gdb, "OK");
}

static void breakpoint(struct rv_gdb *gdb, const char *text, bool insert)
{
	char *end;
	unsigned long addr;
	bool done = true;

	if ((text[0] != '0' && text[0] != '1') || text[1] != ',')
		return;
	addr = strtoul(text + 2, &end, 16);
	if (addr > UINT32_MAX)
		done = false;
	else if (insert)
		done = !rv_core_add_breakpoint(gdb->core, (uint32_t)addr);
	else
		rv_core_remove_breakpoint(gdb->core, (uint32_t)addr);
	set_result(gdb, done ? "OK" : "E0e");
}

static size_t describe_target(char *xml, size_t size)
{
	size_t n = (size_t)snprintf(
		xml, size,
		"<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\">"
		"<target><architecture>riscv:rv32</architecture>"
		"<feature name=\"org.gnu.gdb.riscv.cpu\">");

	for (unsigned i = 0; i < REG_PC; i++)
		n += (size_t)snprintf(xml + n, size - n,
				      "<reg name=\"x%u\" bitsize=\"32\" regnum=\"%u\"/>", i, i);
	n += (size_t)snprintf(xml + n, size - n,
			      "<reg name=\"pc\" bitsize=\"32\" type=\"code_ptr\" regnum=\"%u\"/>"
			      "</feature><feature name=\"org.gnu.gdb.riscv.csr\">",
			      REG_PC);
	for (size_t i = 0; i < sizeof(csrs) / sizeof(csrs[0]); i++)
		n += (size_t)snprintf(xml + n, size - n,
				      "<reg name=\"%s\" bitsize=\"32\" regnum=\"%u\"/>",
				      csrs[i].name, REG_CSR0 + csrs[i].csr);
	return n + (size_t)snprintf(xml + n, size - n, "</feature></target>");
}

static void read_target_xml(struct rv_gdb *gdb, const char *text)
{
	char xml[8192];
	size_t size = describe_target(xml, sizeof(xml));
	char *end;
	unsigned long at = strtoul(text, &end, 16);
	unsigned long count = *end == ',' ? strtoul(end + 1, &end, 16) : 0;

	if (at > size)
		at = size;
	if (count > PACKET_MAX - 1)
		count = PACKET_MAX - 1;
	if (count > size - at)
		count = size - at;
	gdb->reply[0] = at + count < size ? 'm' : 'l';
	memcpy(gdb->reply + 1, xml + at, count);
	gdb->reply[1 + count] = '\0';
}

static const char *after(const char *text, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(text, prefix, n) ? NULL : text + n;
}

static void query(struct rv_gdb *gdb, const char *text)
{
	const char *rest = after(text, "qXfer:features:read:target.xml:");

	if (rest)
		read_target_xml(gdb, rest);
	else if (after(text, "qSupported"))
		snprintf(gdb->reply, sizeof(gdb->reply),
			 "PacketSize=%x;qXfer:features:read+;QStartNoAckMode+;vContSupported+",
			 PACKET_MAX);
	else if (!strcmp(text, "qAttached"))
		set_result(gdb, "1");
	else if (!strcmp(text, "qC"))
		set_result(gdb, "QC1");
	else if (!strcmp(text, "qfThreadInfo"))
		set_result(gdb, "m1");
	else if (!strcmp(text, "qsThreadInfo"))
		set_result(gdb, "l");
}

/* @action: c or s, with an address if @at points to one. */
static enum next resume(struct rv_gdb *gdb, char action, const char *at)
{
	char *end;
	unsigned long addr = strtoul(at, &end, 16);

	if (end != at && addr <= UINT32_MAX && addr != rv_core_pc(gdb->core))
		rv_core_set_pc(gdb->core, (uint32_t)addr);
	if (action == 's')
		rv_core_set_step(gdb->core);
	gdb->running = true;
	return NEXT_RESUME;
}

static enum next handle_v(struct rv_gdb *gdb, const char *text)
{
	const char *rest = after(text, "vCont;");

	if (rest && strchr("cCsS", rest[0]) && rest[0])
		return resume(gdb, rest[0] == 's' || rest[0] == 'S' ? 's' : 'c', "");
	if (!strcmp(text, "vCont?"))
		set_result(gdb, "vCont;c;C;s;S");
	if (after(text, "vKill")) {
		send_packet(gdb, "OK");
		return NEXT_KILLED;
	}
	return NEXT_PACKET;
}

static enum next start_no_ack(struct rv_gdb *gdb)
{
	set_result(gdb, "OK");
	if (!send_packet(gdb, gdb->reply))
		return NEXT_GONE;
	gdb->no_ack = true;
	return NEXT_PACKET;
}

static enum next handle(struct rv_gdb *gdb)
{
	const char *text = gdb->packet;

	gdb->reply[0] = '\0'; /* an empty reply: not supported */
	switch (text[0]) {
	case '?':
		snprintf(gdb->reply, sizeof(gdb->reply), "S%02x", gdb->signal & 255);
		break;
	case 'g':
		read_regs(gdb);
		break;
	case 'G':
		write_regs(gdb, text + 1);
		break;
	case 'p':
	case 'P':
		one_reg(gdb, text + 1, text[0] == 'P');
		break;
	case 'm':
	case 'M':
		memory(gdb, text + 1, text[0] == 'M');
		break;
	case 'Z':
	case 'z':
		breakpoint(gdb, text + 1, text[0] == 'Z');
		break;
	case 'c':
	case 's':
		return resume(gdb, text[0], text + 1);
	case 'C':
	case 'S':
		return resume(gdb, text[0] == 'S' ? 's' : 'c', "");
	case 'v':
		if (!after(text, "vCont") && !after(text, "vKill"))
			break;
		{
			enum next next = handle_v(gdb, text);

			if (next != NEXT_PACKET)
				return next;
		}
		break;
	case 'H':
	case 'T':
		set_result(gdb, "OK");
		break;
	case 'q':
		query(gdb, text);
		break;
	case 'Q':
		if (!strcmp(text, "QStartNoAckMode"))
			return start_no_ack(gdb);
		break;
	case 'D':
		send_packet(gdb, "OK");
		return NEXT_GONE;
	case 'k':
		return NEXT_KILLED;
	}
	return send_packet(gdb, gdb->reply) ? NEXT_PACKET : NEXT_GONE;
}

static bool report_stop(struct rv_gdb *gdb, enum rv_stop why)
{
	gdb->signal = gdb->interrupted           ? SIGNAL_INT
		      : why == RV_STOP_TRAP_LOOP ? SIGNAL_SEGV
						 : SIGNAL_TRAP;
	gdb->interrupted = false;
	if (!gdb->running)
		return true;
	gdb->running = false;
	snprintf(gdb->reply, sizeof(gdb->reply), "S%02x", gdb->signal);
	return send_packet(gdb, gdb->reply);
}

int rv_gdb_serve(struct rv_gdb *gdb, enum rv_stop why)
{
	enum next next = NEXT_PACKET;

	if (gdb->fd < 0)
		return 0;
	gdb->arrived = false;
	if (!report_stop(gdb, why))
		next = NEXT_GONE;
	while (next == NEXT_PACKET)
		next = read_packet(gdb) ? handle(gdb) : NEXT_GONE;
	if (next != NEXT_RESUME)
		disconnect(gdb);
	return next == NEXT_KILLED ? -ECANCELED : 0;
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
		disconnect(gdb);
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
	made->signal = SIGNAL_TRAP;
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
	disconnect(gdb);
	close(gdb->listener);
	free(gdb);
}
