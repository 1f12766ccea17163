/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subnet administrator for each port of the device. A question leaves through the port that it names, and
 * is answered by the administrator of that subnet, with its LIDs and its life time of packets. One that
 * has stopped answers nobody, and the other one goes on.
 */
/* behaviours: IBA-15.2.5.16-path-record IBA-17.2-two-ports */
#include "host_driver/sm/sa.h"
#include "testbench/connect.h"
#include "testbench/harm.h"

#include <errno.h>

enum { PORTS = 2, LIFE = 9, TIMEOUT_MS = 5 };

struct got {
	bool came;
	int status;
	struct sa_path_rec path;
};

static void path_came(int status, struct sa_path_rec *path, unsigned n, void *context)
{
	struct got *got = context;

	got->came = true;
	got->status = status;
	if (path)
		got->path = *path;
}

/* From b to a, through that port. */
static void path_is(struct tb *tb, struct tb_end *a, struct tb_end *b, unsigned port, int status,
		    unsigned life)
{
	struct sa_path_rec rec = {0};
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;
	struct got got = {0};

	must(ib_query_gid(ib_device_of(b), port, 0, &rec.sgid));
	must(ib_query_gid(ib_device_of(a), port, 0, &rec.dgid));
	must(ib_sa_path_rec_get(&client, ib_device_of(b), port, &rec,
				IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_DGID, TIMEOUT_MS, GFP_KERNEL,
				path_came, &got, &query) < 0);
	pass_time(CFG_MS((IB_SA_TRIES + 1) * TIMEOUT_MS));
	expect_true(got.came);
	expect_equal((unsigned)got.status, (unsigned)status);
	if (status || !still_right())
		return;
	expect_equal(be16toh(got.path.ib.slid), port == 1 ? b->lid : b->lid_2);
	expect_equal(be16toh(got.path.ib.dlid), port == 1 ? a->lid : a->lid_2);
	expect_equal(got.path.packet_life_time, life);
	expect_true(!memcmp(got.path.sgid.raw, rec.sgid.raw, sizeof(rec.sgid.raw)));
	expect_true(!memcmp(got.path.dgid.raw, rec.dgid.raw, sizeof(rec.dgid.raw)));
}

/* The port cannot be asked to whom the question goes. */
static void no_port(struct tb *tb, struct tb_end *b)
{
	struct sa_path_rec rec = {0};
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;
	struct got got = {0};

	fail_command(b, HCR_MAD_IFC, HCR_STATUS_BAD_RES_STATE, 1);
	must(ib_sa_path_rec_get(&client, ib_device_of(b), 1, &rec, IB_SA_PATH_REC_SGID, TIMEOUT_MS,
				GFP_KERNEL, path_came, &got, &query) < 0);
	pass_time(CFG_MS(1));
	expect_true(got.came);
	expect_equal((unsigned)got.status, (unsigned)-EIO);
}

SCENARIO(sa_ports, "a subnet administrator for each port", .no_qps = true, .any_packets = true,
	 .settings = {"hca.ports=2", "hca.port2.type=ib"})
{
	struct sm_sa *sa[PORTS + 1], *again;

	must(ib_cm_attach(ib_device_of(a)));
	must(ib_cm_attach(ib_device_of(b)));
	no_port(tb, b);
	/* it cannot ask for the ends of its cable, and nothing is left of it */
	fail_command(a, HCR_MAD_IFC, HCR_STATUS_BAD_RES_STATE, 1);
	must_fail(-EBADF, sm_sa_start(a->dev, 1, 0, &sa[1]));
	path_is(tb, a, b, 1, -ETIMEDOUT, 0);
	must(sm_sa_start(a->dev, 1, 0, &sa[1]));
	path_is(tb, a, b, 1, 0, SA_LIFE_TIME);
	path_is(tb, a, b, 2, -ETIMEDOUT, 0);
	must(sm_sa_start(a->dev, 2, LIFE, &sa[2]));
	must_fail(-EBUSY, sm_sa_start(a->dev, 2, LIFE + 1, &again));
	must_fail(-EBUSY, sm_sa_start(a->dev, 1, LIFE + 1, &again));
	path_is(tb, a, b, 1, 0, SA_LIFE_TIME);
	path_is(tb, a, b, 2, 0, LIFE);
	if (!still_right())
		return;
	sm_sa_stop(sa[1]);
	path_is(tb, a, b, 1, -ETIMEDOUT, 0);
	path_is(tb, a, b, 2, 0, LIFE);
	must(sm_sa_start(a->dev, 1, LIFE + 2, &sa[1]));
	path_is(tb, a, b, 1, 0, LIFE + 2);
	if (!still_right())
		return;
	sm_sa_stop(sa[2]);
	sm_sa_stop(sa[1]);
}
