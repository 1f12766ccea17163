// SPDX-License-Identifier: Apache-2.0
/* See late.h. */
#include "model/vfio_user/late.h"

#include "model/vfio_user/irqs.h"

#include <string.h>

static void arrived(struct event *ev)
{
	struct late_vector *v = (struct late_vector *)(void *)ev;

	irqs_msix(v->late->irqs, v->vector);
}

void late_init(struct late *late, struct event_core *core, struct irqs *irqs)
{
	memset(late, 0, sizeof(*late));
	late->core = core;
	late->irqs = irqs;
	for (unsigned i = 0; i < HCA_MSIX_VECTORS; i++)
		late->vectors[i] =
			(struct late_vector){.event = {.job = arrived}, .late = late, .vector = i};
}

void late_clear(struct late *late)
{
	for (unsigned i = 0; i < HCA_MSIX_VECTORS; i++)
		event_cancel(late->core, &late->vectors[i].event);
}

void late_msix(struct late *late, unsigned vector)
{
	if (!late->delay_ps || vector >= HCA_MSIX_VECTORS) {
		irqs_msix(late->irqs, vector);
		return;
	}
	if (!event_is_set(&late->vectors[vector].event))
		event_set(late->core, &late->vectors[vector].event,
			  late->core->now_ps + late->delay_ps);
}
