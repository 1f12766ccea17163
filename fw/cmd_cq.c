/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion queues. Until its CQE is written, software must read each slot of the buffer as not
 * valid. So the firmware fills the buffer when the CQ gets it.
 */
#include "fw/cmds.h"
#include "fw/objects.h"
#include "model/interface/regs.h"

enum {
	OWNER_BIT = 0x80,
	FILL_OWNER_1 = CQE_INIT_BYTE,
	FILL_OWNER_0 = CQE_INIT_BYTE & ~OWNER_BIT,
};

static struct fw_buffer cq_buffer(const struct cqc *q)
{
	return (struct fw_buffer){
		.mtt_addr = cqc_get_mtt_addr(q),
		.log_page = cqc_get_log_page_size(q) + 12,
		.offset = cqc_get_page_offset(q) * 32,
	};
}

static enum hcr_status cq_size_check(const struct cqc *q)
{
	if (cqc_get_log_size(q) > FW_LOG_MAX_CQE)
		return HCR_STATUS_EXCEED_LIM;
	if (cqc_get_log_page_size(q) + 12 > FW_LOG_MAX_PAGE)
		return HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

static enum hcr_status cq_check(uint32_t cqn, const struct cqc *q)
{
	if (!reserved_clear_cqc())
		return cmd_reserved("reserved bits are set");
	if (!object_in_table(FW_TABLE_CQC, cqn) ||
	    cqc_get_usr_page(q) >> init_hca_get_log_uars(&fw.hca))
		return HCR_STATUS_BAD_INDEX;
	if (object_valid(FW_TABLE_CQC, cqn))
		return HCR_STATUS_BAD_RES_STATE;
	if (!object_in_table(FW_TABLE_EQC, cqc_get_comp_eqn(q)) ||
	    !object_valid(FW_TABLE_EQC, cqc_get_comp_eqn(q)))
		return cmd_no_object(GUEST_EQ, cqc_get_comp_eqn(q), "no such EQ");
	return cq_size_check(q);
}

enum hcr_status cmd_sw2hw_cq(struct fw_cmd *c)
{
	struct cqc *q = (struct cqc *)fw.in;
	struct fw_buffer b = cq_buffer(q);
	enum hcr_status status = cq_check(c->in_mod, q);

	if (status == HCR_STATUS_OK && !(c->op_mod & HCR_OM_SW_CQ_INIT))
		status =
			buffer_fill(&b, 0, (uint32_t)CQE_SIZE << cqc_get_log_size(q), FILL_OWNER_1);
	if (status != HCR_STATUS_OK)
		return status;
	cqc_set_status(q, CQ_STATUS_OK);
	cqc_set_state(q, CQ_STATE_DISARMED);
	cqc_set_last_notified(q, 0);
	cqc_set_solicit_pi(q, 0);
	cqc_set_consumer_index(q, 0);
	cqc_set_producer_index(q, 0);
	return object_make(FW_TABLE_CQC, c->in_mod, q, sizeof(*q));
}

/* Reads the slot that the next completion would have used. If software has unmapped the buffer too
 * early, this DMA reports it. */
static void cq_touch(const struct cqc *q)
{
	struct fw_buffer b = cq_buffer(q);
	uint32_t slot = cqc_get_producer_index(q) & ((1u << cqc_get_log_size(q)) - 1);
	uint32_t left;
	uint64_t bus;
	uint8_t byte;

	if (buffer_address(&b, slot * CQE_SIZE, &bus, &left) == HCR_STATUS_OK)
		fw_dma_read(bus, &byte, sizeof(byte));
}

enum hcr_status cmd_hw2sw_cq(struct fw_cmd *c)
{
	struct cqc q;

	if (!object_in_table(FW_TABLE_CQC, c->in_mod) || !object_valid(FW_TABLE_CQC, c->in_mod))
		return cmd_no_object(GUEST_CQ, c->in_mod, "no such CQ");
	if (object_query(FW_TABLE_CQC, c->in_mod, &q, sizeof(q)) == HCR_STATUS_OK)
		cq_touch(&q);
	object_end(FW_TABLE_CQC, c->in_mod, fw.out, sizeof(struct cqc), c->out_size);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_query_cq(struct fw_cmd *c)
{
	if (!object_in_table(FW_TABLE_CQC, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	if (!object_valid(FW_TABLE_CQC, c->in_mod))
		return cmd_no_object(GUEST_CQ, c->in_mod, "no such CQ");
	return object_query(FW_TABLE_CQC, c->in_mod, fw.out, sizeof(struct cqc));
}

static enum hcr_status cq_moderate(struct cqc *q, const struct cqc *in)
{
	cqc_set_period(q, cqc_get_period(in));
	cqc_set_max_count(q, cqc_get_max_count(in));
	return HCR_STATUS_OK;
}

/* The RESIZE CQE needs a slot of the old buffer that software has given back. The new buffer must
 * hold all CQEs that software has not polled yet. */
static enum hcr_status cq_resize_check(const struct cqc *q, const struct cqc *in)
{
	struct cq_dbrec record;
	uint32_t used;

	if (fw_dma_read(cqc_get_db_rec_addr(q), &record, sizeof(record)) != FW_DMA_OK)
		return HCR_STATUS_RESOURCE_BUSY;
	used = (cqc_get_producer_index(q) - cq_dbrec_get_set_ci(&record)) & QUEUE_INDEX_MASK;
	if (used >= 1u << cqc_get_log_size(q))
		return HCR_STATUS_RESOURCE_BUSY;
	return used > 1u << cqc_get_log_size(in) ? HCR_STATUS_BAD_SIZE : HCR_STATUS_OK;
}

/* Fills the new buffer so that its slots read as not valid for one round of indices from @first. */
static enum hcr_status cq_fill_from(const struct cqc *q, uint32_t first)
{
	uint32_t size = 1u << cqc_get_log_size(q), slot = first & (size - 1);
	bool odd_lap = first & size;
	struct fw_buffer b = cq_buffer(q);
	enum hcr_status status;

	status = buffer_fill(&b, slot * CQE_SIZE, (size - slot) * CQE_SIZE,
			     odd_lap ? FILL_OWNER_0 : FILL_OWNER_1);
	if (status == HCR_STATUS_OK)
		status = buffer_fill(&b, 0, slot * CQE_SIZE, odd_lap ? FILL_OWNER_1 : FILL_OWNER_0);
	return status;
}

/* Writes the RESIZE CQE, its owner byte last. */
static enum hcr_status cq_write_resize(const struct cqc *q)
{
	uint32_t pi = cqc_get_producer_index(q), size = 1u << cqc_get_log_size(q);
	struct fw_buffer b = cq_buffer(q);
	struct cqe cqe = {0};
	uint64_t bus;
	uint32_t left;
	enum hcr_status status = buffer_address(&b, (pi & (size - 1)) * CQE_SIZE, &bus, &left);

	if (status != HCR_STATUS_OK)
		return status;
	cqe_set_opcode(&cqe, CQE_OP_RESIZE);
	cqe_set_owner(&cqe, (pi & size) != 0);
	if (fw_dma_write(bus, &cqe, CQE_OWNER_OFFSET) != FW_DMA_OK ||
	    fw_dma_write(bus + CQE_OWNER_OFFSET, cqe.b + CQE_OWNER_OFFSET, 1) != FW_DMA_OK)
		return HCR_STATUS_BAD_SEG_PARAM;
	return HCR_STATUS_OK;
}

/*
 * The CQ is stopped meanwhile: no CQE is under way, and the producer index in ICM is current. The
 * RESIZE CQE is the last one in the old buffer, and takes an index.
 */
static enum hcr_status cq_resize(struct cqc *q, const struct cqc *in)
{
	struct cqc next = *q;
	uint32_t pi = (cqc_get_producer_index(q) + 1) & QUEUE_INDEX_MASK;
	enum hcr_status status = cq_size_check(in);

	if (status == HCR_STATUS_OK)
		status = cq_resize_check(q, in);
	if (status != HCR_STATUS_OK)
		return status;
	cqc_set_log_size(&next, cqc_get_log_size(in));
	cqc_set_log_page_size(&next, cqc_get_log_page_size(in));
	cqc_set_mtt_addr(&next, cqc_get_mtt_addr(in));
	cqc_set_page_offset(&next, cqc_get_page_offset(in));
	cqc_set_producer_index(&next, pi);
	status = cq_fill_from(&next, pi);
	if (status == HCR_STATUS_OK)
		status = cq_write_resize(q);
	if (status == HCR_STATUS_OK)
		*q = next;
	return status;
}

enum hcr_status cmd_modify_cq(struct fw_cmd *c)
{
	const struct cqc *in = (const struct cqc *)fw.in;
	bool resize = c->op_mod == HCR_OM_CQ_RESIZE;
	struct cqc q;
	enum hcr_status status;

	if (!reserved_clear_cqc())
		return cmd_reserved("reserved bits are set");
	if (!object_in_table(FW_TABLE_CQC, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	if (!object_valid(FW_TABLE_CQC, c->in_mod))
		return cmd_no_object(GUEST_CQ, c->in_mod, "no such CQ");
	status = object_stop(FW_TABLE_CQC, c->in_mod, &q, sizeof(q));
	if (status == HCR_STATUS_OK)
		status = resize ? cq_resize(&q, in) : cq_moderate(&q, in);
	if (status == HCR_STATUS_OK)
		status = object_write(FW_TABLE_CQC, c->in_mod, &q, sizeof(q));
	/* Drops the translations of the old buffer. */
	if (resize)
		object_do(FW_TABLE_MPT, 0, FW_OBJ_SYNC_ALL);
	object_resume(FW_TABLE_CQC, c->in_mod);
	return status;
}
