/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/objects.h"
#include "fw/cmds.h"

bool object_in_table(unsigned table, uint32_t number)
{
	return number >> fw.tables[table].log_num == 0;
}

uint32_t object_do(unsigned table, uint32_t number, uint32_t command)
{
	fw_write(FW_OBJ_NUMBER, number);
	fw_write(FW_OBJ_CMD, command | table << 8);
	return fw_read(FW_OBJ_STATUS);
}

bool object_valid(unsigned table, uint32_t number)
{
	return object_do(table, number, FW_OBJ_TEST) != 0;
}

uint64_t object_address(unsigned table, uint32_t number)
{
	const struct fw_table *t = &fw.tables[table];
	uint32_t index = number & ((1u << t->log_num) - 1);

	return t->base + (uint64_t)index * t->entry_size;
}

static const uint8_t kinds[] = {
	[FW_TABLE_QPC] = GUEST_QP,   [FW_TABLE_CQC] = GUEST_CQ,  [FW_TABLE_EQC] = GUEST_EQ,
	[FW_TABLE_SRQC] = GUEST_SRQ, [FW_TABLE_MPT] = GUEST_MPT,
};

static enum hcr_status icm_status(unsigned table, uint32_t number, uint32_t dma_status)
{
	if (dma_status == FW_DMA_OK)
		return HCR_STATUS_OK;
	if (dma_status == FW_DMA_NO_ICM)
		fw_guest_error(RULE_icm_unmapped,
			       table < sizeof(kinds) ? (enum guest_object_kind)kinds[table]
						     : GUEST_NONE,
			       number, "the ICM of its entry is not mapped");
	return HCR_STATUS_ICM_ERROR;
}

enum hcr_status object_read(unsigned table, uint32_t number, void *context, uint32_t size)
{
	return icm_status(table, number, fw_icm_read(object_address(table, number), context, size));
}

enum hcr_status object_write(unsigned table, uint32_t number, const void *context, uint32_t size)
{
	return icm_status(table, number,
			  fw_icm_write(object_address(table, number), context, size));
}

enum hcr_status object_query(unsigned table, uint32_t number, void *context, uint32_t size)
{
	if (object_do(table, number, FW_OBJ_WRITEBACK) != FW_OBJ_OK)
		return HCR_STATUS_ICM_ERROR;
	return object_read(table, number, context, size);
}

enum hcr_status object_stop(unsigned table, uint32_t number, void *context, uint32_t size)
{
	if (object_do(table, number, FW_OBJ_QUIESCE) != FW_OBJ_OK)
		return HCR_STATUS_ICM_ERROR;
	return object_read(table, number, context, size);
}

void object_resume(unsigned table, uint32_t number)
{
	object_do(table, number, FW_OBJ_RESUME);
}

enum hcr_status object_make(unsigned table, uint32_t number, const void *context, uint32_t size)
{
	enum hcr_status status = object_write(table, number, context, size);

	if (status == HCR_STATUS_OK)
		object_do(table, number, FW_OBJ_VALIDATE);
	return status;
}

void object_end(unsigned table, uint32_t number, void *context, uint32_t size, bool want)
{
	if (want && object_query(table, number, context, size) != HCR_STATUS_OK)
		memset(context, 0, size);
	object_do(table, number, FW_OBJ_INVALIDATE);
}

enum hcr_status buffer_address(const struct fw_buffer *b, uint32_t at, uint64_t *bus,
			       uint32_t *left)
{
	uint64_t offset = (uint64_t)b->offset + at;
	uint64_t in_page = offset & ((UINT64_C(1) << b->log_page) - 1);
	uint64_t icm =
		fw.tables[FW_TABLE_MTT].base + b->mtt_addr + (offset >> b->log_page) * FW_MTT_SIZE;
	struct mtt_entry mtt;

	if (fw_icm_read(icm, &mtt, sizeof(mtt)) != FW_DMA_OK)
		return HCR_STATUS_ICM_ERROR;
	if (!mtt_entry_get_present(&mtt)) {
		fw_guest_error(RULE_mtt_not_present, GUEST_NONE, 0,
			       "a queue's buffer has no page behind an MTT entry");
		return HCR_STATUS_BAD_SEG_PARAM;
	}
	*bus = (mtt_entry_get_addr(&mtt) >> b->log_page << b->log_page) + in_page;
	*left = (uint32_t)((UINT64_C(1) << b->log_page) - in_page);
	return HCR_STATUS_OK;
}

enum hcr_status buffer_fill(const struct fw_buffer *b, uint32_t at, uint32_t len, uint8_t byte)
{
	while (len) {
		uint64_t bus;
		uint32_t left;
		enum hcr_status status = buffer_address(b, at, &bus, &left);

		if (status != HCR_STATUS_OK)
			return status;
		left = min_u32(left, len);
		if (fw_dma_fill(bus, byte, left) != FW_DMA_OK)
			return HCR_STATUS_BAD_SEG_PARAM;
		at += left;
		len -= left;
	}
	return HCR_STATUS_OK;
}
