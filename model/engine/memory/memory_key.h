/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of keys by work requests: windows are bound and released, regions are registered by fast
 * register, keys are invalidated locally or by a peer. The MPT entries in ICM are authoritative: a
 * change is made in the cache at once and written through.
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

/* The QP and PD that the change is made for. */
struct key_user {
	uint32_t qpn, pd;
};

/*
 * Whether a work request of that QP, or its peer, may invalidate `key`. The entry must allow it, be
 * valid (a region may be free already), belong to the same PD, and have no window bound to it. A
 * window must be of type 2 and bound to this QP.
 */
int memory_key_invalidate_check(struct hca *hca, const struct key_user *user, uint32_t key,
				struct waiter *w);
/* Checks the same, then invalidates the key: it is free. */
int memory_key_invalidate(struct hca *hca, const struct key_user *user, uint32_t key,
			  struct waiter *w);

/* BIND_MW. Length 0 unbinds a window of type 1: its old key becomes invalid, and the new one allows
 * no access. */
int memory_key_bind(struct hca *hca, const struct key_user *user, const struct wqe_bind *bind,
		    struct waiter *w);
/* The window with this MPT index is freed: its region no longer counts it as bound. Does nothing if
 * the entry is not a bound window. */
int memory_key_window_release(struct hca *hca, uint32_t index, struct waiter *w);

/* Where the page list of a fast register belongs. */
struct key_pages {
	uint64_t icm;     /* address of the region's first MTT entry */
	uint32_t entries; /* of the page list */
};
/* Whether a FAST_REG is allowed, before its page list is copied. */
int memory_key_register_check(struct hca *hca, const struct key_user *user,
			      const struct wqe_fast_reg *reg, struct waiter *w,
			      struct key_pages *pages);
/* Checks the same, then makes the entry valid with the new key, rights and range. The MTT entries
 * must already have been written. */
int memory_key_register(struct hca *hca, const struct key_user *user,
			const struct wqe_fast_reg *reg, struct waiter *w);

#endif
