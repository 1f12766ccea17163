// SPDX-License-Identifier: Apache-2.0
/* See guest.h. */
#include "testbench/dsan/guest.h"

#include "testbench/dsan/checker_impl.h"
#include "testbench/dsan/held/claims.h"

#include <stdlib.h>

/* Linux gives a PCI device bus addresses below 4 GiB first, and without an IOMMU they are those of
 * memory. Pages beyond are not followed. */
#define GUEST_BUS_BYTES (UINT64_C(1) << 38)

struct checker *guest_checker_create(struct hca *hca,
				     bool (*read)(void *ctx, uint64_t bus, void *buf, size_t len),
				     void *read_ctx)
{
	struct checker *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	/* no pointers lead to a guest's memory: an address of the checker is a bus address */
	c->host = (struct checker_host){
		.hca = hca, .bytes = GUEST_BUS_BYTES, .read = read, .read_ctx = read_ctx};
	c->claims = claims_create(c);
	if (!c->claims) {
		checker_free(c);
		return NULL;
	}
	checker_hear_device(c);
	return c;
}

void guest_checker_destroy(struct checker *c)
{
	if (!c)
		return;
	hca_monitor_set(c->host.hca, NULL);
	checker_free(c);
}

void guest_checker_unmapped(struct checker *c, uint64_t bus, uint64_t bytes)
{
	if (bytes < GUEST_RELEASE_MAX)
		claims_taken(c->claims, bus, bytes, NULL);
}
