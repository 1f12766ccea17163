/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors and interrupts, see ipath.h. A cause that becomes pending sends a message, when its mask
 * lets it; so does a write to IntClear that leaves causes pending (qib_6120_set_intr_state()).
 * Assumption: IntStatus.Error follows the errors that are masked in, so that one that comes while
 * the driver handles another is not lost.
 */
#include "model/engine/host/interrupt.h"
#include "model/engine/ipath/ipath.h"

enum { VECTOR = 0, CONTEXT = 0 };

static void message(struct ipath *ipath)
{
	if (!(ipath_get(ipath, IPATH_IntStatus) & ipath_get(ipath, IPATH_IntMask))) {
		interrupt_clear_intx(ipath->hca);
		return;
	}
	ipath->counts[IPATH_COUNT_LBIntCnt]++;
	interrupt_raise(ipath->hca, VECTOR);
}

void ipath_interrupt(struct ipath *ipath, uint64_t causes)
{
	uint64_t *status = ipath_register(ipath, IPATH_IntStatus, 0);
	const uint64_t fresh = causes & ~*status;

	*status |= causes;
	if (fresh & ipath_get(ipath, IPATH_IntMask))
		message(ipath);
}

static void errors_tell(struct ipath *ipath)
{
	if (ipath_get(ipath, IPATH_ErrStatus) & ipath_get(ipath, IPATH_ErrMask))
		ipath_interrupt(ipath, IPATH_INT_ERROR);
}

void ipath_error(struct ipath *ipath, uint64_t errors)
{
	*ipath_register(ipath, IPATH_ErrStatus, 0) |= errors;
	errors_tell(ipath);
}

void ipath_int_mask_write(struct ipath *ipath, uint64_t value)
{
	const uint64_t opened = value & ~ipath_get(ipath, IPATH_IntMask);

	*ipath_register(ipath, IPATH_IntMask, 0) = value;
	if (opened & ipath_get(ipath, IPATH_IntStatus))
		message(ipath);
}

uint64_t ipath_int_status_read(struct ipath *ipath)
{
	ipath->armed_since_status = false;
	return ipath_get(ipath, IPATH_IntStatus);
}

/* A packet that came behind the request has set the cause once more, and nobody has seen it. */
static void clear_check(struct ipath *ipath, uint64_t value)
{
	if (ipath->armed_since_status && value & IPATH_INT_RECEIVED(CONTEXT) &&
	    ipath_get(ipath, IPATH_IntMask) & IPATH_INT_RECEIVED(CONTEXT))
		guest_error(ipath->hca, RULE_interrupt_cleared_late,
			    guest_object(GUEST_CONTEXT, CONTEXT),
			    "IntClear of received packets, behind HdrHead with its request and "
			    "without a look at IntStatus");
}

/* Software that handles an interrupt has handled its error by now. */
static void link_check(struct ipath *ipath)
{
	if (ipath->link_unread)
		guest_error(
			ipath->hca, RULE_link_change_unread, guest_object(GUEST_NONE, 0),
			"IntClear, and IBCStatus was not read since ErrClear of a change of the "
			"link");
	ipath->link_unread = false;
}

void ipath_int_clear_write(struct ipath *ipath, uint64_t value)
{
	uint64_t *status = ipath_register(ipath, IPATH_IntStatus, 0);

	clear_check(ipath, value);
	link_check(ipath);
	*status &= ~value;
	if (ipath_get(ipath, IPATH_ErrStatus) & ipath_get(ipath, IPATH_ErrMask))
		*status |= IPATH_INT_ERROR;
	message(ipath);
}

void ipath_err_mask_write(struct ipath *ipath, uint64_t value)
{
	*ipath_register(ipath, IPATH_ErrMask, 0) = value;
	errors_tell(ipath);
}

/* What is cleared while nothing interrupts is of before: qib_6120_init_hwerrors() of Linux. */
void ipath_err_clear_write(struct ipath *ipath, uint64_t value)
{
	const uint64_t told = ipath_get(ipath, IPATH_ErrStatus) & ipath_get(ipath, IPATH_ErrMask);

	if (told & value & IPATH_ERR_LINK_STATE &&
	    ipath_get(ipath, IPATH_IntMask) & IPATH_INT_ERROR)
		ipath->link_unread = true;
	*ipath_register(ipath, IPATH_ErrStatus, 0) &= ~value;
	errors_tell(ipath);
}
