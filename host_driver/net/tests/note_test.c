/* SPDX-License-Identifier: Apache-2.0 */
/* ARP and neighbour discovery as bytes: what is written is read again, and what is malformed is not
 * read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host_driver/net/note.h"
#include "model/interface/macros.h"

enum { AT = 14 /* behind the Ethernet header */, ND_AT = AT + 40 };

static const uint8_t peer[MAC_BYTES] = {2, 0, 0, 0, 0, 2};
static const struct note arp = {.question = true,
				.about = {[10] = 0xff, 0xff, 11, 0, 1, 1},
				.other = {[10] = 0xff, 0xff, 11, 0, 1, 2},
				.mac = {2, 0, 0, 0, 0, 1}};
static const struct note nd = {.question = true,
			       .about = {0xfe, 0x80, [15] = 1},
			       .other = {0xfe, 0x80, [13] = 0xab, 0xcd, 0xef},
			       .mac = {2, 0, 0, 0, 0, 1}};

static void same(const struct note *a, const struct note *b)
{
	assert_int_equal(a->question, b->question);
	assert_int_equal(a->solicited, b->solicited);
	assert_memory_equal(a->about, b->about, NOTE_IP_BYTES);
	assert_memory_equal(a->other, b->other, NOTE_IP_BYTES);
	assert_memory_equal(a->mac, b->mac, MAC_BYTES);
}

static void there_and_back(void **state)
{
	const struct note *const notes[] = {&arp, &nd};
	uint8_t frame[NOTE_FRAME_MAX];
	struct note n, got;

	for (unsigned i = 0; i < ARRAY_SIZE(notes); i++) {
		n = *notes[i];
		assert_true(note_read(frame, note_write(&n, NULL, VLAN_NONE, frame), &got));
		same(&n, &got);
		n.question = false;
		n.solicited = true;
		assert_true(note_read(frame, note_write(&n, peer, VLAN_NONE, frame), &got));
		same(&n, &got);
		assert_memory_equal(frame, peer, MAC_BYTES);
	}
}

/* The bytes of RFC 826 and RFC 4861, as a capture of Linux shows them. */
static void bytes(void **state)
{
	static const uint8_t question[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0,  0, 0, 0, 1, 8, 6, 0, 1, 8, 0,  6, 4, 0,
		1,    2,    0,    0,    0,    0,    1, 11, 0, 1, 1, 0, 0, 0, 0, 0, 0, 11, 0, 1, 2};
	static const uint8_t group[] = {0x33, 0x33, 0xff, 0xab, 0xcd, 0xef};
	uint8_t frame[NOTE_FRAME_MAX];

	assert_int_equal(note_write(&arp, NULL, VLAN_NONE, frame), NOTE_FRAME_MIN);
	assert_memory_equal(frame, question, sizeof(question));
	note_write(&nd, NULL, VLAN_NONE, frame);
	assert_memory_equal(frame, group, sizeof(group));
	assert_int_equal(be16_load(frame + 12), 0x86dd);
	assert_int_equal(frame[ND_AT - 40 + 7], 255);
	assert_int_equal(frame[ND_AT], 135);
	note_write(&arp, NULL, 5, frame);
	assert_int_equal(be32_load(frame + 12), 0x81000005);
	assert_int_equal(be16_load(frame + 16), 0x0806);
}

/* One byte of a good frame is wrong. */
static void malformed(void **state)
{
	static const struct {
		const struct note *note;
		unsigned at;
		uint8_t value;
		const char *why;
	} rows[] = {
		{&arp, AT + 1, 6, "hardware"},    {&arp, AT + 3, 1, "protocol"},
		{&arp, AT + 4, 5, "MAC length"},  {&arp, AT + 5, 6, "IP length"},
		{&arp, AT + 7, 3, "opcode"},      {&arp, AT + 8, 1, "a group's MAC"},
		{&nd, AT + 6, 17, "next header"}, {&nd, AT + 7, 254, "came through a router"},
		{&nd, ND_AT + 1, 1, "code"},      {&nd, ND_AT + 2, 0, "checksum"},
		{&nd, ND_AT + 24, 9, "no MAC"},   {&nd, ND_AT + 25, 0, "option of length 0"},
		{&nd, ND_AT + 25, 2, "too long"}, {&nd, AT + 4, 0x7f, "longer than the frame"},
		{&nd, AT + 5, 16, "cut"},         {&nd, AT, 0x40, "version"},
	};
	uint8_t frame[NOTE_FRAME_MAX];
	struct note n;

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		const size_t len = note_write(rows[i].note, NULL, VLAN_NONE, frame);

		assert_true(note_read(frame, len, &n));
		frame[rows[i].at] = rows[i].value;
		if (note_read(frame, len, &n))
			fail_msg("taken: %s", rows[i].why);
	}
}

/* Every length that is too short. */
static void cut(void **state)
{
	const struct note *const notes[] = {&arp, &nd};
	const size_t needed[] = {AT + sizeof(struct arp), ND_AT + sizeof(struct neighbour)};
	uint8_t frame[NOTE_FRAME_MAX];
	struct note n;

	for (unsigned i = 0; i < ARRAY_SIZE(notes); i++) {
		note_write(notes[i], NULL, VLAN_NONE, frame);
		for (size_t len = 0; len < needed[i]; len++)
			assert_false(note_read(frame, len, &n));
		assert_true(note_read(frame, needed[i], &n));
	}
}

/* Who announces an address asks nobody. A sender without an address tells nothing. */
static void announced(void **state)
{
	struct note n = arp, got;
	uint8_t frame[NOTE_FRAME_MAX];

	memcpy(n.other, n.about, NOTE_IP_BYTES);
	assert_true(note_read(frame, note_write(&n, NULL, VLAN_NONE, frame), &got));
	assert_false(got.question || got.solicited);
	memset(n.about + 12, 0, 4);
	assert_false(note_read(frame, note_write(&n, NULL, VLAN_NONE, frame), &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(there_and_back),
					   cmocka_unit_test(bytes), cmocka_unit_test(malformed),
					   cmocka_unit_test(cut), cmocka_unit_test(announced)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
