// SPDX-License-Identifier: Apache-2.0
/*
 * Event queues: EQ 0 takes asynchronous events and command completions, the others completion
 * events. Interrupt handlers, consumer index, arming.
 */
#include "host_driver/mlx4/mlx4_internal.h"
#include "model/interface/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	EQ_UPDATE_EVERY = 128, /* entries between two updates of the index without arming */
	EQ_LOG_SIZE = 16,
	EQ_LOG_SIZE_MAX = 22,
};

#define ASYNC_EVENTS                                                                               \
	(cap_bit(EVENT_PATH_MIG) | cap_bit(EVENT_COMM_EST) | cap_bit(EVENT_SQ_DRAINED) |           \
	 cap_bit(EVENT_CQ_ERROR) | cap_bit(EVENT_WQ_CATAS_ERROR) |                                 \
	 cap_bit(EVENT_EEC_CATAS_ERROR) | cap_bit(EVENT_PATH_MIG_FAILED) |                         \
	 cap_bit(EVENT_PORT_CHANGE) | cap_bit(EVENT_CMD) | cap_bit(EVENT_ECC_DETECT) |             \
	 cap_bit(EVENT_WQ_INVAL_REQ_ERROR) | cap_bit(EVENT_WQ_ACCESS_ERROR) |                      \
	 cap_bit(EVENT_SRQ_CATAS_ERROR) | cap_bit(EVENT_SRQ_QP_LAST_WQE) |                         \
	 cap_bit(EVENT_SRQ_LIMIT) | cap_bit(EVENT_COMM_CHANNEL) | cap_bit(EVENT_OP_REQUIRED) |     \
	 cap_bit(EVENT_FATAL_WARNING) | cap_bit(EVENT_FLR))

static uint64_t async_mask(const struct drv_device *dev)
{
	uint64_t mask = ASYNC_EVENTS;

	if (mlx4_has_port_events(dev))
		mask |= cap_bit(EVENT_PORT_MNG_CHG);
	return mask;
}

static const struct eqe *eq_next(const struct drv_eq *eq)
{
	const struct eqe *e = drv_buf_at(&eq->buf, (size_t)(eq->ci & (eq->entries - 1)) * EQE_SIZE);

	return eqe_get_owner(e) == !!(eq->ci & eq->entries) ? e : NULL;
}

static void eq_doorbell(struct drv_eq *eq, bool arm)
{
	struct eq_db db = {0};

	drv_entries_before_index();
	eq_db_set_ci(&db, eq->ci);
	eq_db_set_arm(&db, arm);
	eq->dev->p->ops->mmio_write(eq->dev->p, HCA_BAR_UAR, eq_db_offset(eq->eqn), db.b,
				    sizeof(db.b));
}

static int qp_event_type(uint32_t type)
{
	switch (type) {
	case EVENT_PATH_MIG:
		return IBV_EVENT_PATH_MIG;
	case EVENT_COMM_EST:
		return IBV_EVENT_COMM_EST;
	case EVENT_SQ_DRAINED:
		return IBV_EVENT_SQ_DRAINED;
	case EVENT_WQ_CATAS_ERROR:
		return IBV_EVENT_QP_FATAL;
	case EVENT_PATH_MIG_FAILED:
		return IBV_EVENT_PATH_MIG_ERR;
	case EVENT_WQ_INVAL_REQ_ERROR:
		return IBV_EVENT_QP_REQ_ERR;
	case EVENT_WQ_ACCESS_ERROR:
		return IBV_EVENT_QP_ACCESS_ERR;
	case EVENT_SRQ_QP_LAST_WQE:
		return IBV_EVENT_QP_LAST_WQE_REACHED;
	default:
		return -1;
	}
}

void drv_async_event(struct drv_device *dev, const struct drv_event *event)
{
	if (event->port) {
		dev->port_events++;
		dev->p->ops->waitq_wake_all(dev->p, dev->port_waitq);
	}
	DRV_ENTER(dev, "event %d", event->type);
	if (dev->event_fn)
		dev->event_fn(dev->event_arg, event);
	DRV_LEAVE(dev, 0);
}

void mlx4_notify(struct drv_device *dev, const struct drv_event *event)
{
	drv_async_event(dev, event);
}

/* One write of PortInfo can change several things, and users are told of each. */
static void port_info_event(struct drv_device *dev, const struct eqe_port_mng *m)
{
	static const struct {
		unsigned bit;
		enum ibv_event_type type;
	} changes[] = {
		{PORT_MNG_CHANGED_LID, IBV_EVENT_LID_CHANGE},
		{PORT_MNG_CHANGED_GID_PREFIX, IBV_EVENT_GID_CHANGE},
		{PORT_MNG_CHANGED_CLIENT_REREG, IBV_EVENT_CLIENT_REREGISTER},
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		if (eqe_port_mng_get_changed(m) & 1u << changes[i].bit)
			drv_async_event(dev, &(struct drv_event){.type = changes[i].type,
								 .port = eqe_port_mng_get_port(m)});
}

static void port_mng_event(struct drv_device *dev, const struct eqe *e)
{
	const struct eqe_port_mng *m = eqe_as_port_mng_const(e);
	struct drv_event event = {.port = eqe_port_mng_get_port(m)};

	switch (eqe_get_subtype(e)) {
	case PORT_MNG_GUID_INFO:
		event.type = IBV_EVENT_GID_CHANGE;
		break;
	case PORT_MNG_PKEY_TABLE:
		event.type = IBV_EVENT_PKEY_CHANGE;
		break;
	case PORT_MNG_PORT_INFO:
		port_info_event(dev, m);
		return;
	default:
		return;
	}
	drv_async_event(dev, &event);
}

static void srq_event(struct drv_device *dev, const struct eqe *e)
{
	struct drv_event event = {.type = eqe_get_type(e) == EVENT_SRQ_LIMIT
						  ? IBV_EVENT_SRQ_LIMIT_REACHED
						  : IBV_EVENT_SRQ_ERR};

	if (!dev->srq_table)
		return;
	event.srq = dev->srq_table[eqe_srq_get_srqn(eqe_as_srq_const(e)) &
				   drv_table_mask(dev, DRV_T_SRQC)];
	if (event.srq)
		drv_async_event(dev, &event);
}

static void cq_error_event(struct drv_device *dev, const struct eqe *e)
{
	struct drv_event event = {.type = IBV_EVENT_CQ_ERR};

	if (!dev->cq_table)
		return;
	event.cq =
		dev->cq_table[eqe_cq_get_cqn(eqe_as_cq_const(e)) & drv_table_mask(dev, DRV_T_CQC)];
	if (event.cq)
		drv_async_event(dev, &event);
}

static void qp_event(struct drv_device *dev, const struct eqe *e)
{
	const int type = qp_event_type(eqe_get_type(e));
	struct drv_event event = {.type = (enum ibv_event_type)type};

	if (type < 0 || !dev->qp_table)
		return;
	event.qp =
		dev->qp_table[eqe_qp_get_qpn(eqe_as_qp_const(e)) & drv_table_mask(dev, DRV_T_QPC)];
	if (event.qp)
		drv_async_event(dev, &event);
}

static void port_change_event(struct drv_device *dev, const struct eqe *e)
{
	const struct drv_event event = {
		.type = eqe_get_subtype(e) == PORT_CHANGE_ACTIVE ? IBV_EVENT_PORT_ACTIVE
								 : IBV_EVENT_PORT_ERR,
		.port = eqe_port_get_port(eqe_as_port_const(e)),
	};

	drv_async_event(dev, &event);
}

static void eqe_dispatch(struct drv_device *dev, const struct eqe *e)
{
	switch (eqe_get_type(e)) {
	case EVENT_COMP:
		drv_cq_event(dev, eqe_cq_get_cqn(eqe_as_cq_const(e)));
		break;
	case EVENT_CMD:
		drv_cmd_completed(dev, eqe_as_cmd_const(e));
		break;
	case EVENT_CQ_ERROR:
		cq_error_event(dev, e);
		break;
	case EVENT_SRQ_CATAS_ERROR:
	case EVENT_SRQ_LIMIT:
		srq_event(dev, e);
		break;
	case EVENT_PORT_CHANGE:
		port_change_event(dev, e);
		break;
	case EVENT_PORT_MNG_CHG:
		port_mng_event(dev, e);
		break;
	default:
		qp_event(dev, e);
	}
}

/* Runs in interrupt context. Copies each entry before it handles it: once the consumer index is
 * updated, the device may write the slot again. */
static void eq_interrupt(void *arg)
{
	struct drv_eq *eq = arg;
	const struct eqe *slot;
	unsigned n = 0;

	DRV_ENTER(eq->dev, "eqn %u", eq->eqn);
	while ((slot = eq_next(eq))) {
		struct eqe e;

		drv_owner_before_entry();
		memcpy(&e, slot, sizeof(e));
		eq->ci++;
		eqe_dispatch(eq->dev, &e);
		if (++n % EQ_UPDATE_EVERY == 0)
			eq_doorbell(eq, false);
	}
	eq_doorbell(eq, true);
	DRV_LEAVE(eq->dev, 0);
	if (eq->dev->softirq_fn)
		eq->dev->softirq_fn(eq->dev->softirq_arg);
}

static int eq_create(struct drv_device *dev, unsigned index, unsigned log_size)
{
	struct drv_eq *eq = &dev->eqs[index];
	struct eqc ctx = {0};
	int rc;

	*eq = (struct drv_eq){.dev = dev,
			      .eqn = dev->reserved_eqs + index,
			      .entries = 1u << log_size,
			      .vector = index};
	rc = drv_buf_alloc(dev, (size_t)eq->entries * EQE_SIZE, &eq->buf);
	if (rc)
		return rc;
	eqc_set_state(&ctx, EQ_STATE_ARMED);
	eqc_set_log_size(&ctx, log_size);
	eqc_set_intr(&ctx, eq->vector);
	eqc_set_mtt_addr(&ctx, drv_mtt_addr(&eq->buf.mtt));
	rc = drv_cmd_in(dev, HCR_SW2HW_EQ, eq->eqn, 0, &ctx, sizeof(ctx));
	if (rc) {
		drv_buf_free(dev, &eq->buf);
		return rc;
	}
	eq->hw = true;
	return 0;
}

static int eq_claim(struct drv_eq *eq)
{
	int rc = eq->dev->p->ops->irq_request(eq->dev->p, eq->vector, eq_interrupt, eq);

	if (rc)
		return rc;
	eq->irq = true;
	eq_doorbell(eq, true);
	return 0;
}

int drv_eqs_init(struct drv_device *dev)
{
	unsigned log_size = dev->options.log_eq_size ? dev->options.log_eq_size : EQ_LOG_SIZE;
	int rc;

	if (log_size > EQ_LOG_SIZE_MAX)
		return -EINVAL;
	dev->eqs = drv_calloc(dev->n_eqs, sizeof(*dev->eqs));
	if (!dev->eqs)
		return -ENOMEM;
	for (unsigned i = 0; i < dev->n_eqs; i++) {
		rc = eq_create(dev, i, i ? log_size : DRV_ASYNC_EQ_LOG_SIZE);
		if (rc)
			goto cleanup;
	}
	rc = drv_cmd_imm(dev, HCR_MAP_EQ, dev->eqs[0].eqn, async_mask(dev), NULL);
	if (rc)
		goto cleanup;
	rc = eq_claim(&dev->eqs[0]);
	if (rc)
		goto cleanup;
	for (unsigned i = 1; i < dev->n_eqs; i++) {
		rc = eq_claim(&dev->eqs[i]);
		if (rc)
			goto cleanup;
	}
	return 0;

cleanup:
	drv_eqs_cleanup(dev, true);
	return rc;
}

void drv_eqs_cleanup(struct drv_device *dev, bool tell_device)
{
	if (!dev->eqs)
		return;
	if (tell_device && dev->eqs[0].hw)
		drv_cmd_imm(dev, HCR_MAP_EQ, UINT32_C(1) << MAP_EQ_UNMAP_SHIFT | dev->eqs[0].eqn,
			    async_mask(dev), NULL);
	for (unsigned i = 0; i < dev->n_eqs; i++) {
		struct drv_eq *eq = &dev->eqs[i];

		if (!eq->hw)
			continue;
		if (eq->irq)
			dev->p->ops->irq_free(dev->p, eq->vector);
		if (tell_device)
			drv_cmd_plain(dev, HCR_HW2SW_EQ, eq->eqn, HCR_OM_NO_OUTBOX);
		drv_buf_free(dev, &eq->buf);
	}
	free(dev->eqs);
	dev->eqs = NULL;
}

void mlx4_event_register(struct drv_device *dev,
			 void (*fn)(void *arg, const struct drv_event *event), void *arg)
{
	dev->event_fn = fn;
	dev->event_arg = arg;
}

void mlx4_softirq_register(struct drv_device *dev, void (*fn)(void *arg), void *arg)
{
	dev->softirq_fn = fn;
	dev->softirq_arg = arg;
}
