/* SPDX-License-Identifier: Apache-2.0 */
/* The registers that firmware sees: model/interface/fwregs.h. Accessing a register that does not
 * exist is a fault of the firmware. */
#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/chip/pci_function.h"
#include "model/engine/chip/processor_impl.h"
#include "model/engine/memory/translate.h"
#include "model/interface/queues.h"
#include "model/interface/regs.h"
#include "model/interface/rows.h"
#include "model/sim/params/hca.h"
#include "model/sim/params/hca_doorbell.h"
#include "model/sim/params/hca_fw.h"
#include "model/sim/units.h"

#include <stdlib.h>
#include <string.h>

enum { PS_PER_NS = 1000, HZ_PER_MHZ = 1000000, HCR_WORDS = 7, HCR_OPCODE_MASK = 0xfff };

static bool reg_known(uint32_t offset)
{
	switch (offset) {
#define R(name, at, meaning) case at:
		FW_REGISTERS(R)
#undef R
		return true;
	default:
		return false;
	}
}

/* --- loads --- */

static int helper_load(const struct fw_helper *helper, uint32_t *value)
{
	if (helper->busy)
		return RV_BUS_WAIT;
	*value = helper->status;
	return RV_BUS_OK;
}

static uint32_t hcr_word(const struct processor *p, unsigned n)
{
	uint32_t hcr[HCR_WORDS];

	hcr_latched(p->hca, hcr);
	return hcr[n];
}

/* The sizes of the BlueFlame registers as firmware reads them. All registers together fill at most
 * one page. */
static uint32_t blueflame_sizes(const struct hca_params *params)
{
	const uint32_t log_page = (uint32_t)__builtin_ctz(UAR_PAGE_SIZE);
	const uint32_t log_reg = (uint32_t)param_doorbell_log_bf_reg(params);
	uint32_t log_regs = (uint32_t)param_doorbell_log_bf_regs(params);

	if (!param_doorbell_blueflame(params))
		return 0;
	if (log_reg + log_regs > log_page)
		log_regs = log_page - log_reg;
	return log_regs << 8 | log_reg;
}

static int identity_load(const struct processor *p, uint32_t reg, uint32_t *value)
{
	const struct hca_params *params = p->hca->params;

	switch (reg) {
	case FW_NUM_PORTS:
		*value = (uint32_t)param_hca_ports(params);
		break;
	case FW_GUID_HI:
		*value = (uint32_t)(hca_node_guid(p->hca) >> 32);
		break;
	case FW_GUID_LO:
		*value = (uint32_t)hca_node_guid(p->hca);
		break;
	case FW_LOG_MAX_MSG:
		*value = (uint32_t)param_hca_log_max_msg(params);
		break;
	case FW_LOG_GIDS:
		*value = (uint32_t)param_hca_log_gids(params);
		break;
	case FW_LOG_PKEYS:
		*value = (uint32_t)param_hca_log_pkeys(params);
		break;
	case FW_LOG_MAX_QP:
		*value = (uint32_t)param_hca_log_max_qp(params);
		break;
	case FW_LOG_MAX_SRQ:
		*value = (uint32_t)param_hca_log_max_srq(params);
		break;
	case FW_LOG_MAX_CQ:
		*value = (uint32_t)param_hca_log_max_cq(params);
		break;
	case FW_LOG_MAX_EQ:
		*value = (uint32_t)param_hca_log_max_eq(params);
		break;
	case FW_LOG_MAX_MPT:
		*value = (uint32_t)param_hca_log_max_mpt(params);
		break;
	case FW_BLUEFLAME:
		*value = blueflame_sizes(params);
		break;
	case FW_MSIX_VECTORS:
		*value = (uint32_t)param_hca_msix_vectors(params);
		break;
	case FW_UAR_SIZE_LOG_MB:
		*value = HCA_LOG_UAR_MIB;
		break;
	case FW_LOCAL_ACK_DELAY:
		*value = (uint32_t)param_hca_local_ack_delay(params);
		break;
	case FW_DEVICE:
		*value = param_hca_device(params) == CFG_DEVICE_CX3PRO;
		break;
	case FW_PORT_EVENTS:
		*value = param_hca_port_events(params);
		break;
	case FW_CORE_CLOCK_MHZ:
		*value = (uint32_t)(param_fw_clock(params) / HZ_PER_MHZ);
		break;
	default:
		return RV_BUS_FAULT;
	}
	return RV_BUS_OK;
}

static uint32_t diag_count(const struct hca *hca, uint32_t index)
{
	switch (index) {
#define D(name, stat)                                                                              \
	case FW_DIAG_##name:                                                                       \
		return (uint32_t)hca->stats.stat;
		DIAG_COUNTERS(D)
#undef D
	default:
		return 0;
	}
}

static int chip_load(struct processor *p, uint32_t reg, uint32_t *value)
{
	uint64_t ns;

	switch (reg) {
	case FW_IRQ_CAUSE:
		*value = p->cause;
		break;
	case FW_IRQ_ENABLE:
		*value = p->enable;
		break;
	case FW_TIME_LO:
		ns = hca_now(p->hca) / PS_PER_NS;
		*value = (uint32_t)ns;
		p->time_hi = (uint32_t)(ns >> 32);
		break;
	case FW_TIME_HI:
		*value = p->time_hi;
		break;
	case FW_WATCHDOG:
		*value = (uint32_t)(param_fw_watchdog(p->hca->params) / CFG_US(1));
		break;
	case FW_HCR0:
	case FW_HCR1:
	case FW_HCR2:
	case FW_HCR3:
	case FW_HCR4:
	case FW_HCR5:
	case FW_HCR6:
		*value = hcr_word(p, (reg - FW_HCR0) / 4);
		break;
	case FW_DMA_STATUS:
		return helper_load(&p->dma.helper, value);
	case FW_OBJ_STATUS:
		return helper_load(&p->object.helper, value);
	case FW_EQE_STATUS:
		return helper_load(&p->eqe, value);
	case FW_HCA_CTRL:
		*value = p->hca->ctrl;
		break;
	case FW_DIAG_COUNT:
		*value = diag_count(p->hca, fw_reg(p, FW_DIAG_INDEX));
		break;
	default:
		if ((reg >= FW_NUM_PORTS && reg < FW_TRACE_TEXT) ||
		    (reg >= FW_LOG_MAX_SRQ && reg <= FW_LOG_MAX_MPT))
			return identity_load(p, reg, value);
		*value = p->reg[reg / 4];
	}
	return RV_BUS_OK;
}

int processor_load(void *ctx, uint32_t addr, unsigned size, uint32_t *value)
{
	struct processor *p = ctx;
	uint32_t offset = addr - FW_REG_BASE;

	if (addr < FW_REG_BASE || offset >= FW_REG_SIZE || size != 4)
		return RV_BUS_FAULT;
	if (offset >= FW_PORT_BASE)
		return processor_port_load(p, offset, value);
	return reg_known(offset) ? chip_load(p, offset, value) : RV_BUS_FAULT;
}

/* --- stores --- */

static const char *ram_text(struct processor *p, uint32_t addr)
{
	uint32_t base, size;
	const uint8_t *ram = rv_core_ram(p->core, &base, &size);

	if (addr < base || addr - base >= size ||
	    !memchr(ram + (addr - base), 0, size - (addr - base)))
		return NULL;
	return (const char *)ram + (addr - base);
}

static void timer_set(struct processor *p)
{
	uint64_t ns = fw_reg64(p, FW_TIMER_HI, FW_TIMER_LO);

	if (fw_reg(p, FW_TIMER_HI) == UINT32_MAX || ns > EVENT_NEVER / PS_PER_NS)
		event_cancel(p->hca->core, &p->timer);
	else
		event_set(p->hca->core, &p->timer, ns * PS_PER_NS);
}

static void command_done(struct processor *p, uint32_t status)
{
	struct hca *hca = p->hca;

	hca->stats.fw_commands++;
	p->cause &= ~(uint32_t)FW_IRQ_HCR;
	processor_irq_update(p);
	hcr_done(hca, fw_reg64(p, FW_HCR_OUT_HI, FW_HCR_OUT_LO), (uint8_t)status);
}

/* Forgets everything read from these pages, because they are mapped anew or unmapped. */
static void icm_forget(struct hca *hca, uint64_t va, uint64_t len)
{
	context_drop_range(hca, va, len);
	translate_drop_range(hca, va, len);
	icm_objects_clear_range(hca, ICM_MPT_RELEASED, va, len);
	icm_objects_clear_range(hca, ICM_MPT_SYNCED, va, len);
}

static int icm_command(struct processor *p, uint32_t cmd)
{
	struct hca *hca = p->hca;
	uint64_t va = fw_reg64(p, FW_ICM_VA_HI, FW_ICM_VA_LO),
		 bus = fw_reg64(p, FW_ICM_PA_HI, FW_ICM_PA_LO);
	uint32_t pages = fw_reg(p, FW_ICM_PAGES);

	switch (cmd) {
	case FW_ICM_MAP:
		icm_forget(hca, va, (uint64_t)pages << ICM_PAGE_SHIFT);
		return icm_map(hca, va, bus, pages) ? RV_BUS_FAULT : RV_BUS_OK;
	case FW_ICM_UNMAP:
		icm_forget(hca, va, (uint64_t)pages << ICM_PAGE_SHIFT);
		icm_unmap(hca, va, pages);
		break;
	case FW_ICM_UNMAP_ALL:
		icm_forget(hca, 0, UINT64_MAX);
		icm_unmap_all(hca);
		break;
	case FW_ICM_LOOKUP:
		bus = 0;
		icm_translate(hca, va, &bus);
		p->reg[FW_ICM_PA_HI / 4] = (uint32_t)(bus >> 32);
		p->reg[FW_ICM_PA_LO / 4] = (uint32_t)bus;
		break;
	default:
		return RV_BUS_FAULT;
	}
	return RV_BUS_OK;
}

static int table_command(struct processor *p, uint32_t table)
{
	if (table >= FW_TABLE_COUNT)
		return RV_BUS_FAULT;
	context_drop_range(p->hca, 0, UINT64_MAX);
	translate_drop_all(p->hca);
	icm_table_set(p->hca, table, fw_reg64(p, FW_TABLE_BASE_HI, FW_TABLE_BASE_LO),
		      (uint8_t)(fw_reg(p, FW_TABLE_LOG_NUM) & 31), fw_reg(p, FW_TABLE_ENTRY_SIZE));
	return RV_BUS_OK;
}

static void eqe_written(void *arg)
{
	struct processor *p = arg;

	processor_helper_done(p, &p->eqe, 0);
}

static int eqe_post(struct processor *p, uint32_t addr)
{
	const uint8_t *ram = processor_ram(p, addr, EQE_SIZE);
	struct eqe eqe;

	if (!ram || p->eqe.busy)
		return RV_BUS_FAULT;
	memcpy(eqe.b, ram, sizeof(eqe.b));
	processor_helper_start(&p->eqe);
	event_queue_post(p->hca, &eqe, eqe_written, p);
	return RV_BUS_OK;
}

static int text_trace(struct processor *p, uint32_t addr)
{
	const char *text = ram_text(p, addr);

	if (!text)
		return RV_BUS_FAULT;
	HCA_TRACE(p->hca, TP_FW_TEXT, .text = text);
	return RV_BUS_OK;
}

static int rule_broken(struct processor *p, uint32_t rule)
{
	const char *text = ram_text(p, fw_reg(p, FW_GUEST_TEXT));
	const uint32_t object = fw_reg(p, FW_GUEST_OBJECT);
	const uint32_t opcode = hcr_word(p, 6) & HCR_OPCODE_MASK;
	const unsigned kind = object >> 24;
	const struct hcr_row *row = hcr_row_find(opcode);

	if (!text || rule >= RULE_COUNT || kind >= GUEST_OBJECT_KINDS)
		return RV_BUS_FAULT;
	guest_error(
		p->hca, (enum guest_rule)rule,
		kind == GUEST_NONE ? guest_object(GUEST_COMMAND, opcode)
				   : guest_object((enum guest_object_kind)kind, object & 0xffffff),
		"%s: %s, modifier 0x%x", row ? row->name : "unknown command", text, hcr_word(p, 2));
	return RV_BUS_OK;
}

/* A trap handler stores the address of the trap. Any other value is a reason that the firmware
 * itself defines. */
static int firmware_gave_up(struct processor *p, uint32_t value)
{
	struct rv_trap trap = rv_core_trap(p->core);
	uint32_t offset = 0, pc = trap.cause ? trap.pc : rv_core_pc(p->core);
	const char *symbol = rv_core_symbol(p->core, pc, &offset);

	if (trap.cause && trap.pc == value)
		hca_catastrophe(p->hca, ERR_BUF_TRAP, trap.cause,
				"firmware trapped: %s, value %x, at pc %x %s+%x",
				rv_cause_name(trap.cause), trap.value, pc,
				symbol ? symbol : "unknown", offset);
	else
		hca_catastrophe(p->hca, ERR_BUF_FIRMWARE, value,
				"firmware gave up with %x, at pc %x %s+%x: %s", value, pc,
				symbol ? symbol : "unknown", offset,
				trap.cause ? rv_cause_name(trap.cause) : "no trap");
	return RV_BUS_WAIT; /* The core stops at this instruction. */
}

static int control_store(struct processor *p, uint32_t value)
{
	if (!value)
		p->hca->calls->stop(p->hca);
	p->hca->ctrl = value;
	return RV_BUS_OK;
}

/* Registers whose store has an effect. The caller has already stored the value. */
static int chip_store(struct processor *p, uint32_t reg, uint32_t value)
{
	struct hca *hca = p->hca;

	switch (reg) {
	case FW_IRQ_CAUSE:
		p->cause &= ~value | FW_IRQ_HCR;
		processor_irq_update(p);
		return RV_BUS_OK;
	case FW_IRQ_ENABLE:
		p->enable = value;
		processor_irq_update(p);
		return RV_BUS_OK;
	case FW_TIMER_HI:
		timer_set(p);
		return RV_BUS_OK;
	case FW_WATCHDOG:
		p->watchdog_us = value;
		processor_watchdog_start(p);
		return RV_BUS_OK;
	case FW_HCR_DONE:
		command_done(p, value);
		return RV_BUS_OK;
	case FW_DMA_CMD:
		return processor_dma_start(p, value);
	case FW_ICM_CMD:
		return icm_command(p, value);
	case FW_TABLE_CMD:
		return table_command(p, value);
	case FW_HCA_CTRL:
		return control_store(p, value);
	case FW_LOG_MCG_HASH:
		hca->log_mcg_hash = (uint8_t)value;
		return RV_BUS_OK;
	case FW_LOG_UAR:
		hca->log_uar = (uint8_t)value;
		return RV_BUS_OK;
	case FW_SPECIAL_QP:
		hca->special_qp = value;
		return RV_BUS_OK;
	case FW_OBJ_CMD:
		return processor_object_start(p, value);
	case FW_EVENT_MAP:
		event_queue_map(hca, value & 0xff, value >> 8 & 0xffff, value >> 31);
		return RV_BUS_OK;
	case FW_EQE_POST:
		return eqe_post(p, value);
	case FW_TRACE_TEXT:
		return text_trace(p, value);
	case FW_TRACE_VALUE:
		HCA_TRACE(hca, TP_FW_NUMBER, .text = "value", .args = {value});
		return RV_BUS_OK;
	case FW_GUEST_ERROR:
		return rule_broken(p, value);
	case FW_CATAS:
		return firmware_gave_up(p, value);
	default:
		return RV_BUS_OK;
	}
}

int processor_store(void *ctx, uint32_t addr, unsigned size, uint32_t value)
{
	struct processor *p = ctx;
	uint32_t offset = addr - FW_REG_BASE;

	if (addr < FW_REG_BASE || offset >= FW_REG_SIZE || size != 4)
		return RV_BUS_FAULT;
	if (offset >= FW_PORT_BASE)
		return processor_port_store(p, offset, value);
	if (!reg_known(offset))
		return RV_BUS_FAULT;
	p->reg[offset / 4] = value;
	return chip_store(p, offset, value);
}
