/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handlers of the HCR commands. Each command is a row of model/interface/commands.h, which names
 * its handler: cmd_<handler>().
 */
#ifndef FW_CMDS_H
#define FW_CMDS_H

#include "fw/fw.h"
#include "model/interface/commands.h"

/* A command, as read from the HCR. Its mailboxes are fw.in and fw.out. */
struct fw_cmd {
	uint32_t op, op_mod, in_mod, token;
	bool event;
	uint64_t in;       /* immediate, or bus address of the mailbox */
	uint64_t out;      /* the same; the handler of a command with immediate output sets it */
	uint32_t out_size; /* bytes of fw.out that go to the output mailbox on success */
};

#define HANDLER(name, code, in, out, in_layout, out_layout, flags, state, op_mods, handler, ...)   \
	enum hcr_status cmd_##handler(struct fw_cmd *c);
HCR_COMMANDS(HANDLER)
#undef HANDLER

/* SET_PORT of an Ethernet port. */
enum hcr_status set_port_ethernet(struct fw_cmd *c);
/* Executes the command in the HCR. */
void hcr_serve(void);
/* Reads further bytes of the input mailbox into fw.in. */
enum hcr_status cmd_inbox(const struct fw_cmd *c, uint32_t offset, uint32_t size);

/* cmd_hca.c. Reports it if these pages of ICM, which are to be unmapped, have entries of the device's own
 * while the HCA runs. */
void hca_unmap_check(uint64_t va, uint32_t pages);

/* Reports a guest error, because the mailbox or a modifier has bits set that must be 0. Returns the
 * status of the command. */
enum hcr_status cmd_reserved(const char *what);
/* Reports a guest error, because the command names an object of this kind (GUEST_) that does not
 * exist. Returns the status of the command. */
enum hcr_status cmd_no_object(enum guest_object_kind kind, uint32_t number, const char *what);
/* True if the mailbox in fw.in has no bit set that no row of its layout describes. */
bool reserved_clear_init_hca(void);
bool reserved_clear_set_port(void);
bool reserved_clear_mpt(void);
bool reserved_clear_eqc(void);
bool reserved_clear_cqc(void);
bool reserved_clear_srqc(void);
bool reserved_clear_qp(void);
bool reserved_clear_rss_qp(void);
bool reserved_clear_mcg(void);

#endif
