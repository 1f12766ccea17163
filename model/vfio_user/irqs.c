// SPDX-License-Identifier: Apache-2.0
/* See irqs.h. */
#define _GNU_SOURCE
#include "model/vfio_user/irqs.h"

#include "model/engine/host/interrupt.h"
#include "model/vfio_user/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MSIX_CONTROL = 12, MSIX_CONTROL_BYTES = 4 };

static void fd_replace(int *slot, int fd)
{
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
}

/* --- writes that end --- */

/* How long one write may take. After that the signal repeats, in case the first one came before the
 * write began. */
static const struct itimerspec patience = {{0, 1000000}, {0, 1000000}};

static void on_alarm(int number)
{
}

static void alarm_create(struct irqs *irqs)
{
	const struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN};

	event._sigev_un._tid = gettid();
	irqs->has_alarm = !sigaction(SIGRTMIN, &action, NULL) &&
			  !timer_create(CLOCK_MONOTONIC, &event, &irqs->alarm);
}

static void alarm_set(struct irqs *irqs, const struct itimerspec *when)
{
	if (irqs->has_alarm)
		timer_settime(irqs->alarm, 0, when, NULL);
}

static void fd_signal(struct irqs *irqs, int fd)
{
	static const struct itimerspec off;
	const uint64_t one = 1;
	ssize_t n;

	if (irqs->blocked)
		return;
	alarm_set(irqs, &patience);
	n = write(fd, &one, sizeof(one));
	/* A full counter means that the interrupt is already pending. */
	irqs->blocked = n < 0 && errno == EINTR;
	alarm_set(irqs, &off);
	irqs->signalled += n == sizeof(one);
}

static void vector_signal(struct irqs *irqs, unsigned vector)
{
	if (irqs->taker)
		irqs->taker(irqs->taker_arg, vector);
	else
		fd_signal(irqs, irqs->msix[vector].fd);
}

static void vector_mask(struct irqs *irqs, unsigned vector, bool masked)
{
	const uint8_t control[MSIX_CONTROL_BYTES] = {masked};

	interrupt_table_write(irqs->hca, vector * HCA_MSIX_ENTRY_SIZE + MSIX_CONTROL, control,
			      sizeof(control));
}

static void vector_set(struct irqs *irqs, unsigned vector, int fd)
{
	struct irq_line *line = &irqs->msix[vector];

	fd_replace(&line->fd, fd);
	if (fd >= 0 && line->latched) {
		line->latched = false;
		vector_signal(irqs, vector);
	}
	vector_mask(irqs, vector, fd < 0);
}

void irqs_vectors_to(struct irqs *irqs, void (*taker)(void *arg, unsigned vector), void *arg)
{
	irqs->taker = taker;
	irqs->taker_arg = arg;
}

void irqs_msix(struct irqs *irqs, unsigned vector)
{
	struct irq_line *line;

	if (vector >= HCA_MSIX_VECTORS)
		return;
	line = &irqs->msix[vector];
	if (line->fd < 0)
		line->latched = true;
	else
		vector_signal(irqs, vector);
}

bool irqs_intx_is_up(const struct irqs *irqs)
{
	return irqs->intx_level && !irqs->intx_masked && irqs->intx_fd >= 0;
}

static void intx_deliver(struct irqs *irqs)
{
	if (irqs->taker || !irqs_intx_is_up(irqs))
		return;
	irqs->intx_masked = true;
	fd_signal(irqs, irqs->intx_fd);
}

void irqs_intx(struct irqs *irqs, bool asserted)
{
	irqs->intx_level = asserted;
	intx_deliver(irqs);
}

void irqs_init(struct irqs *irqs, struct hca *hca)
{
	memset(irqs, 0, sizeof(*irqs));
	irqs->hca = hca;
	for (unsigned i = 0; i < HCA_MSIX_VECTORS; i++)
		irqs->msix[i].fd = -1;
	irqs->intx_fd = irqs->error_fd = irqs->request_fd = -1;
	alarm_create(irqs);
}

void irqs_free(struct irqs *irqs)
{
	irqs_clear(irqs);
	if (irqs->has_alarm)
		timer_delete(irqs->alarm);
	irqs->has_alarm = false;
}

void irqs_clear(struct irqs *irqs)
{
	for (unsigned i = 0; i < HCA_MSIX_VECTORS; i++) {
		fd_replace(&irqs->msix[i].fd, -1);
		irqs->msix[i].latched = false;
	}
	fd_replace(&irqs->intx_fd, -1);
	fd_replace(&irqs->error_fd, -1);
	fd_replace(&irqs->request_fd, -1);
	irqs->intx_masked = irqs->intx_level = irqs->blocked = false;
}

void irqs_device_reset(struct irqs *irqs)
{
	for (unsigned i = 0; i < irqs_count(irqs, VFU_IRQ_MSIX); i++) {
		irqs->msix[i].latched = false;
		vector_mask(irqs, i, irqs->msix[i].fd < 0);
	}
	irqs->intx_masked = irqs->intx_level = false;
}

unsigned irqs_count(const struct irqs *irqs, unsigned kind)
{
	switch (kind) {
	case VFU_IRQ_MSIX:
		return interrupt_vectors(irqs->hca);
	case VFU_IRQ_INTX:
	case VFU_IRQ_ERROR:
	case VFU_IRQ_REQUEST:
		return 1;
	default:
		return 0;
	}
}

uint32_t irqs_flags(unsigned kind)
{
	switch (kind) {
	case VFU_IRQ_INTX:
		return VFU_Q_EVENTFD | VFU_Q_MASKABLE | VFU_Q_AUTOMASKED;
	case VFU_IRQ_MSI:
		return 0;
	default:
		return VFU_Q_EVENTFD | VFU_Q_NORESIZE;
	}
}

/* --- SET_IRQS --- */

/* Writes go to eventfds only. What a write to any other file does is unknown. */
static bool is_eventfd(int fd)
{
	char path[32], what[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, what, sizeof(what) - 1);
	if (n < 0)
		return false;
	what[n] = 0;
	return !strcmp(what, "anon_inode:[eventfd]");
}

static int fds_check(const int *fds, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		int flags = fcntl(fds[i], F_GETFL);

		/* With O_NONBLOCK, and as long as nobody clears it again, a full counter does not
		 * block the server. */
		if (!is_eventfd(fds[i]) || flags < 0 || fcntl(fds[i], F_SETFL, flags | O_NONBLOCK))
			return -EINVAL;
	}
	return 0;
}

static void line_set(struct irqs *irqs, unsigned kind, unsigned n, int fd)
{
	switch (kind) {
	case VFU_IRQ_INTX:
		fd_replace(&irqs->intx_fd, fd);
		irqs->intx_masked = false;
		intx_deliver(irqs);
		break;
	case VFU_IRQ_MSIX:
		vector_set(irqs, n, fd);
		break;
	case VFU_IRQ_ERROR:
		fd_replace(&irqs->error_fd, fd);
		break;
	default:
		fd_replace(&irqs->request_fd, fd);
		break;
	}
}

/* Triggers an interrupt because the client asked for it. */
static void line_trigger(struct irqs *irqs, unsigned kind, unsigned n)
{
	int fd = kind == VFU_IRQ_INTX    ? irqs->intx_fd
		 : kind == VFU_IRQ_MSIX  ? irqs->msix[n].fd
		 : kind == VFU_IRQ_ERROR ? irqs->error_fd
					 : irqs->request_fd;

	if (fd >= 0)
		fd_signal(irqs, fd);
}

static void line_act(struct irqs *irqs, unsigned kind, unsigned n, uint32_t action)
{
	if (action == VFU_S_TRIGGER) {
		line_trigger(irqs, kind, n);
		return;
	}
	irqs->intx_masked = action == VFU_S_MASK;
	intx_deliver(irqs);
}

static int set_fds(struct irqs *irqs, unsigned kind, uint32_t start, uint32_t count, int *fds,
		   unsigned n_fds)
{
	if (n_fds && n_fds != count)
		return -EINVAL;
	if (fds_check(fds, n_fds))
		return -EINVAL;
	for (uint32_t i = 0; i < count; i++) {
		line_set(irqs, kind, start + i, n_fds ? fds[i] : -1);
		if (n_fds)
			fds[i] = -1;
	}
	return 0;
}

int irqs_set(struct irqs *irqs, const uint8_t *request, uint32_t len, int *fds, unsigned n_fds)
{
	const uint32_t flags = vfu_get32(request + VFU_S_FLAGS);
	const uint32_t kind = vfu_get32(request + VFU_S_INDEX);
	const uint32_t start = vfu_get32(request + VFU_S_START);
	const uint32_t count = vfu_get32(request + VFU_S_COUNT);
	const uint32_t data = flags & VFU_S_DATA_MASK, action = flags & VFU_S_ACTION_MASK;
	const unsigned room = kind < VFU_IRQS ? irqs_count(irqs, kind) : 0;

	if (!room || start > room || count > room - start || flags & ~(data | action) || !action ||
	    action & (action - 1) || !data || data & (data - 1))
		return -EINVAL;
	if (data == VFU_S_BOOL && len - VFU_S_DATA < count)
		return -EINVAL;
	if (n_fds && data != VFU_S_EVENTFD)
		return -EINVAL;
	if (action != VFU_S_TRIGGER && kind != VFU_IRQ_INTX)
		return -EINVAL;
	if (data == VFU_S_EVENTFD && action != VFU_S_TRIGGER)
		return -EOPNOTSUPP;
	if (data == VFU_S_EVENTFD)
		return set_fds(irqs, kind, start, count, fds, n_fds);
	if (!count && action == VFU_S_TRIGGER && data == VFU_S_NONE) {
		for (unsigned i = 0; i < room; i++)
			line_set(irqs, kind, i, -1);
		return 0;
	}
	for (uint32_t i = 0; i < count; i++)
		if (data == VFU_S_NONE || request[VFU_S_DATA + i])
			line_act(irqs, kind, start + i, action);
	return 0;
}
