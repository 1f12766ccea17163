// SPDX-License-Identifier: Apache-2.0
/* The wire dgram: frames between a port and the socket of a peer. */
#include "model/wire/tests/wire_rig.h"

#include "model/engine/wire/link_port.h"
#include "model/engine/wire/packet.h"
#include "model/engine/wire/roce_crc.h"
#include "model/interface/macros.h"
#include "model/interface/rows.h"
#include "model/interface/wire.h"
#include "model/vfio_user/server.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* a stall much longer than a pause lasts */
enum { STALL_NS = 100000000 };
enum { TURN_NS = 10000000, TURNS = 1000, BIG = 1500, MANY = 600, PAYLOAD = 256, DETH_LEN = 8 };

static struct vfu_server *server;

static const char *path(const char *name)
{
	static char paths[4][108];
	static unsigned next;
	char *p = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(p, sizeof(paths[0]), "%s/%s", rig.folder, name);
	return p;
}

static int peer_open(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	strcpy(address.sun_path, path("peer"));
	assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
	return fd;
}

static void peer_close(int fd)
{
	close(fd);
	unlink(path("peer"));
}

static void peer_send(int fd, const void *frame, size_t len)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	strcpy(to.sun_path, path("own"));
	assert_int_equal(sendto(fd, frame, len, 0, (struct sockaddr *)&to, sizeof(to)), len);
}

/* Turns the server until the condition holds. */
#define TURN_UNTIL(condition)                                                                      \
	do {                                                                                       \
		unsigned turns_ = 0;                                                               \
		while (!(condition)) {                                                             \
			assert_true(turns_++ < TURNS);                                             \
			vfu_server_turn(server, TURN_NS);                                          \
		}                                                                                  \
	} while (0)

static void fill(uint8_t *frame, size_t len, unsigned number)
{
	memset(frame, 0, len);
	frame[0] = 0x02;                    /* to one */
	frame[12] = 0x88, frame[13] = 0xb5; /* an experimental protocol */
	frame[14] = (uint8_t)(number >> 8);
	frame[15] = (uint8_t)number;
	frame[len - 1] = 0x5a;
}

static int dgram_setup(void **state)
{
	if (rig_setup(state))
		return -1;
	rig_set("hca0.port1.wire=dgram:%s,%s", path("own"), path("peer"));
	rig_make();
	server = vfu_server_create(&rig.core, &rig.config.sim);
	return server ? 0 : -1;
}

static int dgram_teardown(void **state)
{
	rig_close();
	vfu_server_destroy(server);
	return rig_teardown(state);
}

static void link_follows_the_peer(void **state)
{
	uint8_t frame[RIG_FRAME];
	int peer;

	assert_int_equal(rig_open(server, stderr), 0);
	for (unsigned i = 0; i < 5; i++)
		vfu_server_turn(server, TURN_NS);
	assert_false(rig.up);
	peer = peer_open();
	TURN_UNTIL(rig.up);
	assert_true(rig_said("is there"));
	peer_close(peer);
	TURN_UNTIL(!rig.up);
	assert_true(rig_said("nobody has"));
	fill(frame, sizeof(frame), 1);
	hca_outside_send(rig.near, 1, frame, sizeof(frame));
	assert_int_equal(rig_stat(rig.near, "port1", "xmit_discards"), 1);
	peer = peer_open();
	TURN_UNTIL(rig.up);
	peer_close(peer);
}

static void frames_go_both_ways_without_fcs(void **state)
{
	uint8_t frame[BIG], got[BIG + 1];
	const int peer = peer_open();

	assert_int_equal(rig_open(server, stderr), 0);
	TURN_UNTIL(rig.up);
	fill(frame, BIG, 7);
	hca_outside_send(rig.near, 1, frame, BIG);
	TURN_UNTIL(rig_stat(rig.far, "outside", "sent") == 1);
	assert_int_equal(recv(peer, got, sizeof(got), MSG_DONTWAIT), BIG);
	assert_memory_equal(got, frame, BIG);

	fill(frame, 20, 8); /* is filled up to the least length */
	peer_send(peer, frame, 20);
	fill(frame, BIG, 9);
	peer_send(peer, frame, BIG);
	TURN_UNTIL(rig.seen == 2);
	assert_int_equal(rig.frames[0].len, RIG_FRAME);
	assert_int_equal(rig.frames[0].head[15], 8);
	assert_int_equal(rig.frames[0].head[19], 0x5a);
	assert_int_equal(rig.frames[0].head[20], 0);
	assert_int_equal(rig.frames[1].len, BIG);
	assert_memory_equal(rig.frames[1].head, frame, RIG_FRAME);
	/* one after the other, not at the same time */
	assert_true(rig.frames[1].at_ps > rig.frames[0].at_ps);
	peer_close(peer);
}

/* A device that leaves out ICRCs as long as its own kind is at the other end makes them for others. */
static void what_leaves_has_its_icrc(void **state)
{
	uint8_t headers[128] = {0}, got[512];
	struct eth_hdr *eth = (void *)headers;
	struct grh *grh = (void *)(headers + sizeof(*eth));
	struct bth *bth = (void *)(grh + 1);
	const unsigned len = (unsigned)(sizeof(*eth) + sizeof(*grh) + sizeof(*bth)) + DETH_LEN;
	const int peer = peer_open();
	struct packet *pkt;
	struct roce_places at;
	ssize_t n;

	assert_int_equal(rig_open(server, stderr), 0);
	TURN_UNTIL(rig.up);
	eth_hdr_set_type(eth, ETH_TYPE_ROCE);
	grh_set_ip_ver(grh, GRH_IP_VER);
	grh_set_next_hdr(grh, GRH_NEXT_BTH);
	grh_set_pay_len(grh, BTH_BYTES + DETH_LEN + PAYLOAD + ICRC_BYTES);
	bth_set_opcode(bth, BTH_UD_SEND_ONLY);
	pkt = packet_alloc(rig.near);
	memset(packet_payload(pkt), 0x33, PAYLOAD);
	assert_true(packet_build_frame(rig.near, pkt, 1, headers, len, PAYLOAD));
	pkt->cable_only = true;
	packet_seal(rig.near, pkt);
	assert_false(pkt->crcs_made);
	link_port_send(rig.near, pkt);
	TURN_UNTIL((n = recv(peer, got, sizeof(got), MSG_DONTWAIT)) > 0);
	assert_null(roce_find(got, (size_t)n, (size_t)n + FCS_BYTES, 0, &at));
	assert_true(roce_icrc_is_right(got, &at));
	peer_close(peer);
}

static void wrong_lengths_are_counted(void **state)
{
	static uint8_t frame[16384];
	const int peer = peer_open();

	assert_int_equal(rig_open(server, stderr), 0);
	TURN_UNTIL(rig.up);
	fill(frame, sizeof(frame), 1);
	peer_send(peer, frame, 13);
	peer_send(peer, frame, sizeof(frame));
	peer_send(peer, frame, 0);
	TURN_UNTIL(rig_stat(rig.far, "outside", "refused") == 3);
	assert_int_equal(rig.seen, 0);
	peer_close(peer);
}

/* The peer does not read. Its queue fills, then the receive buffer of the far port, and then pause
 * frames stop the near port. */
static void a_slow_peer_pauses_the_port(void **state)
{
	const uint64_t began = vfu_server_wall_ns();
	uint8_t frame[BIG];
	const int peer = peer_open();

	assert_int_equal(rig_open(server, stderr), 0);
	TURN_UNTIL(rig.up);
	for (unsigned i = 0; i < MANY; i++) {
		fill(frame, BIG, i);
		hca_outside_send(rig.near, 1, frame, BIG);
	}
	while (vfu_server_wall_ns() - began < STALL_NS)
		vfu_server_turn(server, TURN_NS);
	assert_true(rig_stat(rig.far, "outside", "sent") < MANY);
	assert_true(rig_stat(rig.near, "port1", "rx_pause") > 0);
	for (unsigned i = 0; i < MANY; i++) {
		uint8_t got[BIG];

		TURN_UNTIL(recv(peer, got, sizeof(got), MSG_DONTWAIT) == BIG);
		assert_int_equal(got[14] << 8 | got[15], i);
	}
	assert_int_equal(rig_stat(rig.far, "port1", "rx_no_buffer"), 0);
	assert_int_equal(rig_stat(rig.far, "outside", "lost"), 0);
	peer_close(peer);
}

/* The same with a port that obeys no pause: what has no room is lost and counted. */
static void a_slow_peer_loses_frames_without_pause(void **state)
{
	static const struct hca_outside deaf = {.frame = rig_frame, .link = rig_link};
	uint8_t frame[BIG];
	const int peer = peer_open();

	assert_int_equal(rig_open(server, stderr), 0);
	hca_outside_set(rig.near, &deaf);
	TURN_UNTIL(rig.up);
	for (unsigned i = 0; i < MANY; i++) {
		fill(frame, BIG, i);
		hca_outside_send(rig.near, 1, frame, BIG);
	}
	TURN_UNTIL(rig_stat(rig.far, "port1", "rx_no_buffer") > 0);
	peer_close(peer);
}

/* A flood from outside waits in the socket while the port is busy: nothing is lost on the way in. */
static void a_fast_peer_waits(void **state)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	uint8_t frame[BIG];
	const int peer = peer_open();
	bool waited = false;

	strcpy(to.sun_path, path("own"));
	assert_int_equal(rig_open(server, stderr), 0);
	TURN_UNTIL(rig.up);
	for (unsigned i = 0; i < MANY;) {
		fill(frame, BIG, i);
		if (sendto(peer, frame, BIG, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) >
		    0) {
			i++;
			continue;
		}
		waited = true;
		vfu_server_turn(server, TURN_NS);
	}
	TURN_UNTIL(rig.seen == MANY);
	assert_true(waited);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(rig.frames[i].head[14] << 8 | rig.frames[i].head[15], i);
	peer_close(peer);
}

static void expect_error(const char *setting, struct vfu_server *with, const char *words)
{
	char *text = NULL;
	size_t size = 0;
	FILE *err = open_memstream(&text, &size);

	rig_set("%s", setting);
	assert_true(rig_open(with, err) < 0);
	fclose(err);
	if (!strstr(text, words))
		fail_msg("expected '%s' in '%s'", words, text);
	assert_int_equal(strchr(text, '\n') - text, strlen(text) - 1);
	free(text);
}

static void errors_are_one_line(void **state)
{
	const int peer = peer_open();
	char setting[256], file[108];
	int fd;

	snprintf(file, sizeof(file), "%s", path("file"));
	expect_error("hca0.port1.wire=dgram:/x", server, "expected dgram:OWN,PEER");
	expect_error("hca0.port1.wire=dgram:/x,/x", server, "Invalid argument");
	expect_error("hca0.port1.wire=dgram:/a,/b", NULL, "is for hcasim serve");
	snprintf(setting, sizeof(setting), "hca0.port1.wire=dgram:%s,/y", path("peer"));
	expect_error(setting, server, "Address already in use");
	snprintf(setting, sizeof(setting), "hca0.port1.wire=dgram:%s/none/x,/y", rig.folder);
	expect_error(setting, server, "No such file");
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	close(fd);
	snprintf(setting, sizeof(setting), "hca0.port1.wire=dgram:%s,/y", file);
	expect_error(setting, server, "File exists");
	unlink(file);
	peer_close(peer);
}

/* A socket file that a killed process has left is replaced, and the file is gone at the end. */
static void a_stale_socket_is_replaced(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct stat st;

	strcpy(address.sun_path, path("own"));
	assert_return_code(bind(fd, (struct sockaddr *)&address, sizeof(address)), errno);
	close(fd);
	assert_int_equal(rig_open(server, stderr), 0);
	rig_close();
	assert_int_equal(lstat(path("own"), &st), -1);
}

static void only_ethernet_ports_of_hca0_have_wires(void **state)
{
	FILE *null = fopen("/dev/null", "w");

	assert_int_equal(cfg_set(&rig.config, "hca0.port1.wire=tap:x", "test", null), -EINVAL);
	assert_int_equal(cfg_set(&rig.config, "hca0.port1.wire=dgram", "test", null), -EINVAL);
	assert_int_equal(cfg_set(&rig.config, "hca0.port1.wire=dgram:", "test", null), -EINVAL);
	rig_set("hca0.port1.wire=cable");
	assert_false(wires_wanted(&rig.config));
	rig_set("hca1.port1.wire=replay:x");
	assert_int_equal(wires_suit(&rig.config, null), -EINVAL);
	rig_set("hca.port1.wire=replay:x");
	assert_int_equal(wires_suit(&rig.config, null), 0);
	rig_set("hca0.port1.type=ib");
	assert_int_equal(wires_suit(&rig.config, null), -EINVAL);
	fclose(null);
}

#define DGRAM_TEST(name) cmocka_unit_test_setup_teardown(name, dgram_setup, dgram_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DGRAM_TEST(link_follows_the_peer),
		DGRAM_TEST(frames_go_both_ways_without_fcs),
		DGRAM_TEST(what_leaves_has_its_icrc),
		DGRAM_TEST(wrong_lengths_are_counted),
		DGRAM_TEST(a_slow_peer_pauses_the_port),
		DGRAM_TEST(a_slow_peer_loses_frames_without_pause),
		DGRAM_TEST(a_fast_peer_waits),
		DGRAM_TEST(errors_are_one_line),
		DGRAM_TEST(a_stale_socket_is_replaced),
		DGRAM_TEST(only_ethernet_ports_of_hca0_have_wires),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
