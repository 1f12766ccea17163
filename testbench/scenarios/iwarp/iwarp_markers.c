/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers stand every 512 bytes of the stream, wherever an FPDU is then: before its length, in its header, its data, its padding, before its
 * CRC, behind it, and at several of these places of one FPDU. In one direction only, and in both; the segments are cut, too. Source: RFC 5044
 * section 4.3.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

enum {
	EVERY = 512,
	WORD = 4,
	SPARE = 2, /* FPDUs that have a marker are longer */
	MESSAGES = EVERY / WORD + SPARE,
	LONG = 1000, /* bytes of a message in the second round: its FPDU has two markers, or one */
	BETWEEN = EVERY - WORD,
	HEADERS = 2 + DDP_UNTAGGED_BYTES,
	STEPS = BETWEEN / WORD + SPARE,
};

/* FPDUs of 11 words: 11 and the 128 words between two markers have no common divisor, so every place of an FPDU comes by. */
static const char text[] = "twenty bytes of text", *const texts[] = {text, "", "x", "yz"};

static void one(struct tb *tb, enum tb_direction direction, struct tb_iw *from, struct tb_iw *to,
		const char *words)
{
	iw_recv(to);
	iw_send(from, words);
	expect_message(direction, "SEND, ");
	expect_iw_text(to, words);
}

/*
 * FPDUs whose body is as long as one or two distances between markers, their padding included. With its CRC each is a word longer, so the markers
 * move by a word from one to the next. One that begins with a marker has another one before its CRC.
 */
static void several(struct tb *tb, struct iw_pair p)
{
	for (unsigned i = 0; i < 2 * STEPS && still_right(); i++) {
		const unsigned body = i < STEPS ? BETWEEN : 2 * BETWEEN;
		char words[2 * BETWEEN];

		memset(words, 's', sizeof(words));
		words[body - HEADERS - i % WORD] = 0;
		one(tb, a_to_b, p.client, p.server, words);
		one(tb, b_to_a, p.server, p.client, words);
	}
}

SCENARIO(iwarp_markers, "markers at each place of an FPDU", .bare = true)
{
	char longest[LONG + 1];

	memset(longest, 'l', LONG);
	longest[LONG] = 0;
	for (unsigned n = 0; n < 4 && still_right(); n++) {
		struct iw_pair p;

		name_row("%s wants them, %s", n % 2 ? "each end" : "one end",
			 n / 2 ? "segments are cut" : "whole segments");
		iw_serve(b, .markers = n != 2);
		p = iw_pair_of(tb, iw_dial(a, .markers = n != 0), b, 0);
		cut_segments(a, n / 2 ? 7 : 0);
		for (unsigned i = 0; i < (n / 2 ? 24 : MESSAGES) && still_right(); i++) {
			one(tb, a_to_b, p.client, p.server, n / 2 ? texts[i % 4] : text);
			one(tb, b_to_a, p.server, p.client, n / 2 ? longest : text);
		}
		cut_segments(a, 0);
		several(tb, p);
		iw_pair_ends(tb, p);
	}
}
