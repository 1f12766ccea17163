/* SPDX-License-Identifier: Apache-2.0 */
/* Send queues with frames: work requests of several entries, also over the end of the queue. */
#include "model/engine/send/tests/requester_rig.h"

#include "model/engine/wire/eth_port.h"
#include "model/engine/wire/frame.h"

enum { ENTRY = 64, ENTRIES = 16, SEGMENTS_MAX = 13, MOST_SENT = 100 };

static struct eth_port eth;

static void frames_begin(void)
{
	rig_create(QP_ST_MLX);
	memset(&eth, 0, sizeof(eth));
	eth.macs[0] = ETH_MAC_VALID | 0x0002c9000001;
	rig->port.eth = &eth;
	qpc_set_mtu(&rig->qpc, QPC_MTU_FRAME);
	qpc_set_log_sq_size(&rig->qpc, 4);
	qpc_set_log_sq_stride(&rig->qpc, 2);
	for (unsigned i = 0; i < ENTRIES; i++)
		be32_store(rig->memory + RIG_SQ + i * ENTRY, UINT32_MAX);
}

static uint8_t *entry_at(uint16_t index)
{
	return rig->memory + RIG_SQ + index % ENTRIES * ENTRY;
}

/* Writes a request for n pieces of `each` bytes as mlx4_en does: piece by piece, with the owner bit
 * of its first entry last. Returns its index. */
static uint16_t frame_post(unsigned n, unsigned each, uint32_t vlan_word, uint32_t flags)
{
	const uint16_t index = rig->posted;
	const unsigned ds = 1 + n, entries = (ds * WQE_UNIT + ENTRY - 1) / ENTRY;
	uint8_t *ctrl = entry_at(index);

	for (unsigned unit = 1; unit < ds; unit++) {
		uint8_t *at = entry_at((uint16_t)(index + unit * WQE_UNIT / ENTRY)) +
			      unit * WQE_UNIT % ENTRY;

		be64_store(at + 8, RIG_DATA + (unit - 1) * 0x1000);
		be32_store(at + 4, RIG_LKEY);
		be32_store(at, each);
	}
	be32_store(ctrl + 4, vlan_word | ds);
	be32_store(ctrl + 8, WQE_CQE_ALWAYS << 2 | flags);
	be32_store(ctrl + 12, 0);
	rig->posted += (uint16_t)entries;
	be32_store(ctrl, (index & ENTRIES ? UINT32_C(1) << 31 : 0) | WQE_SEND);
	scheduler_doorbell(&rig->hca, RIG_QPN, RIG_UAR);
	return index;
}

/* Stamps the request's entries as mlx4_en does when it takes them back. */
static void stamp(uint16_t index, uint16_t end)
{
	for (; index != end; index++)
		be32_store(entry_at(index), 0x7fffffff | (index & ENTRIES ? UINT32_C(1) << 31 : 0));
}

/* Requests of all lengths, many laps: each frame leaves whole and once, and its completion names
 * its first entry. */
static void many_laps(void **state)
{
	unsigned frames = 0;

	frames_begin();
	for (unsigned i = 0; i < MOST_SENT; i++) {
		const unsigned n = 1 + i * 5 % SEGMENTS_MAX, each = 100 + i;
		const uint16_t index = frame_post(n, each, 0, 0);

		rig_run_us(20);
		frames++;
		assert_int_equal(rig->n_sent, frames);
		assert_ptr_equal(rig->sent[frames - 1].op, &frame_op);
		assert_int_equal(rig->sent[frames - 1].payload_len, n * each);
		for (unsigned k = 0; k < n; k++)
			assert_memory_equal(rig->sent[frames - 1].payload + k * each,
					    rig->memory + RIG_DATA + k * 0x1000, each);
		assert_int_equal(rig->n_cqes, frames);
		rig_expect_cqe(frames - 1, index, WQE_SEND, 0);
		stamp(index, rig->posted);
	}
	assert_int_equal(rig->n_errors, 0);
	rig_destroy();
}

/* Several requests behind one doorbell, and a list that is longer than the window. */
static void lists(void **state)
{
	uint16_t index[5];

	frames_begin();
	for (unsigned i = 0; i < ARRAY_SIZE(index); i++)
		index[i] = frame_post(6, 64, 0, 0);
	assert_true(rig->posted <= ENTRIES);
	rig_run_us(50);
	assert_int_equal(rig->n_sent, ARRAY_SIZE(index));
	for (unsigned i = 0; i < ARRAY_SIZE(index); i++)
		rig_expect_cqe(i, index[i], WQE_SEND, 0);
	rig_destroy();
}

/* What cannot be a frame fails its request. Those behind it are flushed, one completion each. */
static void refused(void **state)
{
	uint16_t after;

	frames_begin();
	frame_post(1, 13, 0, 0);
	after = frame_post(9, 64, 0, 0);
	rig_run_us(20);
	assert_int_equal(rig->n_sent, 0);
	qpc_set_state(&rig->qpc, QP_STATE_ERR);
	rig_run_us(20);
	rig_expect_cqe(0, 0, 0, CQE_SYND_LOC_LEN_ERR);
	rig_expect_cqe(1, after, 0, CQE_SYND_WR_FLUSH_ERR);
	assert_int_equal(rig->n_cqes, 2);
	rig_destroy();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_laps),
		cmocka_unit_test(lists),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
