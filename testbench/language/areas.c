/* SPDX-License-Identifier: Apache-2.0 */
/* The memory areas of an end, and the checks that they hold exactly what the scenario expects. */
#include "testbench/language/tb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 8, LANDING_US = 10000 };

/* Fills an end's src area with a pseudo-random pattern: it differs between the ends, between
 * neighbouring bytes, and between bytes a page or a packet apart. */
static void fill_src(struct tb_end *end, size_t bytes)
{
	uint64_t x = 0x9e3779b97f4a7c15u * (end->index + 1);

	for (size_t i = 0; i < bytes; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		end->src[i] = (uint8_t)(x >> 32);
	}
}

uint64_t tb_va(const struct tb_end *end, const void *addr)
{
	return host_bus(end->host, addr);
}

int tb_memory_create(struct tb_end *end, size_t bytes)
{
	end->src = end->platform->ops->user_alloc(end->platform, 2 * bytes);
	if (!end->src)
		return -ENOMEM;
	end->dst = end->src + bytes;
	free(end->expected);
	free(end->loose);
	end->expected = malloc(bytes);
	end->loose = calloc(1, bytes);
	if (!end->expected || !end->loose) {
		tb_memory_destroy(end);
		return -ENOMEM;
	}
	fill_src(end, bytes);
	memset(end->dst, TB_CLEAR, bytes);
	memset(end->expected, TB_CLEAR, bytes);
	return 0;
}

void tb_memory_destroy(struct tb_end *end)
{
	if (end->src)
		end->platform->ops->user_free(end->platform, end->src, 2 * end->tb->setup.memory);
	end->src = end->dst = NULL;
}

void tb_memory_judge(struct tb_end *end)
{
	size_t bytes = end->tb->setup.memory;
	char got[96];

	if (!end->dst || end->tb->failed || !memcmp(end->dst, end->expected, bytes))
		return;
	for (size_t i = 0; i < bytes; i++) {
		if (end->dst[i] == end->expected[i] || end->loose[i])
			continue;
		snprintf(got, sizeof(got), "dst of %s at offset %zu holds 0x%02x, not 0x%02x",
			 end->name, i, end->dst[i], end->expected[i]);
		tb_fail(end->tb, end->tb->here, "no other byte written", got);
		return;
	}
}

void tb_memory_loose(struct tb_end *end, uint64_t at, size_t len)
{
	const size_t bytes = end->tb->setup.memory;

	if (at < bytes && len <= bytes - at)
		memset(end->loose + at, 1, len);
}

static bool in_area(struct tb *tb, const char *here, uint64_t at, size_t len)
{
	if (len == SIZE_MAX) {
		tb_failf(tb, here, "how many bytes: .len");
		return false;
	}
	if (at <= tb->setup.memory && len <= tb->setup.memory - at)
		return true;
	tb_failf(tb, here, "a range within the area of %zu bytes", tb->setup.memory);
	return false;
}

struct landing {
	struct tb_end *end;
	const struct tb_data *data;
};

static bool data_is_there(struct tb *tb, void *arg)
{
	const struct landing *l = arg;

	return !memcmp(l->end->dst + l->data->dst, l->end->expected + l->data->dst, l->data->len);
}

/* An ACK only means that the responder has received the request. Its posted writes to memory may
 * still be in flight. */
void tb_expect_data(struct tb *tb, const char *here, struct tb_end *end, const struct tb_data *d)
{
	const struct tb_end *from = d->from ? d->from : end->peer;
	char expected[96], got[96];

	if (!tb_go(tb, here) || !in_area(tb, here, d->dst, d->len) ||
	    !in_area(tb, here, d->src, d->len))
		return;
	memcpy(end->expected + d->dst, from->src + d->src, d->len);
	memset(end->loose + d->dst, 0, d->len);
	if (tb_wait_polling(tb, data_is_there, &(struct landing){end, d}, CFG_US(LANDING_US)))
		return;
	for (size_t i = d->dst; i < d->dst + d->len; i++) {
		if (end->dst[i] == end->expected[i])
			continue;
		snprintf(expected, sizeof(expected),
			 "%zu bytes of %s at dst of %s, offset %" PRIu64, d->len, from->name,
			 end->name, d->dst);
		snprintf(got, sizeof(got), "byte %" PRIu64 " of them is 0x%02x, not 0x%02x",
			 i - d->dst, end->dst[i], end->expected[i]);
		tb_fail(tb, here, expected, got);
		return;
	}
}

void tb_ignore_range(struct tb *tb, const char *here, struct tb_end *end, const struct tb_data *d)
{
	if (tb_go(tb, here) && in_area(tb, here, d->dst, d->len))
		memcpy(end->expected + d->dst, end->dst + d->dst, d->len);
}

void tb_set_word(struct tb *tb, const char *here, struct tb_end *end, uint64_t dst, uint64_t value)
{
	if (!tb_go(tb, here) || !in_area(tb, here, dst, WORD))
		return;
	memcpy(end->dst + dst, &value, WORD);
	memcpy(end->expected + dst, &value, WORD);
}

void tb_expect_word(struct tb *tb, const char *here, struct tb_end *end, uint64_t dst,
		    uint64_t value)
{
	uint64_t got;

	if (!tb_go(tb, here) || !in_area(tb, here, dst, WORD))
		return;
	memcpy(end->expected + dst, &value, WORD);
	tb_wait_polling(tb, data_is_there,
			&(struct landing){end, &(const struct tb_data){.dst = dst, .len = WORD}},
			CFG_US(LANDING_US));
	memcpy(&got, end->dst + dst, WORD);
	tb_expect_equal(tb, here, "the word in memory", got, value);
}
