/* SPDX-License-Identifier: Apache-2.0 */
/* See memory_key.h. A pointer to an entry is valid only until the next look-up, so each function
 * looks an entry up again after it has looked up another. One change needs at most three entries at
 * the same time: a window and two regions. */
#include "model/engine/memory/memory_key.h"

#include "model/engine/base/engine.h"
#include "model/engine/memory/translate.h"
#include "model/interface/queues.h"

enum { LOG_PAGE_MIN = 12, LOG_PAGE_MAX = 31, LENGTH_MAX_LOG = 63 };

static int entry_get(struct hca *hca, uint32_t key, struct waiter *w, struct mpt_entry **e)
{
	struct mpt *mpt;
	int err = translate_mpt_get(hca, key, w, &mpt);

	if (!err)
		*e = mpt_bytes(mpt);
	return err;
}

static int refuse(struct hca *hca, const struct key_user *user, uint32_t key, int verdict,
		  const char *text)
{
	HCA_TRACE(hca, TP_TRANSLATE_DENY, .qpn = user->qpn, .text = text, .args = {key, 0, 0});
	return verdict;
}

static bool same_pd(const struct mpt_entry *e, const struct key_user *user)
{
	return mpt_entry_get_pd(e) == (user->pd & FIELD_MASK(16, 0));
}

static bool is_bound_window(const struct mpt_entry *e)
{
	return !mpt_entry_get_region(e) && mpt_entry_get_status(e) == MPT_STATUS_HW &&
	       mpt_entry_get_length(e);
}

/* Whether the entry is still the region with this key. The region may have been freed, and its
 * index given to another. */
static bool is_region(const struct mpt_entry *e, uint32_t lkey)
{
	return mpt_entry_get_region(e) && mpt_entry_get_mem_key(e) == mem_key_of_key(lkey);
}

/* Whether the window count of the region under a window can be decreased: 1: yes; 0: the region is
 * gone; < 0: an error or -EAGAIN. */
static int region_ready(struct hca *hca, uint32_t lkey, struct waiter *w)
{
	struct mpt_entry *e;
	int err = entry_get(hca, lkey, w, &e);

	if (err)
		return err == TRANSLATE_BAD_KEY ? 0 : err;
	return is_region(e, lkey);
}

/* Only after region_ready() has returned 1: the entry is then in the cache, and no waiter is
 * needed. */
static void region_count(struct hca *hca, uint32_t lkey, int change)
{
	struct mpt_entry *e;

	if (entry_get(hca, lkey, NULL, &e))
		return;
	mpt_entry_set_win_cnt(e, mpt_entry_get_win_cnt(e) + (uint32_t)change);
	translate_mpt_changed(hca, lkey);
}

/* --- invalidate --- */

static int invalidate_check(struct hca *hca, const struct key_user *user, uint32_t key,
			    const struct mpt_entry *e)
{
	bool valid = mpt_entry_get_status(e) == MPT_STATUS_HW;

	if (mpt_entry_get_mem_key(e) != mem_key_of_key(key))
		return refuse(hca, user, key, TRANSLATE_BAD_KEY, "invalidate: no such key");
	if (!mpt_entry_get_en_inv(e))
		return refuse(hca, user, key, TRANSLATE_BAD_RIGHT, "invalidate: not for this key");
	if (!same_pd(e, user))
		return refuse(hca, user, key, TRANSLATE_BAD_PD, "invalidate: another pd");
	if (mpt_entry_get_region(e))
		return mpt_entry_get_win_cnt(e) ? refuse(hca, user, key, TRANSLATE_BAD_RIGHT,
							 "invalidate: windows are bound")
						: 0;
	if (!valid)
		return refuse(hca, user, key, TRANSLATE_BAD_KEY, "invalidate: not bound");
	if (!mpt_entry_get_bound_to_qp(e) || mpt_entry_get_qpn(e) != user->qpn)
		return refuse(hca, user, key, TRANSLATE_BAD_RIGHT,
			      "invalidate: bound to another qp");
	return 0;
}

int memory_key_invalidate_check(struct hca *hca, const struct key_user *user, uint32_t key,
				struct waiter *w)
{
	struct mpt_entry *e;
	int err = entry_get(hca, key, w, &e);

	return err ? err : invalidate_check(hca, user, key, e);
}

int memory_key_invalidate(struct hca *hca, const struct key_user *user, uint32_t key,
			  struct waiter *w)
{
	struct mpt_entry *e;
	uint32_t lkey = 0;
	int counted = 0, err = memory_key_invalidate_check(hca, user, key, w);

	if (!err)
		err = entry_get(hca, key, w, &e);
	if (err)
		return err;
	if (is_bound_window(e)) {
		lkey = mpt_entry_get_lkey(e);
		counted = region_ready(hca, lkey, w);
		if (counted < 0)
			return counted;
	}
	if (counted)
		region_count(hca, lkey, -1);
	err = entry_get(hca, key, w, &e);
	if (err)
		return err;
	mpt_entry_set_status(e, MPT_STATUS_FREE);
	translate_mpt_changed(hca, key);
	return 0;
}

/* --- windows --- */

static int window_check(struct hca *hca, const struct key_user *user, const struct wqe_bind *bind,
			const struct mpt_entry *e)
{
	uint32_t key = wqe_bind_get_new_rkey(bind);
	bool type2 = wqe_bind_get_type2(bind);

	if (!(hca->ctrl & FW_CTRL_MW) || mpt_entry_get_region(e) ||
	    mpt_entry_get_mem_key_index(e) != key >> 8)
		return refuse(hca, user, key, TRANSLATE_BAD_KEY, "bind: no such window");
	if (mpt_entry_get_bound_to_qp(e) != type2)
		return refuse(hca, user, key, TRANSLATE_BAD_RIGHT, "bind: a window of other type");
	if (!same_pd(e, user))
		return refuse(hca, user, key, TRANSLATE_BAD_PD, "bind: another pd");
	if (mpt_entry_get_status(e) != (type2 ? MPT_STATUS_FREE : MPT_STATUS_HW))
		return refuse(hca, user, key, TRANSLATE_BAD_KEY, "bind: the window is bound");
	if (type2 && !wqe_bind_get_length(bind))
		return refuse(hca, user, key, TRANSLATE_BAD_RANGE, "bind: type 2 with length 0");
	return 0;
}

static int bind_region_check(struct hca *hca, const struct key_user *user,
			     const struct wqe_bind *bind, const struct mpt_entry *e)
{
	uint32_t lkey = wqe_bind_get_lkey(bind);
	uint64_t addr = wqe_bind_get_addr(bind), length = wqe_bind_get_length(bind);
	uint64_t size = mpt_entry_get_length(e), offset = addr - mpt_entry_get_start(e);

	if (!is_region(e, lkey) || mpt_entry_get_status(e) != MPT_STATUS_HW)
		return refuse(hca, user, lkey, TRANSLATE_BAD_KEY, "bind: no such region");
	if (!same_pd(e, user))
		return refuse(hca, user, lkey, TRANSLATE_BAD_PD, "bind: region of another pd");
	if (!mpt_entry_get_bind_enable(e))
		return refuse(hca, user, lkey, TRANSLATE_BAD_RIGHT,
			      "bind: region without bind right");
	if ((wqe_bind_get_remote_write(bind) || wqe_bind_get_remote_atomic(bind)) &&
	    !mpt_entry_get_local_write(e))
		return refuse(hca, user, lkey, TRANSLATE_BAD_RIGHT,
			      "bind: region without local write");
	if (addr + (length - 1) < addr || offset >= size || length > size - offset)
		return refuse(hca, user, lkey, TRANSLATE_BAD_RANGE, "bind: outside the region");
	return 0;
}

static void window_fill(struct mpt_entry *e, const struct key_user *user,
			const struct wqe_bind *bind)
{
	mpt_entry_set_status(e, MPT_STATUS_HW);
	mpt_entry_set_access(e, 0);
	mpt_entry_set_remote_atomic(e, wqe_bind_get_remote_atomic(bind));
	mpt_entry_set_remote_write(e, wqe_bind_get_remote_write(bind));
	mpt_entry_set_remote_read(e, wqe_bind_get_remote_read(bind));
	mpt_entry_set_mem_key(e, mem_key_of_key(wqe_bind_get_new_rkey(bind)));
	mpt_entry_set_start(e, wqe_bind_get_addr(bind));
	mpt_entry_set_length(e, wqe_bind_get_length(bind));
	mpt_entry_set_fbo_enable(e, wqe_bind_get_zero_based(bind));
	mpt_entry_set_lkey(e, wqe_bind_get_length(bind) ? wqe_bind_get_lkey(bind) : 0);
	if (wqe_bind_get_type2(bind))
		mpt_entry_set_qpn(e, user->qpn);
}

int memory_key_bind(struct hca *hca, const struct key_user *user, const struct wqe_bind *bind,
		    struct waiter *w)
{
	uint32_t key = wqe_bind_get_new_rkey(bind), lkey = wqe_bind_get_lkey(bind), old = 0;
	bool binds = wqe_bind_get_length(bind) != 0;
	int counted = 0, err;
	struct mpt_entry *e;

	err = entry_get(hca, key, w, &e);
	if (!err)
		err = window_check(hca, user, bind, e);
	if (err)
		return err;
	if (is_bound_window(e)) {
		old = mpt_entry_get_lkey(e);
		counted = region_ready(hca, old, w);
		if (counted < 0)
			return counted;
	}
	if (binds) {
		err = entry_get(hca, lkey, w, &e);
		if (!err)
			err = bind_region_check(hca, user, bind, e);
		if (err)
			return err;
	}
	err = entry_get(hca, key, w, &e);
	if (err)
		return err;
	window_fill(e, user, bind);
	translate_mpt_changed(hca, key);
	if (counted)
		region_count(hca, old, -1);
	if (binds)
		region_count(hca, lkey, 1);
	return 0;
}

int memory_key_window_release(struct hca *hca, uint32_t index, struct waiter *w)
{
	struct mpt_entry *e;
	uint32_t lkey;
	int counted, err = entry_get(hca, index << 8, w, &e);

	if (err)
		return err == -EAGAIN ? err : 0;
	if (!is_bound_window(e))
		return 0;
	lkey = mpt_entry_get_lkey(e);
	counted = region_ready(hca, lkey, w);
	if (counted > 0)
		region_count(hca, lkey, -1);
	return counted == -EAGAIN ? counted : 0;
}

/* --- fast register --- */

static int register_check(struct hca *hca, const struct key_user *user,
			  const struct wqe_fast_reg *reg, const struct mpt_entry *e,
			  struct key_pages *pages)
{
	uint32_t key = wqe_fast_reg_get_key(reg), log_page = wqe_fast_reg_get_log_page_size(reg);
	uint64_t length = wqe_fast_reg_get_length(reg), first;

	if (!mpt_entry_get_region(e) || mpt_entry_get_mem_key_index(e) != key >> 8)
		return refuse(hca, user, key, TRANSLATE_BAD_KEY, "fast register: no such region");
	if (!mpt_entry_get_fre(e))
		return refuse(hca, user, key, TRANSLATE_BAD_RIGHT,
			      "fast register: not for this region");
	if (!same_pd(e, user))
		return refuse(hca, user, key, TRANSLATE_BAD_PD, "fast register: another pd");
	if (mpt_entry_get_status(e) != MPT_STATUS_FREE)
		return refuse(hca, user, key, TRANSLATE_BAD_KEY,
			      "fast register: the region is valid");
	if ((wqe_fast_reg_get_remote_write(reg) || wqe_fast_reg_get_remote_atomic(reg)) &&
	    !wqe_fast_reg_get_local_write(reg))
		return refuse(hca, user, key, TRANSLATE_BAD_RIGHT,
			      "fast register: remote write without local write");
	if (log_page < LOG_PAGE_MIN || log_page > LOG_PAGE_MAX ||
	    wqe_fast_reg_get_block_mode(reg) || wqe_fast_reg_get_mtt_rep(reg) ||
	    length >> LENGTH_MAX_LOG)
		return refuse(hca, user, key, TRANSLATE_BAD_RANGE, "fast register: pages");
	first = wqe_fast_reg_get_fbo_enable(reg)
			? wqe_fast_reg_get_first_byte_offset(reg)
			: wqe_fast_reg_get_start(reg) & ((UINT64_C(1) << log_page) - 1);
	if (first >> log_page || (first + length + (UINT64_C(1) << log_page) - 1) >> log_page >
					 mpt_entry_get_mtt_size(e))
		return refuse(hca, user, key, TRANSLATE_BAD_RANGE,
			      "fast register: more pages than the region has");
	*pages = (struct key_pages){
		.icm = hca->tables[FW_TABLE_MTT].base + mpt_entry_get_mtt_addr(e),
		.entries = length ? (uint32_t)((first + length + (UINT64_C(1) << log_page) - 1) >>
					       log_page)
				  : 0};
	return 0;
}

int memory_key_register_check(struct hca *hca, const struct key_user *user,
			      const struct wqe_fast_reg *reg, struct waiter *w,
			      struct key_pages *pages)
{
	struct mpt_entry *e;
	int err = entry_get(hca, wqe_fast_reg_get_key(reg), w, &e);

	return err ? err : register_check(hca, user, reg, e, pages);
}

int memory_key_register(struct hca *hca, const struct key_user *user,
			const struct wqe_fast_reg *reg, struct waiter *w)
{
	struct key_pages pages;
	struct mpt_entry *e;
	int err = entry_get(hca, wqe_fast_reg_get_key(reg), w, &e);

	if (!err)
		err = register_check(hca, user, reg, e, &pages);
	if (err)
		return err;
	mpt_entry_set_status(e, MPT_STATUS_HW);
	mpt_entry_set_access(e, 0);
	mpt_entry_set_remote_atomic(e, wqe_fast_reg_get_remote_atomic(reg));
	mpt_entry_set_remote_write(e, wqe_fast_reg_get_remote_write(reg));
	mpt_entry_set_remote_read(e, wqe_fast_reg_get_remote_read(reg));
	mpt_entry_set_local_write(e, wqe_fast_reg_get_local_write(reg));
	mpt_entry_set_local_read(e, wqe_fast_reg_get_local_read(reg));
	mpt_entry_set_bind_enable(e, wqe_fast_reg_get_bind_enable(reg));
	mpt_entry_set_mem_key(e, mem_key_of_key(wqe_fast_reg_get_key(reg)));
	mpt_entry_set_start(e, wqe_fast_reg_get_start(reg));
	mpt_entry_set_length(e, wqe_fast_reg_get_length(reg));
	mpt_entry_set_log_page_size(e, wqe_fast_reg_get_log_page_size(reg));
	mpt_entry_set_fbo_enable(e, wqe_fast_reg_get_fbo_enable(reg));
	mpt_entry_set_first_byte_offset(
		e, wqe_fast_reg_get_fbo_enable(reg) ? wqe_fast_reg_get_first_byte_offset(reg) : 0);
	translate_mpt_changed(hca, wqe_fast_reg_get_key(reg));
	return 0;
}
