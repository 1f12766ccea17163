/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replies of the gdb remote stub. Source: "Debugging with GDB", appendix E (remote serial
 * protocol) and G.5 (standard target features of RISC-V).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/interface/macros.h"
#include "model/rv32/gdb_link.h"
#include "model/rv32/rv32_core.h"

enum { REG_PC = 32, REGS = 33, REG_CSR0 = 65 };
enum { SIGNAL_INT = 2, SIGNAL_TRAP = 5, SIGNAL_SEGV = 11 };

/* What the loop does after handle(). */
enum next { NEXT_PACKET, NEXT_RESUME, NEXT_KILLED, NEXT_GONE };

static const struct {
	const char *name;
	unsigned csr;
} csrs[] = {
	{"mstatus", 0x300},  {"misa", 0x301},   {"mie", 0x304},      {"mtvec", 0x305},
	{"mscratch", 0x340}, {"mepc", 0x341},   {"mcause", 0x342},   {"mtval", 0x343},
	{"mip", 0x344},      {"mcycle", 0xb00}, {"minstret", 0xb02},
};

static void put_word(char *to, uint32_t value)
{
	snprintf(to, 9, "%02x%02x%02x%02x", value & 255, value >> 8 & 255, value >> 16 & 255,
		 value >> 24);
}

static bool get_bytes(const char *from, uint8_t *to, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int high = rv_hex_digit(from[2 * i]);
		int low = high < 0 ? -1 : rv_hex_digit(from[2 * i + 1]);

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

	if (addr > UINT32_MAX || count > RV_GDB_PACKET_MAX / 2 ||
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
	for (size_t i = 0; i < ARRAY_SIZE(csrs); i++)
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
	if (count > RV_GDB_PACKET_MAX - 1)
		count = RV_GDB_PACKET_MAX - 1;
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
			 RV_GDB_PACKET_MAX);
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

/* Answers the packets that only read or change the core, or ask about the stub. Puts the reply into
 * gdb->reply; it is empty for a packet that the stub does not know. */
static void answer(struct rv_gdb *gdb, const char *text)
{
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
	case 'H':
	case 'T':
		set_result(gdb, "OK");
		break;
	case 'q':
		query(gdb, text);
		break;
	case 'v':
		if (!strcmp(text, "vCont?"))
			set_result(gdb, "vCont;c;C;s;S");
		break;
	}
}

static enum next say_ok(struct rv_gdb *gdb, enum next next)
{
	return rv_gdb_packet_send(gdb, set_result(gdb, "OK")) ? next : NEXT_GONE;
}

static enum next handle(struct rv_gdb *gdb)
{
	const char *text = gdb->packet, *action = after(text, "vCont;");

	if (action && *action && strchr("cCsS", *action))
		return resume(gdb, *action == 's' || *action == 'S' ? 's' : 'c', "");
	if (text[0] == 'c' || text[0] == 's')
		return resume(gdb, text[0], text + 1);
	if (text[0] == 'C' || text[0] == 'S')
		return resume(gdb, text[0] == 'S' ? 's' : 'c', "");
	if (text[0] == 'k')
		return NEXT_KILLED;
	if (after(text, "vKill"))
		return say_ok(gdb, NEXT_KILLED);
	if (text[0] == 'D') {
		say_ok(gdb, NEXT_GONE);
		return NEXT_GONE;
	}
	if (!strcmp(text, "QStartNoAckMode")) {
		enum next next = say_ok(gdb, NEXT_PACKET);

		gdb->no_ack = true;
		return next;
	}
	gdb->reply[0] = '\0';
	answer(gdb, text);
	return rv_gdb_packet_send(gdb, gdb->reply) ? NEXT_PACKET : NEXT_GONE;
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
	return rv_gdb_packet_send(gdb, gdb->reply);
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
		next = rv_gdb_packet_read(gdb) ? handle(gdb) : NEXT_GONE;
	if (next != NEXT_RESUME)
		rv_gdb_disconnect(gdb);
	return next == NEXT_KILLED ? -ECANCELED : 0;
}
