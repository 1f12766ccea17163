/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that work requests change: windows bound and released, regions registered fast, keys
 * invalidated from here or by a peer. The MPT entries in ICM are the truth; a change is in the
 * cache at once and written through.
 *
 * from: requester (work requests in order of their queue), responder (SEND with invalidate),
 * processor (a window is freed); to: translate. No time of its own.
 *
 * Results: 0; -EAGAIN: the waiter is queued, nothing has been changed; TRANSLATE_*: refused;
 * -EFAULT: ICM not reachable (reported).
 * Source: IBA 10.6.6 (regions), 10.6.7 (windows), 10.7.2.2 (fast register); mlx4 MPT entry.
 */
#ifndef MODEL_ENGINE_MEMORY_KEY_H
#define MODEL_ENGINE_MEMORY_KEY_H

#include <stdbool.h>
#include <stdint.h>

struct hca;
struct waiter;
struct wqe_bind;
struct wqe_fast_reg;

/* On whose behalf. */
struct key_user {
	uint32_t qpn, pd;
};

/*
 * Whether `key` may be invalidated by a work request or a peer of that QP: its entry allows it, is
 * valid (a region may be free already), of the same PD, no window is bound to it; a window is of
 * type 2 and bound to this QP.
 */
int memory_key_invalidate_check(struct hca *hca, const struct key_user *user, uint32_t key,
				struct waiter *w);
/* The same check, and it is done: the key is free. */
int memory_key_invalidate(struct hca *hca, const struct key_user *user, uint32_t key,
			  struct waiter *w);

/*
 * BIND_MW. Length 0 unbinds a window of type 1: its old key is void, and the new one reaches
 * nothing.
 */
int memory_key_bind(struct hca *hca, const struct key_user *user, const struct wqe_bind *bind,
		    struct waiter *w);
/* The window with this MPT index goes away: its region does not count it any more. Anything that is
 * not a bound window is left alone. */
int memory_key_window_release(struct hca *hca, uint32_t index, struct waiter *w);

/* Where the page list of a fast register belongs. */
struct key_pages {
	uint64_t icm;     /* address of the region's first MTT entry */
	uint32_t entries; /* of the page list */
};
/* FAST_REG before its page list is copied: whether it is allowed. */
int memory_key_register_check(struct hca *hca, const struct key_user *user,
			      const struct wqe_fast_reg *reg, struct waiter *w,
			      struct key_pages *pages);
/* The same check, and the entry is valid with the new key, rights and range. The MTT entries must
 * have been written. */
int memory_key_register(struct hca *hca, const struct key_user *user,
			const struct wqe_fast_reg *reg, struct waiter *w);

#endif
