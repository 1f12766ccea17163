/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scatterlists to blocks. For every byte that is covered, byte k of the region must be byte k of
 * the list. Where the covered part ends there must be a reason: the list ends, there is a gap, or
 * the blocks are used up. First lists made by hand, then random ones. No device is needed.
 */
#include "host_driver/core/include/rdma/ib_verbs.h"
#include "model/interface/macros.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { BLOCK = 4096, BLOCKS = 8, ENTRIES = 6, RUNS = 20000 };

struct region {
	struct ib_mr mr;
	uint64_t blocks[BLOCKS];
};

static int set_block(struct ib_mr *mr, uint64_t addr)
{
	struct region *r = container_of(mr, struct region, mr);

	if (mr->npages == mr->max_pages)
		return -ENOMEM;
	r->blocks[mr->npages++] = addr;
	return 0;
}

static void list(struct scatterlist *sg, unsigned n, const uint64_t (*pieces)[2])
{
	sg_init_table(sg, n);
	for (unsigned i = 0; i < n; i++) {
		sg[i].dma_address = pieces[i][0];
		sg[i].dma_length = (unsigned)pieces[i][1];
	}
}

static int map_blocks(struct region *r, struct scatterlist *sg, int n, unsigned *offset,
		      unsigned room, unsigned block)
{
	*r = (struct region){.mr = {.page_size = block, .max_pages = room}};
	return ib_sg_to_pages(&r->mr, sg, n, offset, set_block);
}

static int map(struct region *r, struct scatterlist *sg, int n, unsigned *offset, unsigned room)
{
	return map_blocks(r, sg, n, offset, room, BLOCK);
}

static void hand_made(void **state)
{
	static const uint64_t aligned[3][2] = {{0x10f00, 0x100}, {0x30000, 0x2000}, {0x50000, 7}};
	static const uint64_t gap[3][2] = {{0x10000, 0x1000}, {0x30000, 0x800}, {0x40000, 0x1000}};
	static const uint64_t late[2][2] = {{0x10000, 0x1000}, {0x30004, 0x1000}};
	static const uint64_t split[3][2] = {{0x10800, 0x300}, {0x10b00, 0x500}, {0x11000, 0x10}};
	static const uint64_t large[2][2] = {{0x10800, 0x3000}, {0x20000, 1}};
	struct scatterlist sg[3];
	unsigned offset;
	struct region r;

	/* an offset in the first block, whole blocks, a short last block */
	list(sg, 3, aligned);
	assert_int_equal(map(&r, sg, 3, NULL, BLOCKS), 3);
	assert_int_equal(r.mr.npages, 4);
	assert_int_equal(r.mr.iova, 0x10f00);
	assert_int_equal(r.mr.length, 0x100 + 0x2000 + 7);
	assert_int_equal(r.blocks[0], 0x10000);
	assert_int_equal(r.blocks[2], 0x31000);
	/* an entry that ends, and one that begins, in the middle of a block */
	list(sg, 3, gap);
	offset = 0;
	assert_int_equal(map(&r, sg, 3, &offset, BLOCKS), 2);
	assert_int_equal(r.mr.length, 0x1800);
	assert_int_equal(offset, 0);
	list(sg, 2, late);
	assert_int_equal(map(&r, sg, 2, NULL, BLOCKS), 1);
	/* adjacent entries share a block */
	list(sg, 3, split);
	assert_int_equal(map(&r, sg, 3, NULL, BLOCKS), 3);
	assert_int_equal(r.mr.npages, 2);
	assert_int_equal(r.mr.length, 0x810);
	/* the blocks end inside the first entry; the offset says where to continue */
	list(sg, 2, large);
	offset = 0x100;
	assert_int_equal(map(&r, sg, 2, &offset, 2), 0);
	assert_int_equal(offset, 0x1800);
	assert_int_equal(r.mr.length, 0x1700);
	assert_int_equal(map(&r, sg, 2, &offset, 2), 1);
	assert_int_equal(offset, 0);
	assert_int_equal(map(&r, sg, 2, &offset, 0), -ENOMEM);
}

static void wrong_arguments(void **state)
{
	static const uint64_t one[1][2] = {{0x10000, 0x1000}};
	struct scatterlist sg[1];
	unsigned offset = 0x1001;
	struct region r;

	list(sg, 1, one);
	assert_int_equal(map(&r, sg, 0, NULL, BLOCKS), -EINVAL);
	assert_int_equal(map(&r, sg, -1, NULL, BLOCKS), -EINVAL);
	assert_int_equal(map(&r, sg, 1, &offset, BLOCKS), -EINVAL);
	assert_int_equal(offset, 0x1001);
}

/* --- random lists --- */

static uint64_t seed = 88172645463325252u;

static unsigned random_below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

/* Entries are often aligned, and often adjacent. */
static void random_list(struct scatterlist *sg, unsigned n)
{
	uint64_t at = 0;

	sg_init_table(sg, n);
	for (unsigned i = 0; i < n; i++) {
		if (!i || random_below(3))
			at = UINT64_C(0x100000) * (1 + random_below(1000)) +
			     (random_below(3) ? 0 : random_below(2 * BLOCK));
		sg[i].dma_address = at;
		sg[i].dma_length = random_below(2) ? BLOCK * (1 + random_below(3))
						   : 1 + random_below(2 * BLOCK);
		if (!random_below(4))
			sg[i].dma_length = BLOCK - (unsigned)(at % BLOCK);
		at += sg[i].dma_length;
	}
}

/* The address of byte k of the list. *first: it is the first byte of its entry. */
static uint64_t byte_of(const struct scatterlist *sg, unsigned n, uint64_t k, bool *first)
{
	for (unsigned i = 0; i < n; i++) {
		if (k < sg[i].dma_length) {
			*first = !k;
			return sg[i].dma_address + k;
		}
		k -= sg[i].dma_length;
	}
	return 0;
}

static void check(const struct region *r, const struct scatterlist *sg, unsigned n, unsigned start,
		  int got, unsigned offset)
{
	const unsigned block = r->mr.page_size;
	uint64_t whole = 0, covered = start + r->mr.length, last, next;
	bool first;

	for (unsigned i = 0; i < n; i++)
		whole += sg[i].dma_length;
	for (uint64_t k = 0; k < r->mr.length; k++) {
		const uint64_t at = r->mr.iova % block + k;

		if (r->blocks[at / block] + at % block != byte_of(sg, n, start + k, &first))
			fail_msg("byte %u", (unsigned)k);
	}
	assert_true(covered <= whole);
	/* covered: so many whole entries, and `offset` bytes of the next one */
	whole = offset;
	for (int i = 0; i < got; i++)
		whole += sg[i].dma_length;
	assert_int_equal(whole, covered);
	next = byte_of(sg, n, covered, &first);
	if (!next)
		return;
	last = byte_of(sg, n, covered - 1, &(bool){false});
	/* the reason must be a gap, or that there is no room for a further block */
	if (!(first && next != last + 1 && (next % block || (last + 1) % block)))
		assert_true(r->mr.npages == r->mr.max_pages &&
			    (next % block == 0 || next != last + 1));
}

static void any_list(void **state)
{
	struct scatterlist sg[ENTRIES];
	unsigned partial = 0, whole = 0;
	struct region r;

	for (unsigned run = 0; run < RUNS; run++) {
		const unsigned n = 1 + random_below(ENTRIES), room = 1 + random_below(BLOCKS);
		unsigned start, offset;
		int got;

		random_list(sg, n);
		start = offset = random_below(2) ? 0 : random_below(sg[0].dma_length);
		/* the edges of entries are those of the smaller blocks */
		got = map_blocks(&r, sg, (int)n, &offset, room, BLOCK << random_below(2));
		assert_true(got >= 0 && got <= (int)n && r.mr.length);
		if (got == (int)n)
			whole++;
		else
			partial++;
		/* if all of it is inside the first entry, the offset counts from that entry's
		 * beginning */
		check(&r, sg, n, start, got, offset);
	}
	assert_true(whole > RUNS / 20 && partial > RUNS / 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hand_made),
		cmocka_unit_test(wrong_arguments),
		cmocka_unit_test(any_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
