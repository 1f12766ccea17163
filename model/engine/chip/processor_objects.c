/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The object commands of firmware (FW_OBJ_* in fwregs.h). Each command calls the stages that handle
 * the object, one after the other; the helper is done when the last stage has finished.
 */
#include "model/engine/memory/context_cache.h"
#include "model/engine/complete/cqe_write.h"
#include "model/engine/complete/event_queue.h"
#include "model/engine/memory/icm.h"
#include "model/engine/base/keep.h"
#include "model/engine/base/monitor.h"
#include "model/engine/memory/memory_key.h"
#include "model/engine/chip/doorbell.h"
#include "model/engine/chip/object_users.h"
#include "model/engine/chip/processor_impl.h"
#include "model/engine/qp/qp.h"
#include "model/engine/receive/srq.h"
#include "model/engine/send/scheduler.h"
#include "model/engine/memory/translate.h"
#include "model/interface/macros.h"

static enum context_use object_use(const struct fw_object *o)
{
	static const enum context_use uses[] = {
		[FW_TABLE_QPC] = CONTEXT_REQUESTER,
		[FW_TABLE_CQC] = CONTEXT_CQ,
		[FW_TABLE_EQC] = CONTEXT_EQ,
		[FW_TABLE_SRQC] = CONTEXT_SRQ,
	};

	return uses[o->type];
}

static void object_done(struct processor *p, int status)
{
	processor_helper_done(p, &p->object.helper, status ? FW_OBJ_NO_ICM : FW_OBJ_OK);
}

static void object_flushed(void *arg, int status)
{
	object_done(arg, status);
}

/* Notes where the object's queue buffer has its MTT entries, if its context is in the cache. */
static void object_note_mtt(struct processor *p)
{
	struct fw_object *o = &p->object;
	const void *bytes = context_peek(p->hca, object_use(o), o->number);

	o->mtt_known = bytes;
	if (!bytes)
		return;
	switch (o->type) {
	case FW_TABLE_QPC:
		o->mtt_addr = qpc_get_mtt_addr(bytes);
		break;
	case FW_TABLE_CQC:
		o->mtt_addr = cqc_get_mtt_addr(bytes);
		break;
	case FW_TABLE_EQC:
		o->mtt_addr = eqc_get_mtt_addr(bytes);
		break;
	default:
		o->mtt_addr = srqc_get_mtt_addr(bytes);
	}
}

static void object_drop_mtt(struct processor *p)
{
	if (p->object.mtt_known)
		translate_drop_queue(p->hca, p->object.mtt_addr);
	else
		translate_drop_queues(p->hca);
}

/* --- invalidate --- */

static void object_gone(struct processor *p)
{
	struct fw_object *o = &p->object;
	struct hca *hca = p->hca;

	object_drop_mtt(p);
	context_drop(hca, object_use(o), o->number);
	icm_object_set(hca, o->type, o->number, false);
	context_release(hca);
	o->mtt_known = false;
	object_done(p, 0);
}

static void qp_gone(void *arg, int status)
{
	struct processor *p = arg;

	cqe_write_purge_qp(p->hca, p->object.number);
	object_gone(p);
}

static void cq_gone(void *arg)
{
	object_gone(arg);
}

static void object_invalidate(struct processor *p)
{
	struct fw_object *o = &p->object;
	struct hca *hca = p->hca;

	if (o->type == FW_TABLE_MPT) {
		if (icm_object_valid(hca, o->type, o->number) &&
		    memory_key_window_release(hca, o->number, &o->waiter) == -EAGAIN)
			return;
		translate_mpt_set(hca, o->number, false);
		object_done(p, 0);
		return;
	}
	if (!icm_object_valid(hca, o->type, o->number)) {
		object_done(p, 0);
		return;
	}
	object_users_tell(hca, o->type, o->number);
	if (!o->mtt_known)
		object_note_mtt(p);
	switch (o->type) {
	case FW_TABLE_QPC:
		doorbell_qp_gone(hca, o->number);
		qp_invalidate(hca, o->number, qp_gone, p);
		break;
	case FW_TABLE_CQC:
		context_release(hca);
		cqe_write_drain(hca, o->number, cq_gone, p);
		break;
	case FW_TABLE_EQC:
		event_queue_forget(hca, o->number);
		object_gone(p);
		break;
	default:
		object_gone(p);
	}
}

/* --- quiesce, resume, resize --- */

static void object_hold_and_flush(void *arg)
{
	struct processor *p = arg;
	struct fw_object *o = &p->object;

	if (o->type != FW_TABLE_EQC)
		context_hold(p->hca, object_use(o), o->number);
	context_flush(p->hca, object_use(o), o->number, true, object_flushed, p);
}

static void object_quiesce(struct processor *p)
{
	struct fw_object *o = &p->object;

	switch (o->type) {
	case FW_TABLE_QPC:
		qp_quiesce(p->hca, o->number, object_flushed, p);
		break;
	case FW_TABLE_CQC:
		cqe_write_drain(p->hca, o->number, object_hold_and_flush, p);
		break;
	case FW_TABLE_MPT:
		translate_drop_key(p->hca, o->number);
		object_done(p, 0);
		break;
	default:
		object_hold_and_flush(p);
	}
}

static void object_resume(struct processor *p)
{
	struct fw_object *o = &p->object;

	o->mtt_known = false;
	if (o->type == FW_TABLE_QPC) {
		qp_resume(p->hca, o->number);
	} else if (o->type != FW_TABLE_MPT) {
		context_release(p->hca);
		if (o->type == FW_TABLE_SRQC)
			srq_limit_changed(p->hca, o->number);
	}
	monitor_object(p->hca, o->type, o->number, icm_object_valid(p->hca, o->type, o->number),
		       NULL);
	object_done(p, 0);
}

static void cq_resized(void *arg)
{
	struct processor *p = arg;

	object_drop_mtt(p);
	object_hold_and_flush(p);
}

static void object_resize(struct processor *p)
{
	context_release(p->hca);
	object_note_mtt(p);
	cqe_write_resize(p->hca, p->object.number, cq_resized, p);
}

static void object_validate(struct processor *p)
{
	struct fw_object *o = &p->object;

	o->mtt_known = false;
	if (o->type == FW_TABLE_MPT) {
		translate_mpt_set(p->hca, o->number, true);
	} else {
		context_drop(p->hca, object_use(o), o->number);
		context_release(p->hca);
		icm_object_set(p->hca, o->type, o->number, true);
		if (o->type == FW_TABLE_QPC)
			scheduler_queue_new(p->hca, o->number);
	}
	object_done(p, 0);
}

static void object_writeback(struct processor *p)
{
	struct fw_object *o = &p->object;

	/* An MPT is written through when it changes. */
	if (o->type == FW_TABLE_MPT)
		object_done(p, 0);
	else
		context_flush(p->hca, object_use(o), o->number, false, object_flushed, p);
}

/* Software may set a released MPT entry back to valid in its slot. The device finds that out only
 * by reading the entry. */
static void object_test(struct processor *p)
{
	struct fw_object *o = &p->object;
	struct hca *hca = p->hca;
	struct mpt *mpt;

	if (o->type == FW_TABLE_MPT && !icm_object_valid(hca, o->type, o->number) &&
	    translate_mpt_get(hca, o->number << 8, &o->waiter, &mpt) == -EAGAIN)
		return;
	processor_helper_done(p, &o->helper, icm_object_valid(hca, o->type, o->number));
}

void processor_object_wake(struct waiter *w)
{
	struct processor *p = container_of(w, struct processor, object.waiter);

	if (p->object.cmd == FW_OBJ_INVALIDATE)
		object_invalidate(p);
	else
		object_test(p);
	if (!w->in)
		waiter_done(w);
}

/* Multicast groups are not cached, so their only state in the device is the valid bit. */
static int object_group(struct processor *p, uint32_t number)
{
	struct fw_object *o = &p->object;
	uint32_t status = FW_OBJ_OK;

	if (o->cmd == FW_OBJ_TEST)
		status = icm_object_valid(p->hca, FW_TABLE_MCG, number);
	else if (o->cmd == FW_OBJ_VALIDATE || o->cmd == FW_OBJ_INVALIDATE)
		icm_object_set(p->hca, FW_TABLE_MCG, number, o->cmd == FW_OBJ_VALIDATE);
	else
		return RV_BUS_FAULT;
	processor_helper_start(&o->helper);
	processor_helper_done(p, &o->helper, status);
	return RV_BUS_OK;
}

int processor_object_start(struct processor *p, uint32_t value)
{
	struct fw_object *o = &p->object;
	uint32_t number = fw_reg(p, FW_OBJ_NUMBER), type = value >> 8 & 0xff;

	if (o->helper.busy)
		return RV_BUS_FAULT;
	o->cmd = value & 0xff;
	if (o->cmd != FW_OBJ_SYNC_ALL && type == FW_TABLE_MCG)
		return object_group(p, number);
	if (o->cmd != FW_OBJ_SYNC_ALL && type > FW_TABLE_MPT)
		return RV_BUS_FAULT;
	/* QUIESCE notes the MTT address. An INVALIDATE of the same object after it still uses
	 * that. */
	if (o->number != number || o->type != type)
		o->mtt_known = false;
	o->number = number;
	o->type = type;
	processor_helper_start(&o->helper);
	switch (o->cmd) {
	case FW_OBJ_VALIDATE:
		object_validate(p);
		break;
	case FW_OBJ_INVALIDATE:
		object_invalidate(p);
		break;
	case FW_OBJ_WRITEBACK:
		object_writeback(p);
		break;
	case FW_OBJ_QUIESCE:
		if (type != FW_TABLE_MPT)
			object_note_mtt(p);
		object_quiesce(p);
		break;
	case FW_OBJ_RESUME:
		object_resume(p);
		break;
	case FW_OBJ_SYNC_ALL:
		translate_sync(p->hca);
		object_done(p, 0);
		break;
	case FW_OBJ_TEST:
		object_test(p);
		break;
	case FW_OBJ_RESIZE:
		if (type != FW_TABLE_CQC) {
			o->helper.busy = false;
			return RV_BUS_FAULT;
		}
		object_resize(p);
		break;
	default:
		o->helper.busy = false;
		return RV_BUS_FAULT;
	}
	return RV_BUS_OK;
}
