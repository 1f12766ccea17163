/* What holds the units that all packets share: the one that receives, the one that gathers. */
#include "model/engine/base/engine.h"
#include "model/engine/wire/gather.h"
#include "model/engine/wire/packet.h"
#include "model/engine/receive/receive_unit.h"
#include "model/interface/bth_ops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum {
	/* parts of distinct sizes, so that a sum says what it is made of */
	RX = 1000,
	RX_READ = 10,
	SCATTER = 200,
	SECOND_STEP = 3,
	CHUNK = 40,
	GATHER = 5000,
	SMALL = 32,
	CHUNK_BYTES = 256,
};

static struct event_core core;
static struct hca_params params;
static struct hca hca;
static uint64_t latest_ps; /* a packet was handed on, a read began */
static unsigned later;     /* reads that had to wait */
static bool queues;        /* a read would wait for the data of earlier ones */

/* --- what stands around the units --- */

void receive_unit_packet(struct hca *h, struct packet *pkt)
{
	latest_ps = hca_now(h);
}

void packet_free(struct packet *pkt)
{
}

void pcie_read(struct hca *h, struct dma *dma, uint64_t earliest_ps)
{
	latest_ps = earliest_ps > hca_now(h) ? earliest_ps : hca_now(h);
}

bool pcie_read_queues(const struct hca *h, uint64_t at_ps)
{
	return queues;
}

void pcie_read_later(struct hca *h, struct dma *dma, uint64_t at_ps)
{
	later++;
	latest_ps = at_ps;
}

static int start(void **state)
{
	params = (struct hca_params){
		.packet_rx_gap = RX,
		.packet_rx_read_gap = RX_READ,
		.packet_rx_scatter_gap = SCATTER,
		.packet_large_gap = SECOND_STEP,
		.packet_rx_chunk_gap = CHUNK,
		.packet_gather_gap = GATHER,
		.packet_small = SMALL,
		.packet_chunk = CHUNK_BYTES,
	};
	event_core_init(&core);
	hca = (struct hca){.core = &core, .params = &params};
	latest_ps = later = 0;
	queues = false;
	return 0;
}

static int finish(void **state)
{
	receive_unit_reset(&hca);
	event_core_free(&core);
	return 0;
}

/* How long a packet holds the receive unit: when the one behind it has its turn. */
static uint64_t held_by(uint8_t opcode, uint32_t payload)
{
	static struct packet pkt, behind;

	pkt = behind = (struct packet){.op = bth_op_find(opcode), .payload_len = payload};
	receive_unit_take(&hca, &pkt);
	receive_unit_take(&hca, &behind);
	event_core_run_until(&core, 10 * RX);
	return latest_ps;
}

static void received(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t payload;
		uint64_t held;
	} rows[] = {
		/* the place stands in the packet */
		{BTH_RC_WRITE_ONLY, SMALL, RX},
		{BTH_RC_WRITE_ONLY, CHUNK_BYTES + 1, RX + CHUNK},
		/* a WQE names it, but there is nothing to be put there */
		{BTH_UD_SEND_ONLY, 0, RX},
		{BTH_RC_SEND_ONLY, 0, RX},
		{BTH_RC_READ_RESP_ONLY, 0, RX},
		{BTH_UD_SEND_ONLY, 1, RX + SCATTER},
		{BTH_UD_SEND_ONLY, SMALL, RX + SCATTER},
		{BTH_UD_SEND_ONLY, SMALL + 1, RX + SCATTER + SECOND_STEP},
		{BTH_RC_READ_RESP_ONLY, SMALL, RX + SCATTER},
		{BTH_RC_READ_RESP_ONLY, CHUNK_BYTES, RX + SCATTER + SECOND_STEP},
		{BTH_RC_READ_RESP_ONLY, CHUNK_BYTES + 1, RX + SCATTER + SECOND_STEP + CHUNK},
		{BTH_RC_ATOMIC_ACKNOWLEDGE, 0, RX + SCATTER},
		{BTH_RC_READ_REQUEST, 0, RX + RX_READ},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		finish(NULL);
		start(NULL);
		if (held_by(rows[i].opcode, rows[i].payload) != rows[i].held)
			fail_msg("row %u: held for %llu, expected %llu", i,
				 (unsigned long long)latest_ps, (unsigned long long)rows[i].held);
	}
}

/* Reads of requests and of READ responses follow each other; one that comes late waits for nobody. */
static void gathered(void **state)
{
	struct dma dma = {.len = SMALL};

	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, 0);
	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, GATHER);
	dma.len = SMALL + 1;
	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, 2 * GATHER);
	gather_read(&hca, &dma, 0);
	assert_int_equal(latest_ps, 3 * GATHER + SECOND_STEP);
	assert_int_equal(later, 3);
	gather_read(&hca, &dma, 100 * GATHER);
	assert_int_equal(latest_ps, 100 * GATHER);
	assert_int_equal(later, 3);
	/* in its turn, but asked for at once, where that takes nothing from anybody */
	queues = true;
	gather_read(&hca, &dma, 100 * GATHER);
	assert_int_equal(latest_ps, 101 * GATHER + SECOND_STEP);
	assert_int_equal(later, 3);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, start, finish)
	const struct CMUnitTest tests[] = {
		T(received),
		T(gathered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
