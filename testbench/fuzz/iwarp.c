/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iWARP set-up against a peer that sends anything: the first bytes of an input choose options, who
 * connects, and how the stream is cut; the rest is what the peer sends, right frames with changed
 * bytes or no frames at all. The responder's program greets at once: no byte of its greeting may
 * leave before the fence is open.
 */
#include "host_driver/iwarp/bytes.h"
#include "host_driver/iwarp/tests/iw_rig.h"
#include "testbench/fuzz/rig.h"

static struct rig rig;

static void options_take(struct fuzz_bytes *b)
{
	for (unsigned i = 0; i < 2; i++) {
		struct iw_options *opt = &rig.opt[i];
		const uint64_t v = fuzz_take(b, 2);

		opt->rev = 1 + (v & 1);
		opt->design = (uint32_t)(v >> 1) % IW_DESIGN_COUNT;
		opt->kinds = 1 + (v >> 3) % MPA_RTR_ALL;
		opt->crc = v >> 6 & 1;
		opt->markers = v >> 7 & 1;
		opt->strict = v >> 8 & 1;
		opt->send_takes_receive = v >> 9 & 1;
		opt->ird = v >> 10 & 1 ? 0 : 4;
		opt->ord = v >> 11 & 1 ? MPA_UNKNOWN_DEPTH : 4;
		opt->can_markers = v >> 12 & 1;
	}
}

/* A frame or message that would be right somewhere; returns its length. */
static size_t frame_take(struct fuzz_bytes *b, struct mpa_fpdus *tx, uint8_t *to)
{
	static const uint8_t pdata[64];
	const uint64_t v = fuzz_take(b, 4);
	uint8_t ulpdu[RDMAP_HEAD_MAX + 64];
	struct rdmap_message m = {
		.opcode = v % RDMAP_OPCODE_COUNT,
		.last = v >> 3 & 1,
		.msn = 1 + (v >> 4 & 1),
		.stag = 1,
		.payload = pdata,
		.len = v >> 5 & 1 ? v >> 8 & 63 : 0,
		.term = {2, 0, 7},
	};

	if (v >> 31)
		return mpa_start_put(
			to, &(struct mpa_start){.key = v % MPA_KEY_COUNT,
						.rev = v >> 2 & 3,
						.bits = (uint8_t)(v >> 4),
						.has_enhanced = v >> 12 & 1,
						.enhanced = {v >> 13 & 1, v >> 14 & 7, 1, 1},
						.pdata = pdata,
						.pdata_len = v >> 17 & 63});
	return mpa_fpdu_put(tx, to, ulpdu, rdmap_put(ulpdu, &m));
}

static void peer_talks(struct fuzz_bytes *b)
{
	struct mpa_fpdus tx = {.crc = fuzz_take(b, 1) & 1};

	while (fuzz_more(b) && rig.raw) {
		uint8_t frame[1024];
		const uint8_t *raw;
		const uint64_t what = fuzz_take(b, 1);
		size_t n;

		switch (what & 7) {
		case 0:
			n = fuzz_take_some(b, what >> 3, &raw);
			raw_send(&rig, raw, n);
			break;
		case 1:
			n = frame_take(b, &tx, frame);
			frame[fuzz_take(b, 2) % n] ^= (uint8_t)fuzz_take(b, 1);
			raw_send(&rig, frame, n);
			break;
		case 2:
			fake_half_close(rig.raw);
			break;
		case 3:
			fake_pass(&rig.fake, (what >> 3) * RIG_SECOND);
			break;
		default:
			raw_send(&rig, frame, frame_take(b, &tx, frame));
		}
		fake_run(&rig.fake);
	}
}

/* What the responder has sent before its fence opened holds no message of its user. */
static void judge_fence(void)
{
	struct iw_query q;

	if (!rig.responder.id)
		return;
	iw_query(rig.responder.id, &q);
	if (q.fence_open)
		return;
	for (size_t i = 0; i + 8 <= rig.raw_len; i++)
		if (!memcmp(rig.raw_got + i, "greeting", 8))
			abort();
	if (rig.responder.sends)
		abort();
}

int fuzz_input(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, data + size};
	const uint64_t how = fuzz_take(&b, 1);

	rig_begin(&rig);
	options_take(&b);
	rig.fake.piece = (const size_t[]){0, 1, 5, 100}[how >> 1 & 3];
	rig.greet = how >> 3 & 1;
	rig.reject = how >> 4 == 15;
	if (how & 1) {
		raw_connect(&rig);
	} else {
		raw_listen(&rig);
		if (iw_connect(&rig.initiator.host, (struct iw_address){.port = RIG_PORT},
			       &rig.opt[0], &rig_user, &rig.initiator, NULL, 0, &rig.initiator.id))
			abort();
		rig_receives(&rig.initiator, 4);
		fake_run(&rig.fake);
	}
	peer_talks(&b);
	judge_fence();
	if (rig_end(&rig))
		abort(); /* an id is left */
	return 0;
}
