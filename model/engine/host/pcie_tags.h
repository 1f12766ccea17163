/* SPDX-License-Identifier: Apache-2.0 */
/* The tags of read requests. A tag is free again when the last completion of its request has come.
 * Consecutive requests free their tags at regular intervals; they are stored as one run. */
#ifndef MODEL_ENGINE_PCIE_TAGS_H
#define MODEL_ENGINE_PCIE_TAGS_H

#include <stdint.h>

enum { PCIE_TAGS_MAX = 256 };

/* Tags that become free one after the other: at free_ps, step_ps later, and so on. */
struct pcie_tag_run {
	uint64_t free_ps, step_ps;
	unsigned count;
};

struct pcie_tags {
	struct pcie_tag_run runs[PCIE_TAGS_MAX]; /* a ring, in the order in which tags are used */
	unsigned first, count, total;
};

/* `count` tags become free one after the other: the first at first_ps, the others step_ps apart. */
static inline void pcie_tags_give(struct pcie_tags *tags, uint64_t first_ps, uint64_t step_ps,
				  unsigned count)
{
	const unsigned last = (tags->first + tags->count - 1) % PCIE_TAGS_MAX;
	struct pcie_tag_run *run = &tags->runs[last];

	if (tags->count && run->step_ps == step_ps &&
	    run->free_ps + run->count * step_ps == first_ps) {
		run->count += count;
		return;
	}
	run = &tags->runs[(last + 1) % PCIE_TAGS_MAX];
	*run = (struct pcie_tag_run){first_ps, step_ps, count};
	tags->count++;
}

/* Takes `count` tags of `run`, which must be the first run. */
static inline void pcie_tags_take(struct pcie_tags *tags, struct pcie_tag_run *run, unsigned count)
{
	run->free_ps += count * run->step_ps;
	run->count -= count;
	if (run->count)
		return;
	tags->first = (tags->first + 1) % PCIE_TAGS_MAX;
	tags->count--;
}

/* The time from which all tags are free. */
static inline uint64_t pcie_tags_free_ps(const struct pcie_tags *tags)
{
	const struct pcie_tag_run *run =
		&tags->runs[(tags->first + tags->count - 1) % PCIE_TAGS_MAX];

	return tags->count ? run->free_ps + (run->count - 1) * run->step_ps : 0;
}

static inline void pcie_tags_reset(struct pcie_tags *tags, unsigned total, uint64_t free_ps)
{
	tags->first = tags->count = 0;
	tags->total = total;
	pcie_tags_give(tags, free_ps, 0, total);
}

#endif
