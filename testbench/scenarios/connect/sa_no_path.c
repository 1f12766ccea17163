/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions that the SA answers with an error: a path to a GID that nobody has, and one from a GID
 * that is not this port's. The asker hears of the error, and gets no path. The next right question
 * gets its answer. A question that is lost is asked again at its timeout, and not before. One from
 * a port that the device does not have is not asked at all. When connection management leaves the
 * device, each question that is under way ends, and who hears of that finds no connection management.
 */
/* behaviours: IBA-15.4.4-sa-status */
#include "testbench/connect.h"

#include <errno.h>

enum { PORT = 1, TIMEOUT_MS = 1000, QUESTIONS = 3 };

struct answer {
	bool came;
	int status;
};

static void path_came(int status, struct sa_path_rec *path, unsigned n, void *context)
{
	*(struct answer *)context = (struct answer){true, status};
}

/* The status with which the SA's answer comes to the asker. */
static int status_of(struct tb *tb, struct tb_end *a, const union ib_gid *from,
		     const union ib_gid *to)
{
	const struct sa_path_rec rec = {
		.numb_path = 1, .reversible = 1, .sgid = *from, .dgid = *to};
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;
	struct answer answer = {0};
	const uint64_t until = tb_now(tb) + 2 * CFG_MS(TIMEOUT_MS);

	must(ib_sa_path_rec_get(&client, ib_device_of(a), PORT, &rec,
				IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID |
					IB_SA_PATH_REC_NUMB_PATH | IB_SA_PATH_REC_REVERSIBLE,
				TIMEOUT_MS, GFP_KERNEL, path_came, &answer, &query) < 0);
	while (still_right() && !answer.came && tb_now(tb) < until)
		pass_time(CFG_US(100));
	expect_true(answer.came);
	return answer.status;
}

/* Its question ends because connection management leaves the device. */
struct leaver {
	struct answer answer;
	struct ib_device *device;
	int created, counted, asked;
};

/* What is about to be freed takes nothing new. */
static void path_left(int status, struct sa_path_rec *path, unsigned n, void *context)
{
	static struct ib_sa_client client;
	struct leaver *l = context;
	const struct sa_path_rec rec = {.numb_path = 1, .reversible = 1};
	struct ib_cm_counters counters;
	struct ib_sa_query *query;
	struct ib_cm_id *id = ib_create_cm_id(l->device, NULL, NULL);

	l->answer = (struct answer){true, status};
	l->created = IS_ERR(id) ? (int)PTR_ERR(id) : 0;
	l->counted = ib_cm_query_counters(l->device, &counters);
	l->asked = ib_sa_path_rec_get(&client, l->device, PORT, &rec, 0, TIMEOUT_MS, GFP_KERNEL,
				      path_came, &l->answer, &query);
}

/* They are asked one after the other. The answer to the first one is lost. */
static void leave(struct tb *tb, struct tb_end *b, const union ib_gid *here,
		  const union ib_gid *there)
{
	const struct sa_path_rec rec = {
		.numb_path = 1, .reversible = 1, .sgid = *there, .dgid = *here};
	struct ib_sa_client client = {0};
	struct leaver leavers[QUESTIONS] = {0};
	struct ib_sa_query *query;
	uint64_t sent;

	phase("questions under way");
	lose_mad(a_to_b);
	for (unsigned i = 0; i < QUESTIONS; i++) {
		leavers[i].device = ib_device_of(b);
		must(ib_sa_path_rec_get(&client, ib_device_of(b), PORT, &rec,
					IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID, TIMEOUT_MS,
					GFP_KERNEL, path_left, &leavers[i], &query) < 0);
	}
	pass_time(CFG_MS(1));
	sent = tb_stat(b, "port1", "xmit_pkts");
	must(ib_cm_detach(ib_device_of(b)));
	/* none is asked again */
	expect_stat(b, port1, xmit_pkts, sent);
	for (unsigned i = 0; i < QUESTIONS; i++) {
		expect_true(leavers[i].answer.came);
		expect_equal(leavers[i].answer.status, -ECANCELED);
		expect_equal(leavers[i].created, -ENODEV);
		expect_equal(leavers[i].counted, -ENODEV);
		expect_equal(leavers[i].asked, -ENODEV);
	}
}

SCENARIO(sa_no_path, "the SA refuses a question for a path, and the asker hears of it",
	 .no_qps = true, .any_packets = true)
{
	const unsigned no_ports[] = {0, 9, ib_device_of(a)->phys_port_cnt + 1};
	union ib_gid here, there, nowhere;
	struct sa_path_rec path = {0};
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;
	uint64_t begun;

	start_cm();
	must(ib_query_gid(ib_device_of(a), PORT, 0, &here));
	must(ib_query_gid(ib_device_of(b), PORT, 0, &there));
	nowhere = there;
	nowhere.raw[sizeof(nowhere.raw) - 1] ^= 0xff;
	expect_equal(status_of(tb, a, &here, &nowhere), -EINVAL);
	expect_equal(status_of(tb, a, &nowhere, &there), -EINVAL);
	for_each_row(i, no_ports)
		must_fail(-EINVAL, ib_sa_path_rec_get(&client, ib_device_of(a), no_ports[i], &path,
						      0, 1, GFP_KERNEL, path_came, NULL, &query));
	ask_path(a, &path);
	expect_equal(be16toh(path.ib.dlid), b->lid);
	lose_mad(b_to_a);
	begun = tb_now(tb);
	expect_equal(status_of(tb, b, &there, &here), 0);
	expect_that(tb_now(tb) - begun, >=, CFG_MS(TIMEOUT_MS));
	expect_that(tb_now(tb) - begun, <, CFG_MS(TIMEOUT_MS + 1));
	leave(tb, b, &here, &there);
}
