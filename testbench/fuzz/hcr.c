/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands with any opcode, modifiers and mailbox, sent to the firmware of a device that is up. A
 * mailbox starts as bytes of the input, as the context of a live object, or as the last answer, and
 * some bytes of it are changed.
 */
#include "model/interface/commands.h"
#include "model/interface/macros.h"
#include "testbench/fuzz/rig.h"

#include <string.h>

enum { COMMANDS_MAX = 16, PATCHES = 15, LIVE = 0x80, IMMEDIATE = 0x40, OUT = 0x20, ANSWER = 0x10 };

static const uint16_t opcodes[] = {
#define OPCODE(name, code, ...) code,
	HCR_COMMANDS(OPCODE)
#undef OPCODE
};

struct hcr_case {
	struct fuzz_bytes b;
	uint8_t answer[HCR_MBOX_SIZE]; /* of the last command that has an output mailbox */
};

static uint32_t number_of(struct fuzz_rig *rig, struct fuzz_bytes *b)
{
	struct tb_end *a = &rig->tb.ends[0];
	unsigned choice = (unsigned)fuzz_take(b, 1);

	switch (choice & 15) {
	case 0:
		return drv_qp_num(a->qp[0]);
	case 1:
		return drv_cq_num(a->cq);
	case 2:
		return drv_srq_num(rig->srq);
	case 3:
		return drv_mr_lkey(a->mr) >> 8;
	case 4:
		return drv_qp_num(rig->ud[0]);
	case 5:
		return 1;
	case 6:
		return 0;
	case 7:
		return (uint32_t)fuzz_take(b, 4);
	case 8:
		return drv_qp_num(rig->srq_qp);
	default:
		return (uint32_t)fuzz_take(b, 2);
	}
}

static void mailbox_live(struct fuzz_rig *rig, uint8_t *mailbox, uint32_t number, unsigned what)
{
	struct hca *hca = host_hca(rig->tb.ends[0].host);
	enum hca_object type = what % 5;

	hca_context_read(hca, type, type == HCA_MPT ? number << 8 : number,
			 mailbox + (type == HCA_QP ? 8 : 0), 256);
}

static void mailbox_make(struct fuzz_rig *rig, struct hcr_case *c, uint8_t *mailbox, unsigned how,
			 uint32_t number)
{
	struct fuzz_bytes *b = &c->b;
	const uint8_t *bytes;

	if (how & ANSWER) {
		memcpy(mailbox, c->answer, sizeof(c->answer));
	} else if (how & LIVE) {
		mailbox_live(rig, mailbox, number, (unsigned)fuzz_take(b, 1));
	} else {
		size_t length = fuzz_take_some(b, (size_t)fuzz_take(b, 1), &bytes);

		memcpy(mailbox, bytes, length);
	}
	for (unsigned n = fuzz_take(b, 1) & PATCHES; n; n--) {
		unsigned at = (unsigned)fuzz_take(b, 1);

		mailbox[at] = (uint8_t)fuzz_take(b, 1);
	}
}

static void command(struct fuzz_rig *rig, struct hcr_case *c)
{
	struct drv_device *dev = rig->tb.ends[0].dev;
	struct fuzz_bytes *b = &c->b;
	unsigned choice = (unsigned)fuzz_take(b, 1), how = (unsigned)fuzz_take(b, 1);
	uint8_t mailbox[HCR_MBOX_SIZE] = {0};
	struct drv_raw_cmd cmd = {
		.op = choice & LIVE && how & 1 ? choice : opcodes[choice % (ARRAY_SIZE(opcodes))],
		.op_mod = (unsigned)(how & 2 ? fuzz_take(b, 1) : how >> 2 & 3),
		.in_mod = number_of(rig, b),
		.timeout_ps = CFG_S(1),
		.out = how & OUT ? c->answer : NULL,
		.out_len = how & OUT ? sizeof(c->answer) : 0,
		.out_imm = !(how & OUT),
	};

	mailbox_make(rig, c, mailbox, how, cmd.in_mod);
	if (how & IMMEDIATE) {
		cmd.in_param = fuzz_take(b, 8);
	} else {
		cmd.in = mailbox;
		cmd.in_len = sizeof(mailbox);
	}
	drv_cmd(dev, &cmd);
}

static void commands(struct fuzz_rig *rig, void *arg)
{
	struct hcr_case *c = arg;

	for (unsigned n = 0; n < COMMANDS_MAX && fuzz_more(&c->b) && !rig->given_up; n++)
		command(rig, c);
}

int fuzz_input(const uint8_t *data, size_t size)
{
	/* The second port is for the commands of Ethernet ports. */
	static const char *const settings[] = {"hca.ports=2", "hca.port2.type=eth",
					       "hca.device=cx3pro", NULL};
	static struct hcr_case c;
	struct fuzz_rig *rig;

	fuzz_rig_settings = settings;
	rig = fuzz_rig_get();
	c = (struct hcr_case){.b = {data, data + size}};
	fuzz_rig_call(rig, commands, &c, CFG_S(60));
	fuzz_rig_pass(rig, CFG_MS(1));
	if (rig->tb.ends[0].dev->dead)
		fuzz_rig_spoil();
	if (rig->inputs % 16 == 0)
		fuzz_rig_spoil();
	return 0;
}
