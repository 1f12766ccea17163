/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses of every kind: segments that overlap what is here already, segments out of order, late and repeated ones, damaged ones. What the program gets is what was
 * sent, once. And many losses in one connection: each ACK begins the count of tries and the timeout anew.
 */
#include "testbench/scenarios/iwarp/iwarp_parts.h"

static void send_two(struct tb *tb, struct iw_pair p)
{
	iw_send(p.client, "the first");
	expect_message(a_to_b, "SEND, 9 bytes");
	iw_send(p.client, "and the second");
	expect_message(a_to_b, "SEND, 14 bytes");
}

static void get_two(struct tb *tb, struct iw_pair p)
{
	expect_iw_text(p.server, "the first");
	expect_iw_text(p.server, "and the second");
	iw_recv(p.server);
	iw_recv(p.server);
}

SCENARIO(iwarp_losses, "segments that overlap, overtake, come twice, late or damaged", .bare = true)
{
	enum {
		IP_BYTE = 14 + 8,
		SEQUENCE_BYTE = 14 + 20 + 7,
		TCP_BYTE = 14 + 20 + 15,
		DATA_BYTE = 14 + 20 + 20 + 3
	};
	const unsigned bytes[] = {IP_BYTE, TCP_BYTE, DATA_BYTE};
	struct iw_pair p;
	uint64_t since;

	iw_serve(b);
	p = iw_pair_of(tb, iw_dial(a), b, 2);
	/* the ACK of the first is lost, and the second: both come again in one segment, half of it known */
	drop_frame(b_to_a, ETH_ANY);
	drop_frame(a_to_b, ETH_DATA, .nth = 2);
	send_two(tb, p);
	get_two(tb, p);
	/* the same, where the first one is longer than what comes again at once */
	cut_segments(a, 20);
	drop_frame(b_to_a, ETH_ANY);
	drop_frame(a_to_b, ETH_DATA, .nth = 3);
	send_two(tb, p);
	get_two(tb, p);
	cut_segments(a, 0);
	/* the second one overtakes the first one */
	delay_frame(a_to_b, ETH_DATA, CFG_US(50));
	send_two(tb, p);
	get_two(tb, p);
	/* the first one comes again much later: when it was sent again, and acknowledged */
	delay_frame(a_to_b, ETH_DATA, CFG_MS(300));
	send_two(tb, p);
	get_two(tb, p);
	pass_time(CFG_MS(200));
	/* each twice */
	duplicate_frame(a_to_b, ETH_DATA);
	duplicate_frame(a_to_b, ETH_DATA);
	send_two(tb, p);
	get_two(tb, p);
	/* a bit is wrong: of the header of IP, of TCP, of the data */
	for_each_row(i, bytes) {
		corrupt_frame(a_to_b, ETH_DATA, bytes[i]);
		since = tb_now(tb);
		send_two(tb, p);
		get_two(tb, p);
		expect_that(tb_now(tb) - since, >=, CFG_MS(200));
	}
	/* that of a segment without data: it does not count, and a SYN comes again */
	corrupt_frame(a_to_b, ETH_SYN, SEQUENCE_BYTE);
	since = tb_now(tb);
	iw_pair_ends(tb, iw_pair_of(tb, iw_dial(a), b, 0));
	expect_that(tb_now(tb) - since, >=, CFG_MS(200));
	/* more losses than tries of one segment, and each is sent again after 200 ms */
	for (unsigned i = 0; i < 10 && still_right(); i++) {
		drop_frame(a_to_b, ETH_DATA);
		since = tb_now(tb);
		iw_send(p.client, "again");
		expect_message(a_to_b, "SEND, 5 bytes");
		expect_iw_text(p.server, "again");
		expect_that(tb_now(tb) - since, <, CFG_MS(201));
		iw_recv(p.server);
		pass_time(CFG_US(20));
	}
	/* the same one: the timeout doubles */
	for (unsigned i = 0; i < 3; i++)
		drop_frame(a_to_b, ETH_DATA);
	since = tb_now(tb);
	send_two(tb, p);
	get_two(tb, p);
	expect_that(tb_now(tb) - since, >=, CFG_MS(600));
	expect_that(tb_now(tb) - since, <, CFG_MS(601));
	/* FIN and the last message come in one late piece, with a FIN before them */
	delay_frame(a_to_b, ETH_DATA, CFG_US(50));
	iw_send(p.client, "last");
	expect_message(a_to_b, "SEND, 4 bytes");
	iw_hang_up(p.client);
	expect_iw_text(p.server, "last");
	expect_iw(p.server, DISCONNECT);
	expect_iw(p.server, CLOSE);
	expect_iw(p.client, CLOSE);
	/* none arrives: seven tries, each twice as long as the one before it, and then a RST */
	p = iw_pair_of(tb, iw_dial(a), b, 1);
	pass_time(CFG_US(50));
	for (unsigned i = 0; i < 7; i++)
		drop_frame(a_to_b, ETH_DATA);
	since = tb_now(tb);
	iw_send(p.client, "lost");
	expect_message(a_to_b, "SEND, 4 bytes");
	expect_iw(p.client, CLOSE, .status = -ETIMEDOUT);
	expect_that(tb_now(tb) - since, >=, CFG_MS(127 * 200));
	expect_that(tb_now(tb) - since, <, CFG_MS(127 * 200 + 1));
	expect_iw(p.server, CLOSE, .status = -ECONNRESET);
}
