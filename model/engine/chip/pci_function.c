/* SPDX-License-Identifier: Apache-2.0 */
/* BARs and the registers of BAR0: see pci_function.h. */
#include "model/engine/chip/pci_function.h"

#include "model/engine/chip/doorbell.h"
#include "model/engine/base/monitor.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/host/interrupt.h"
#include "model/engine/host/pci_config.h"
#include "model/engine/host/pcie_impl.h"
#include "model/engine/chip/processor.h"
#include "model/interface/macros.h"
#include "model/interface/queues.h"
#include "model/interface/rows.h"
#include "model/sim/params/hca.h"
#include "model/sim/units.h"

#include <stdlib.h>
#include <string.h>

enum {
	REG_SIZE = 4,
	HCR_GO_DWORD = HCR_DWORDS - 1,
	MAILBOX_SIZE = 4096,
	MSIX_WIDE = 8, /* the table may be accessed by 4 or 8 bytes: PCI 3.0, 6.8.2 */
	MMIO_MAX = 64,
};

#define IDENTITY(id)                                                                               \
	{                                                                                          \
		.vendor = HCA_PCI_VENDOR, .device = (id),                                          \
		.subsystem_vendor = HCA_PCI_SUBSYSTEM_VENDOR, .subsystem = HCA_PCI_SUBSYSTEM,      \
		.class_code = HCA_PCI_CLASS, .revision = HCA_PCI_REVISION,                         \
		.bar_bytes = {[HCA_BAR_REGS] = HCA_BAR0_SIZE, [HCA_BAR_UAR] = HCA_BAR2_SIZE},      \
		.bar_prefetchable = {[HCA_BAR_UAR] = true}, .msix_table = BAR0_MSIX_TABLE,         \
		.msix_pba = BAR0_MSIX_PBA, .vectors_max = HCA_MSIX_VECTORS,                        \
	}

const struct pci_identity *pci_function_identity(const struct hca_params *params)
{
	static const struct pci_identity identities[CFG_DEVICE_COUNT] = {
		[CFG_DEVICE_CX3] = IDENTITY(HCA_PCI_DEVICE),
		[CFG_DEVICE_CX3PRO] = IDENTITY(HCA_PCI_DEVICE_PRO),
	};

	return &identities[param_hca_device(params)];
}

struct pci_function {
	struct hca *hca;
	struct hcr hcr;     /* the register as software reads it */
	struct hcr command; /* the register at the time when GO was written */
	bool owned;
	struct err_buf errors;
	struct event reset;
	struct {
		bool toggle_known, token_known;
		uint32_t toggle, token; /* of the last command; of the last one with an event */
		bool kept;              /* mailbox holds what it held when GO was written */
		uint8_t mailbox[MAILBOX_SIZE];
	} seen;                        /* for the rules of commands */
	struct hca_command_fault fail; /* what is left of hca_command_fail() */
	bool fails_as_planned;         /* the command that ends fails because of it */
};

static void reset_due(struct event *ev)
{
	struct pci_function *pci = container_of(ev, struct pci_function, reset);

	pci->hca->calls->soft_reset(pci->hca);
	pci_config_soft_reset(pci->hca);
}

struct pci_function *pci_function_create(struct hca *hca)
{
	struct pci_function *pci = memory_create(1, sizeof(*pci), "a PCI function");

	pci->hca = hca;
	pci->reset.job = reset_due;
	return pci;
}

void pci_function_destroy(struct pci_function *pci)
{
	if (!pci)
		return;
	event_cancel(pci->hca->core, &pci->reset);
	free(pci);
}

void pci_function_reset(struct hca *hca)
{
	struct pci_function *pci = hca->pci;

	event_cancel(hca->core, &pci->reset);
	memset(&pci->hcr, 0, sizeof(pci->hcr));
	memset(&pci->command, 0, sizeof(pci->command));
	memset(&pci->errors, 0, sizeof(pci->errors));
	pci->owned = false;
	memset(&pci->seen, 0, sizeof(pci->seen));
	interrupt_reset(hca);
}

/* --- HCR --- */

/* The mailbox of a command, for the trace. NULL: the command has none, or it cannot be read. */
static const void *mailbox(struct hca *hca, uint64_t bus, bool in, uint8_t buf[MAILBOX_SIZE])
{
	const struct hcr_row *row = hcr_row_find(hcr_get_opcode(&hca->pci->command));
	enum hcr_param kind = !row ? HCR_P_NONE : in ? row->in : row->out;

	if (kind != HCR_P_MBOX)
		return NULL;
	return hca->env.dma_read(hca->env.ctx, bus, buf, MAILBOX_SIZE) ? NULL : buf;
}

static void hcr_trace(struct hca *hca, enum trace_point point, bool in, uint64_t last)
{
	const struct hcr *c = &hca->pci->command;
	uint8_t buf[MAILBOX_SIZE];
	const void *box;

	if (!hca_traces(hca, point))
		return;
	box = mailbox(hca, in ? hcr_get_in_param(c) : hcr_get_out_param(c), in, buf);
	HCA_TRACE(hca, point, .corr = hcr_get_token(c), .bytes = box, .len = box ? MAILBOX_SIZE : 0,
		  .args = {hcr_get_opcode(c), hcr_get_op_mod(c), hcr_get_in_mod(c),
			   hcr_get_in_param(c), hcr_get_out_param(&hca->pci->hcr), last});
}

/* Ends the command as firmware would: with an event, or in the register. */
static void command_fail(struct hca *hca)
{
	struct pci_function *pci = hca->pci;
	struct eqe eqe = {{0}};
	struct eqe_cmd *cmd = eqe_as_cmd(&eqe);

	pci->fail.times--;
	if (hcr_get_event(&pci->command)) {
		eqe_set_type(&eqe, EVENT_CMD);
		eqe_cmd_set_token(cmd, hcr_get_token(&pci->command));
		eqe_cmd_set_status(cmd, pci->fail.status);
		event_queue_post(hca, &eqe, NULL, NULL);
	}
	pci->fails_as_planned = true;
	hcr_done(hca, 0, pci->fail.status);
	pci->fails_as_planned = false;
}

/* Whether this command is one that must fail. */
static bool command_fails(struct pci_function *pci)
{
	struct hca_command_fault *f = &pci->fail;

	if (!f->times || (f->opcode && f->opcode != hcr_get_opcode(&pci->command)))
		return false;
	if (f->skip) {
		f->skip--;
		return false;
	}
	return true;
}

void pci_function_command_fail(struct hca *hca, const struct hca_command_fault *fault)
{
	hca->pci->fail = *fault;
}

uint32_t pci_function_command_fail_left(const struct hca *hca)
{
	return hca->pci->fail.times;
}

/* --- rules of commands --- */

static struct guest_object command_object(const struct pci_function *pci)
{
	return guest_object(GUEST_COMMAND, hcr_get_opcode(&pci->command));
}

static void command_judge(struct hca *hca)
{
	struct pci_function *pci = hca->pci;
	const uint32_t toggle = hcr_get_toggle(&pci->command), token = hcr_get_token(&pci->command);

	if (pci->seen.toggle_known && toggle == pci->seen.toggle)
		guest_error(hca, RULE_command_toggle, command_object(pci), "toggle %u again",
			    toggle);
	pci->seen.toggle_known = true;
	pci->seen.toggle = toggle;
	/* a command without an event ends the row: Linux counts its tokens anew when it goes from
	 * polling back to events */
	if (!hcr_get_event(&pci->command)) {
		pci->seen.token_known = false;
		return;
	}
	if (pci->seen.token_known && token == pci->seen.token)
		guest_error(hca, RULE_command_token, command_object(pci), "token %04x again",
			    token);
	pci->seen.token_known = true;
	pci->seen.token = token;
}

static void mailbox_keep(struct hca *hca)
{
	struct pci_function *pci = hca->pci;
	const uint64_t in = hcr_get_in_param(&pci->command);

	pci->seen.kept =
		in != hcr_get_out_param(&pci->command) && mailbox(hca, in, true, pci->seen.mailbox);
}

static void mailbox_compare(struct hca *hca)
{
	struct pci_function *pci = hca->pci;
	uint8_t now[MAILBOX_SIZE];
	unsigned at = 0;

	if (!pci->seen.kept || !mailbox(hca, hcr_get_in_param(&pci->command), true, now))
		return;
	while (at < MAILBOX_SIZE && now[at] == pci->seen.mailbox[at])
		at++;
	if (at < MAILBOX_SIZE)
		guest_error(hca, RULE_mailbox_changed, command_object(pci),
			    "byte 0x%x was %02x when GO was written, and is %02x", at,
			    pci->seen.mailbox[at], now[at]);
}

/* --- */

static void hcr_write(struct hca *hca, uint32_t offset, const void *bytes)
{
	struct pci_function *pci = hca->pci;

	if (hcr_get_go(&pci->hcr)) {
		guest_error(hca, RULE_hcr_busy,
			    guest_object(GUEST_COMMAND, hcr_get_opcode(&pci->hcr)),
			    "dword %u of the command register written, opcode %x is pending",
			    offset / REG_SIZE, hcr_get_opcode(&pci->hcr));
		return;
	}
	memcpy(pci->hcr.b + offset, bytes, REG_SIZE);
	if (offset / REG_SIZE != HCR_GO_DWORD || !hcr_get_go(&pci->hcr))
		return;
	pci->command = pci->hcr;
	hcr_trace(hca, TP_HCR_POST, true, hcr_get_event(&pci->command));
	monitor_command(hca, &pci->command, NULL);
	command_judge(hca);
	mailbox_keep(hca);
	if (command_fails(pci))
		command_fail(hca);
	else
		processor_raise(hca, FW_IRQ_HCR);
}

void hcr_latched(const struct hca *hca, uint32_t hcr[7])
{
	for (unsigned i = 0; i < HCR_DWORDS; i++)
		hcr[i] = be32_load(hca->pci->command.b + i * REG_SIZE);
}

void hcr_done(struct hca *hca, uint64_t out_param, uint8_t status)
{
	struct pci_function *pci = hca->pci;

	if (!hcr_get_go(&pci->hcr))
		return;
	mailbox_compare(hca);
	hcr_set_out_param(&pci->hcr, out_param);
	if (!hcr_get_event(&pci->command))
		hcr_set_status(&pci->hcr, status);
	hcr_trace(hca, TP_HCR_DONE, false, status);
	monitor_command(hca, &pci->command,
			&(struct hca_command_answer){.status = status,
						     .planned = pci->fails_as_planned,
						     .out_param = out_param});
	hcr_set_go(&pci->hcr, 0);
}

void error_buffer_set(struct hca *hca, uint32_t code, uint32_t detail)
{
	struct pci_function *pci = hca->pci;

	processor_dump(hca, &pci->errors);
	err_buf_set_cause(&pci->errors, code);
	err_buf_set_detail(&pci->errors, detail);
	if (hcr_get_go(&pci->hcr)) {
		err_buf_set_opcode(&pci->errors, hcr_get_opcode(&pci->command));
		err_buf_set_in_mod(&pci->errors, hcr_get_in_mod(&pci->command));
	}
}

/* --- registers --- */

static void ownership_write(struct hca *hca, uint32_t offset, const void *bytes)
{
	if (!be32_load(bytes))
		hca->pci->owned = false;
}

static void ownership_read(struct hca *hca, uint32_t offset, void *bytes)
{
	be32_store(bytes, hca->pci->owned);
	hca->pci->owned = true;
}

static void hcr_read(struct hca *hca, uint32_t offset, void *bytes)
{
	memcpy(bytes, hca->pci->hcr.b + offset, REG_SIZE);
}

static void clear_interrupt(struct hca *hca, uint32_t offset, const void *bytes)
{
	/* The device has only one interrupt pin, so any bit clears it. Firmware's QUERY_ADAPTER
	 * states which bit software writes. */
	if (be32_load(bytes))
		interrupt_clear_intx(hca);
}

static void error_read(struct hca *hca, uint32_t offset, void *bytes)
{
	memcpy(bytes, hca->pci->errors.b + offset, REG_SIZE);
}

/* The reset is an event of its own, because it also resets the path that this write is still
 * using. */
static void reset_write(struct hca *hca, uint32_t offset, const void *bytes)
{
	if (!(be32_load(bytes) & 1))
		return;
	HCA_TRACE(hca, TP_RESET, .text = "software reset written");
	event_set(hca->core, &hca->pci->reset, hca_now(hca));
}

/* Always free: nothing else in the device uses the flash. */
static void semaphore_read(struct hca *hca, uint32_t offset, void *bytes)
{
	memset(bytes, 0, REG_SIZE);
}

static void clock_read(struct hca *hca, uint32_t offset, void *bytes)
{
	const uint64_t cycles = hca_core_cycles(hca);

	be32_store(bytes, (uint32_t)(offset ? cycles : cycles >> 32));
}

static const struct reg {
	uint32_t offset, size;
	void (*write)(struct hca *hca, uint32_t offset, const void *bytes);
	void (*read)(struct hca *hca, uint32_t offset, void *bytes);
} regs[] = {
	{BAR0_HCR, BAR0_HCR_SIZE, hcr_write, hcr_read},
	{BAR0_OWNERSHIP, BAR0_OWNERSHIP_SIZE, ownership_write, ownership_read},
	{BAR0_CLR_INT, BAR0_CLR_INT_SIZE, clear_interrupt, NULL},
	{BAR0_ERR_BUF, BAR0_ERR_BUF_SIZE, NULL, error_read},
	{BAR0_CLOCK, BAR0_CLOCK_SIZE, NULL, clock_read},
	{BAR0_RESET, BAR0_RESET_SIZE, reset_write, NULL},
	{BAR0_SEMAPHORE, BAR0_SEMAPHORE_SIZE, NULL, semaphore_read},
};

static bool within(uint64_t offset, unsigned size, uint32_t start, uint32_t length)
{
	return offset >= start && offset + size <= (uint64_t)start + length;
}

static bool msix_size(uint64_t offset, unsigned size)
{
	return (size == REG_SIZE || size == MSIX_WIDE) && offset % size == 0;
}

/* Finds the register at an offset. NULL, and a guest error, if the access has another size than the
 * register or goes in a direction that the register does not have. */
static const struct reg *reg_find(struct hca *hca, uint64_t offset, unsigned size, bool write)
{
	const char *what = write ? "write" : "read";

	for (unsigned i = 0; i < ARRAY_SIZE(regs); i++) {
		const struct reg *r = &regs[i];

		if (offset < r->offset || offset >= (uint64_t)r->offset + r->size)
			continue;
		if (size != REG_SIZE || offset % REG_SIZE) {
			guest_error(hca, RULE_register_size, guest_object(GUEST_NONE, 0),
				    "%s of %u bytes at bar0 %llx", what, size,
				    (unsigned long long)offset);
			return NULL;
		}
		if (write ? !r->write : !r->read)
			break;
		return r;
	}
	guest_error(hca, RULE_register_unknown, guest_object(GUEST_NONE, 0),
		    "%s of %u bytes at bar0 %llx", what, size, (unsigned long long)offset);
	return NULL;
}

static void bar0_write(struct hca *hca, uint64_t offset, const void *bytes, unsigned size)
{
	const struct reg *r;

	if (within(offset, size, BAR0_MSIX_TABLE, BAR0_MSIX_TABLE_SIZE) &&
	    msix_size(offset, size)) {
		interrupt_table_write(hca, (uint32_t)(offset - BAR0_MSIX_TABLE), bytes, size);
		return;
	}
	r = reg_find(hca, offset, size, true);
	if (r)
		r->write(hca, (uint32_t)(offset - r->offset), bytes);
}

static void bar0_read(struct hca *hca, uint64_t offset, void *bytes, unsigned size)
{
	const struct reg *r;

	if (within(offset, size, BAR0_MSIX_TABLE, BAR0_MSIX_TABLE_SIZE) &&
	    msix_size(offset, size)) {
		interrupt_table_read(hca, (uint32_t)(offset - BAR0_MSIX_TABLE), bytes, size);
		return;
	}
	if (within(offset, size, BAR0_MSIX_PBA, BAR0_MSIX_PBA_SIZE) && msix_size(offset, size)) {
		interrupt_pba_read(hca, (uint32_t)(offset - BAR0_MSIX_PBA), bytes, size);
		return;
	}
	memset(bytes, 0, size);
	r = reg_find(hca, offset, size, false);
	if (r)
		r->read(hca, (uint32_t)(offset - r->offset), bytes);
}

static uint64_t trace_value(const void *bytes, unsigned size)
{
	const uint8_t *b = bytes;
	uint64_t value = 0;

	for (unsigned i = 0; i < size && i < sizeof(value); i++)
		value = value << 8 | b[i];
	return value;
}

void pci_function_write(struct hca *hca, unsigned bar, uint64_t offset, const void *bytes,
			unsigned size)
{
	HCA_TRACE(hca, TP_REG_WRITE, .args = {bar, offset, trace_value(bytes, size), size});
	/* Linux's driver leaves its interrupt handlers in place when it resets a failed device, so
	 * that one may ring the doorbell of its EQ before configuration space is restored: nobody is
	 * to blame. */
	if (bar == HCA_BAR_UAR && pci_config_is_lost(hca))
		return;
	if (!pci_config_decodes(hca, "write", bar, offset))
		return;
	if (bar == HCA_BAR_UAR)
		doorbell_write(hca, offset, bytes, size);
	else
		bar0_write(hca, offset, bytes, size);
}

void pci_function_read(struct hca *hca, unsigned bar, uint64_t offset, void *bytes, unsigned size)
{
	if (!pci_config_decodes(hca, "read", bar, offset)) {
		memset(bytes, 0xff, size);
	} else if (bar == HCA_BAR_REGS) {
		bar0_read(hca, offset, bytes, size);
	} else {
		memset(bytes, 0, size);
		guest_error(hca, RULE_register_unknown, guest_object(GUEST_NONE, 0),
			    "read of %u bytes at bar2 %llx", size, (unsigned long long)offset);
	}
	HCA_TRACE(hca, TP_REG_READ, .args = {bar, offset, trace_value(bytes, size), size});
}
