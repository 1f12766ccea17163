/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes first inputs for fuzz targets, of full length and with meaning: packets as they were sent
 * in a run, each command with its mailbox and object number, each request on each queue, each
 * register, lines of a run's files.
 *
 * fuzz_seeds DIR RUN writes DIR/TARGET/seed-N for each target. RUN is the folder of a run.
 */
#include "model/interface/commands.h"
#include "model/interface/fwregs.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"
#include "testbench/fuzz/folder.h"
#include "traces/pcapng_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SEED_MAX = 4096, PATH_CHARS = 4096, PACKETS_A_SEED = 12, RAW_MAX = 510, LINES = 64 };

static const char *out_dir;

struct seed {
	const char *target;
	uint8_t bytes[SEED_MAX];
	size_t len;
	unsigned number;
};

static void put(struct seed *s, unsigned byte)
{
	if (s->len < SEED_MAX)
		s->bytes[s->len++] = (uint8_t)byte;
}

static void put_bytes(struct seed *s, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(s, ((const uint8_t *)bytes)[i]);
}

/* Writes the file and begins the next one. */
static void finish(struct seed *s)
{
	char path[PATH_CHARS];
	FILE *out;

	if (!s->len)
		return;
	snprintf(path, sizeof(path), "%s/%s", out_dir, s->target);
	if (mkdir(path, 0777) && errno != EEXIST) {
		perror(path);
		exit(1);
	}
	snprintf(path, sizeof(path), "%s/%s/seed-%u", out_dir, s->target, s->number++);
	out = fopen(path, "wb");
	if (!out || fwrite(s->bytes, 1, s->len, out) != s->len || fclose(out)) {
		perror(path);
		exit(1);
	}
	s->len = 0;
}

/* --- packets: unchanged, and as templates for the queue pairs of the rig --- */

/* Format: packet.c. Raw bytes whose CRCs are made correct, then a delay. */
static void raw_packet(struct seed *s, const struct pcapng_packet *p)
{
	size_t n = p->len < RAW_MAX ? p->len & ~1u : RAW_MAX;

	put(s, 0x80 | 0x40 | (strstr(p->name, "hca1") ? 0x20 : 0));
	put(s, (unsigned)n / 2);
	put_bytes(s, p->bytes, n);
	put(s, 20);
}

static void template_packet(struct seed *s, unsigned opcode, unsigned queue, unsigned payload)
{
	put(s, 0x20);
	put(s, opcode);
	put(s, queue | (payload ? 16 : 0) | 64);
	if (payload) {
		put(s, payload >> 8);
		put(s, payload & 0xff);
	}
	put(s, 0);
	put(s, 40);
}

static void packet_seeds(const char *run)
{
	struct seed s = {.target = "packet"};
	struct pcapng_reader *rd;
	struct pcapng_packet p;
	char path[PATH_CHARS];
	unsigned n = 0;

	snprintf(path, sizeof(path), "%s/packets.pcapng", run);
	if (pcapng_reader_open(&rd, path, stderr))
		exit(1);
	while (pcapng_reader_next(rd, &p, stderr) > 0)
		if (p.flags == PCAPNG_INBOUND) {
			raw_packet(&s, &p);
			if (++n % PACKETS_A_SEED == 0)
				finish(&s);
		}
	pcapng_reader_close(rd);
	finish(&s);
	for (unsigned queue = 0; queue < 6; queue++) {
		for (unsigned opcode = 0; opcode < 256; opcode++) {
			const struct bth_op *op = bth_op_find((uint8_t)opcode);

			if (op->name)
				template_packet(&s, opcode, queue,
						!bth_op_is(op, BTH_PAYLOAD) ? 0
						: bth_op_is(op, BTH_FIRST) ||
								bth_op_is(op, BTH_MIDDLE)
							? 4096
							: 64);
			if (s.len > 200)
				finish(&s);
		}
		finish(&s);
	}
}

/* --- commands --- */

/* The commands as hcr.c numbers them. */
enum {
#define OPCODE(name, ...) COMMAND_##name,
	HCR_COMMANDS(OPCODE)
#undef OPCODE
		COMMANDS
};

/* Format: hcr.c. */
enum {
	HOW_LIVE = 0x80,
	HOW_IMMEDIATE = 0x40,
	HOW_OUT = 0x20,
	HOW_ANSWER = 0x10,
	HOW_OP_MOD = 1 << 2,
	NUMBER_PORT = 5,
	NUMBER_ZERO = 6,
	NUMBER_NEXT_2 = 9, /* the number is in the next two bytes */
	ETH_PORT = 2,
};

/* The command with a live mailbox of each type of object, for each number; then with an immediate
 * parameter, and with each opcode modifier. An input has at most 16 commands. */
static void command_seeds(struct seed *s, unsigned index)
{
	static const unsigned numbers[] = {0, 1, 2, 3, 4, NUMBER_PORT, NUMBER_ZERO, 8};

	for (unsigned n = 0; n < ARRAY_SIZE(numbers); n++) {
		for (unsigned type = 0; type < 5; type++) {
			put(s, index);
			put(s, HOW_LIVE | (n & 1 ? HOW_OUT : 0));
			put(s, numbers[n]);
			put(s, type);
			put(s, 0);
		}
		if (n % 3 == 2)
			finish(s);
	}
	finish(s);
	put(s, index);
	put(s, HOW_IMMEDIATE);
	put(s, NUMBER_ZERO);
	put(s, 64);
	for (unsigned i = 0; i < 64; i++)
		put(s, i % 8 == 7 ? i : 0);
	for (unsigned i = 0; i < 9; i++)
		put(s, 0);
	for (unsigned op_mod = 0; op_mod < 4; op_mod++) {
		const uint8_t how = HOW_OUT | op_mod * HOW_OP_MOD;
		const uint8_t each[] = {index,         how,         NUMBER_PORT, 0, 0,     index,
					how,           NUMBER_ZERO, 0,           0, index, how,
					NUMBER_NEXT_2, 0,           ETH_PORT,    0, 0};

		put_bytes(s, each, sizeof(each));
	}
	finish(s);
}

/* Each part of an Ethernet port, with three mailboxes. */
static void set_port_seed(struct seed *s, unsigned part)
{
	enum { LENGTH = 128, MAILBOXES = 3 };

	for (unsigned mailbox = 0; mailbox < MAILBOXES; mailbox++) {
		const uint8_t set[] = {COMMAND_SET_PORT, HOW_OP_MOD, NUMBER_NEXT_2, part,
				       ETH_PORT,         LENGTH};

		put_bytes(s, set, sizeof(set));
		for (unsigned i = 0; i < LENGTH; i++)
			put(s, mailbox == 0 ? 0 : mailbox == 1 ? 0xff : i % 8 == 7 ? i : 0);
		put(s, 0);
	}
	finish(s);
}

/* The attribute of a MAD is asked for, and the answer is sent back to set it. */
static void mad_seed(struct seed *s, unsigned mgmt_class, unsigned attribute)
{
	const uint8_t get[] = {COMMAND_MAD_IFC, HOW_OUT, NUMBER_PORT, MAD_BYTES - 1};
	const uint8_t set[] = {COMMAND_MAD_IFC, HOW_OUT | HOW_ANSWER, NUMBER_PORT};
	uint8_t bytes[MAD_BYTES] = {0};
	struct mad_hdr *hdr = (struct mad_hdr *)bytes;

	mad_hdr_set_base_version(hdr, MAD_BASE_VERSION);
	mad_hdr_set_mgmt_class(hdr, mgmt_class);
	mad_hdr_set_class_version(hdr, 1);
	mad_hdr_set_method(hdr, MAD_METHOD_GET);
	mad_hdr_set_attr_id(hdr, attribute);
	bytes[65] = 1; /* the port, in attributes of counters */
	put_bytes(s, get, sizeof(get));
	put_bytes(s, bytes, MAD_BYTES - 1);
	put(s, 0);
	for (unsigned select = 0; select < 0x100; select += 0xff) {
		/* which counters are to be written is in bytes 66 and 67 */
		const uint8_t changes[] = {3, 3, MAD_METHOD_SET, 66, select, 67, select};

		put_bytes(s, set, sizeof(set));
		put_bytes(s, changes, sizeof(changes));
	}
	finish(s);
}

static void mad_seeds(struct seed *s)
{
#define SMP(prefix, name, code, ...)                                                               \
	mad_seed(s, MAD_CLASS_SUBN_LID, code);                                                     \
	mad_seed(s, MAD_CLASS_SUBN_DR, code);
	SMP_ATTRIBUTES(SMP)
#undef SMP
#define PMA(prefix, name, code, ...) mad_seed(s, MAD_CLASS_PERF, code);
	PMA_ATTRIBUTES(PMA)
#undef PMA
}

/* The device gives its object or its state back, and gets it again. */
static void again_seeds(struct seed *s)
{
	static const uint8_t pairs[][2] = {
		{COMMAND_HW2SW_MPT, COMMAND_SW2HW_MPT}, {COMMAND_HW2SW_EQ, COMMAND_SW2HW_EQ},
		{COMMAND_HW2SW_CQ, COMMAND_SW2HW_CQ},   {COMMAND_HW2SW_SRQ, COMMAND_SW2HW_SRQ},
		{COMMAND_QUERY_QP, COMMAND_RTS2RTS_QP}, {COMMAND_READ_MCG, COMMAND_WRITE_MCG},
		{COMMAND_QUERY_HCA, COMMAND_INIT_HCA}};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		const bool hca = pairs[i][1] == COMMAND_INIT_HCA;

		for (unsigned number = 0; number <= NUMBER_ZERO; number++) {
			const uint8_t take[] = {pairs[i][0], HOW_OUT, number, 0, 0};
			const uint8_t close[] = {COMMAND_CLOSE_HCA, 0, number, 0, 0};
			const uint8_t give[] = {pairs[i][1], HOW_ANSWER, number, 0};

			put_bytes(s, take, sizeof(take));
			if (hca)
				put_bytes(s, close, sizeof(close));
			put_bytes(s, give, sizeof(give));
			finish(s);
		}
	}
}

static void hcr_seeds(void)
{
	struct seed s = {.target = "hcr"};

	for (unsigned index = 0; index < COMMANDS; index++)
		command_seeds(&s, index);
#define PART(prefix, name, code, ...) set_port_seed(&s, code);
	SET_PORT_PARTS(PART)
#undef PART
	mad_seeds(&s);
	again_seeds(&s);
}

/* --- requests --- */

/* Format: wqe.c. A request made by the driver, on each queue of both ends. */
static void wqe_seeds(void)
{
	struct seed s = {.target = "wqe"};

	for (unsigned queue = 0; queue < 8; queue++) {
		for (unsigned opcode = 0; opcode < 16; opcode++)
			for (unsigned size = 0; size < 3; size++) {
				put(&s, 6 << 3 | queue);
				put(&s, size * 100);
				put(&s, opcode);
				put(&s, 0);
				put(&s, 30);
				if (s.len > 70)
					finish(&s);
			}
		finish(&s);
	}
}

/* Format: verbs.c. Each opcode on each queue, with each kind of address, and a change of state
 * between the requests. */
static void verbs_seeds(void)
{
	enum { OPCODES = 13, ATOMICS = 6, LAST_ATOMIC = 9, ADDRESSES = 8 };
	/* path, migrate, SQD, RTS, SRQ limit and a pause, join at both ends, other access rights */
	static const uint8_t between[][3] = {{1, 8 | 16, 4}, {1, 16, 0}, {2, 64, 5},   {2, 0, 5},
					     {0x33, 7, 20},  {4, 0, 5},  {0x84, 0, 5}, {6, 15, 5}};
	/* plain, rate, global, group, own LID */
	static const uint8_t addresses[ADDRESSES] = {0, 0x51, 2, 6, 8, 0x21, 6, 0};
	struct seed s = {.target = "verbs"};

	for (unsigned queue = 0; queue < 5; queue++)
		for (unsigned opcode = 0; opcode < OPCODES; opcode++) {
			const bool atomic = opcode >= ATOMICS && opcode <= LAST_ATOMIC;

			for (unsigned how = 0; how < ADDRESSES; how++) {
				const bool group = addresses[how] == 6;
				const uint8_t request[] = {
					8,
					(uint8_t)queue,
					(uint8_t)opcode,
					(uint8_t)(how > 4 && !group ? how * 16 : 0), /* keys */
					(uint8_t)(atomic ? 8 : how * 16),            /* length */
					(uint8_t)(group ? 64
							: how * 8), /* address, QPN of a group */
					1,
					addresses[how]};

				put_bytes(&s, between[how], 3);
				put_bytes(&s, request, sizeof(request));
				put(&s, 7);
				put(&s, 20);
			}
			finish(&s);
		}
}

/* Format: icm.c. Changes a field of each table while requests are in progress. */
static void icm_seeds(void)
{
	enum { TABLES = 11, REQUESTS = 7 };
	struct seed s = {.target = "icm"};

	for (unsigned table = 0; table < TABLES; table++)
		for (unsigned at = 0; at < 256; at += 4) {
			const uint8_t work[] = {5, (uint8_t)(at % 5 + 8 * (at / 4 % REQUESTS)), 3,
						5};
			/* the number of the entry follows the table; 4 bytes of ones */
			const uint8_t scribble[] = {0,    (uint8_t)table, 0,    (uint8_t)at, 3,
						    0xff, 0xff,           0xff, 0xff};
			const bool numbered = table == FW_TABLE_MTT || table == FW_TABLE_MCG ||
					      table == FW_TABLE_CMPT;

			put_bytes(&s, work, sizeof(work));
			put_bytes(&s, scribble, 3);
			if (numbered) {
				put(&s, 0);
				put(&s, at % 8);
			}
			put_bytes(&s, scribble + 3, sizeof(scribble) - 3);
			put_bytes(&s, work, sizeof(work));
			put(&s, 4);
			put(&s, 0);
			if (at % 32 == 28)
				finish(&s);
		}
}

/* --- registers --- */

/* Format: regs.c. Each kind of access, while work is in progress. */
static void regs_seeds(void)
{
	struct seed s = {.target = "regs"};

	for (unsigned how = 0; how < 256; how++) {
		for (unsigned what = 0; what < 8; what++) {
			put(&s, how);
			put(&s, what << 1 | (how & 1));
			put(&s, 0);
			put(&s, how);
			put(&s, 20);
		}
		if (how % 8 == 7)
			finish(&s);
	}
}

/* --- texts --- */

static void gdb_seeds(void)
{
	static const char *const packets[] = {"qSupported:multiprocess+;swbreak+",
					      "QStartNoAckMode",
					      "?",
					      "g",
					      "p20",
					      "P1=01000000",
					      "m80000000,40",
					      "M80000100,4:01020304",
					      "X80000100,4:abcd",
					      "Z0,80000004,2",
					      "Z1,80000004,4",
					      "z0,80000004,2",
					      "s",
					      "c",
					      "vCont?",
					      "vCont;s:1",
					      "vCont;c",
					      "Hg0",
					      "qfThreadInfo",
					      "qXfer:features:read:target.xml:0,ffb",
					      "vMustReplyEmpty",
					      "qAttached",
					      "qRcmd,6869",
					      "G00",
					      "D",
					      "k",
					      "vKill;1",
					      "C05",
					      "S05",
					      "T1",
					      "H",
					      "m,",
					      "M0,ffffffff:"};
	struct seed s = {.target = "gdb"};

	for (size_t first = 0; first < ARRAY_SIZE(packets); first++) {
		for (size_t i = 0; i < 8; i++) {
			const char *p =
				packets[(first + i * (first % 5 + 1)) % (ARRAY_SIZE(packets))];

			put(&s, (unsigned)strlen(p));
			put_bytes(&s, p, strlen(p));
		}
		put(&s, 0x81);
		put(&s, 3);
		finish(&s);
	}
}

static void ctl_seeds(void)
{
	static const char *const lines[] = {"help",
					    "status",
					    "stats",
					    "link down hca0",
					    "link up hca0 port1",
					    "drop 1.5% RC_SEND_ONLY hca1 x3",
					    "corrupt 100%",
					    "duplicate 3% hca0",
					    "delay 5us 10%",
					    "reorder 1%",
					    "faults",
					    "clear",
					    "clear 0",
					    "command SW2HW_CQ BAD_RESOURCE hca0 x2",
					    "command NOP INTERNAL_ERR",
					    "dump",
					    "trace on",
					    "trace off",
					    "stuck",
					    "catastrophe hca1",
					    "quit"};
	struct seed s = {.target = "ctl"};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		for (size_t k = 0; k < 4; k++) {
			const char *line = lines[(i + k) % (ARRAY_SIZE(lines))];

			put_bytes(&s, line, strlen(line));
			put(&s, '\n');
		}
		finish(&s);
	}
}

/* --- files of a run --- */

/* Pieces of each file; the first byte names the file, as in run_folder.c. Of a log only whole
 * lines. */
static void folder_seeds(const char *run)
{
	enum { PIECES = 8, PIECE = 3500 };
	struct seed s = {.target = "run_folder"};

	folder_open(run);
	for (unsigned f = 0; f < FOLDER_FILE_COUNT; f++) {
		const struct folder_bytes *real = folder_real(f);

		for (size_t piece = 0; piece < PIECES && real->len; piece++) {
			const uint8_t *at = real->bytes + real->len / PIECES * piece, *line;
			const uint8_t *end = real->bytes + real->len;

			line = piece ? memchr(at, '\n', (size_t)(end - at)) : NULL;
			at = line && line + 1 < end && f != FOLDER_CAPTURE ? line + 1 : at;
			put(&s, f);
			put_bytes(&s, at, (size_t)(end - at) < PIECE ? (size_t)(end - at) : PIECE);
			finish(&s);
		}
	}
	folder_close();
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: fuzz_seeds DIR RUN\n");
		return 2;
	}
	out_dir = argv[1];
	packet_seeds(argv[2]);
	hcr_seeds();
	wqe_seeds();
	verbs_seeds();
	icm_seeds();
	regs_seeds();
	gdb_seeds();
	ctl_seeds();
	folder_seeds(argv[2]);
	return 0;
}
