/* SPDX-License-Identifier: Apache-2.0 */
#include "fw/cmds.h"
#include "fw/objects.h"
#include "model/interface/regs.h"

enum { LIMIT_MASK = 0xffff };

static enum hcr_status srq_check(uint32_t srqn, const struct srqc *s)
{
	if (!reserved_clear_srqc())
		return cmd_reserved("reserved bits are set");
	if (!object_in_table(FW_TABLE_SRQC, srqn))
		return HCR_STATUS_BAD_INDEX;
	if (object_valid(FW_TABLE_SRQC, srqn))
		return HCR_STATUS_BAD_RES_STATE;
	if (srqc_get_cqn(s) && (!object_in_table(FW_TABLE_CQC, srqc_get_cqn(s)) ||
				!object_valid(FW_TABLE_CQC, srqc_get_cqn(s))))
		return cmd_no_object(GUEST_CQ, srqc_get_cqn(s), "no such CQ");
	if (srqc_get_log_size(s) > FW_LOG_MAX_WQE)
		return HCR_STATUS_EXCEED_LIM;
	if (srqc_get_srqn(s) != srqn || srqc_get_log_page_size(s) + 12 > FW_LOG_MAX_PAGE)
		return HCR_STATUS_BAD_PARAM;
	return HCR_STATUS_OK;
}

enum hcr_status cmd_sw2hw_srq(struct fw_cmd *c)
{
	struct srqc *s = (struct srqc *)fw.in;
	enum hcr_status status = srq_check(c->in_mod, s);

	if (status != HCR_STATUS_OK)
		return status;
	srqc_set_state(s, SRQ_STATE_OK);
	srqc_set_limit(s, 0);
	srqc_set_wqe_cnt(s, 0);
	srqc_set_wqe_counter(s, 0);
	srqc_set_next_wqe(s, 0);
	return object_make(FW_TABLE_SRQC, c->in_mod, s, sizeof(*s));
}

enum hcr_status cmd_hw2sw_srq(struct fw_cmd *c)
{
	if (!object_in_table(FW_TABLE_SRQC, c->in_mod) || !object_valid(FW_TABLE_SRQC, c->in_mod))
		return cmd_no_object(GUEST_SRQ, c->in_mod, "no such SRQ");
	object_end(FW_TABLE_SRQC, c->in_mod, fw.out, sizeof(struct srqc), c->out_size);
	return HCR_STATUS_OK;
}

enum hcr_status cmd_query_srq(struct fw_cmd *c)
{
	struct srqc *s = (struct srqc *)fw.out;
	struct rq_dbrec record;
	enum hcr_status status;

	if (!object_in_table(FW_TABLE_SRQC, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	if (!object_valid(FW_TABLE_SRQC, c->in_mod))
		return cmd_no_object(GUEST_SRQ, c->in_mod, "no such SRQ");
	status = object_query(FW_TABLE_SRQC, c->in_mod, s, sizeof(*s));
	if (status == HCR_STATUS_OK &&
	    fw_dma_read(srqc_get_db_rec_addr(s), &record, sizeof(record)) == FW_DMA_OK)
		srqc_set_wqe_cnt(s, rq_dbrec_get_counter(&record) - srqc_get_wqe_counter(s));
	return status;
}

/* Upon FW_OBJ_RESUME hardware compares the limit with the receives that are available. */
enum hcr_status cmd_arm_srq(struct fw_cmd *c)
{
	struct srqc s;
	enum hcr_status status;

	if (c->in & ~(uint64_t)LIMIT_MASK)
		return cmd_reserved("the limit has 16 bits");
	if (!object_in_table(FW_TABLE_SRQC, c->in_mod))
		return HCR_STATUS_BAD_INDEX;
	if (!object_valid(FW_TABLE_SRQC, c->in_mod))
		return cmd_no_object(GUEST_SRQ, c->in_mod, "no such SRQ");
	status = object_stop(FW_TABLE_SRQC, c->in_mod, &s, sizeof(s));
	if (status == HCR_STATUS_OK) {
		srqc_set_limit(&s, (uint32_t)c->in);
		status = object_write(FW_TABLE_SRQC, c->in_mod, &s, sizeof(s));
	}
	object_resume(FW_TABLE_SRQC, c->in_mod);
	return status;
}
