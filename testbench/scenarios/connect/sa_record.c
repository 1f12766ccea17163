/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenario is itself the subnet administrator. A question brings all that the asker has said, each
 * component with a value of its own, and the asker gets all that the answer says. Questions go one after
 * the other, in their order; one that is canceled is never sent, or not sent again. Each is asked three
 * times before the asker hears that there is no answer. A program of librdmacm asks for its port number
 * and type of service, sees the whole record, and can ask again when it has been refused.
 */
/* behaviours: IBA-15.2.5.16-path-record IBA-15.4.4-sa-status IBA-A11-service-id */
#include "host_driver/mlx4/mad.h"
#include "model/interface/cm.h"
#include "testbench/connect.h"

#include <errno.h>

enum { PORT = 1, TIMEOUT_MS = 7, QUESTIONS = 3, MASK = 0x2afdbe };

/* The administrator, on host a. */
static struct administrator {
	struct drv_device *dev;
	struct sa_mad asked; /* the last question */
	struct drv_mad_addr from;
	unsigned questions;
	bool silent;
	unsigned status;
	struct path_record says;
} sa;

static void request_came(void *arg, unsigned port, unsigned qpn, const struct drv_wc *wc,
			 const struct drv_mad_addr *from, const struct smp *mad)
{
	struct sa_mad answer;
	struct mad_hdr *hdr = sa_mad_hdr(&answer);

	memcpy(&sa.asked, mad, sizeof(sa.asked));
	sa.from = *from;
	sa.questions++;
	if (sa.silent)
		return;
	answer = sa.asked;
	memcpy(sa_mad_data_ptr(&answer), &sa.says, sizeof(sa.says));
	mad_hdr_set_method(hdr, MAD_METHOD_GET_RESP);
	mad_hdr_set_status(hdr, sa.status);
	drv_mad_send(sa.dev, port, qpn, from, &answer);
}

/* What an asker gets. */
struct got {
	struct tb *tb;
	unsigned times, order, paths;
	int status;
	bool has_path;
	struct sa_path_rec path;
	const struct ib_sa_client *client; /* that asks, or NULL; how many queries it had then */
	unsigned queries;
};

static unsigned answered;

static void path_came(int status, struct sa_path_rec *path, unsigned n, void *context)
{
	struct got *got = context;

	got->times++;
	got->order = ++answered;
	got->status = status;
	got->paths = n;
	got->has_path = path != NULL;
	got->queries = got->client ? got->client->queries : 0;
	if (path)
		got->path = *path;
}

static struct sa_path_rec question_of(struct tb *tb, struct tb_end *from, struct tb_end *to)
{
	struct sa_path_rec rec = {
		.service_id = htobe64(UINT64_C(0x1122334455667788)),
		.flow_label = htobe32(0xabcde),
		.pkey = htobe16(0x9876),
		.qos_class = htobe16(0x765),
		.hop_limit = 0x43,
		.traffic_class = 0x65,
		.reversible = 1,
		.numb_path = 0x2b,
		.sl = 0xd,
		.mtu_selector = IB_SA_BEST,
		.mtu = 0x2a,
		.rate_selector = IB_SA_LT,
		.rate = 0x35,
		.packet_life_time_selector = IB_SA_EQ,
		.packet_life_time = 0x17,
		.preference = 0x81,
		.ib = {.dlid = htobe16(0x3456), .slid = htobe16(0x4567), .raw_traffic = 1}};

	must(ib_query_gid(ib_device_of(from), PORT, 0, &rec.sgid));
	must(ib_query_gid(ib_device_of(to), PORT, 0, &rec.dgid));
	return rec;
}

static int ask_path_of(struct ib_device *device, struct ib_sa_client *client,
		       const struct sa_path_rec *rec, struct got *got, struct ib_sa_query **query)
{
	return ib_sa_path_rec_get(client, device, PORT, rec, MASK, TIMEOUT_MS, GFP_KERNEL,
				  path_came, got, query);
}

/* Both ends have a field of the record in their own form. */
#define FIELDS(SAME)                                                                               \
	SAME(service_id, be64toh(rec->service_id))                                                 \
	SAME(dlid, be16toh(rec->ib.dlid))                                                          \
	SAME(slid, be16toh(rec->ib.slid))                                                          \
	SAME(raw_traffic, rec->ib.raw_traffic)                                                     \
	SAME(flow_label, be32toh(rec->flow_label))                                                 \
	SAME(hop_limit, rec->hop_limit)                                                            \
	SAME(traffic_class, rec->traffic_class)                                                    \
	SAME(reversible, rec->reversible)                                                          \
	SAME(numb_path, rec->numb_path)                                                            \
	SAME(pkey, be16toh(rec->pkey))                                                             \
	SAME(qos_class, be16toh(rec->qos_class))                                                   \
	SAME(sl, rec->sl)                                                                          \
	SAME(mtu_selector, rec->mtu_selector)                                                      \
	SAME(mtu, rec->mtu)                                                                        \
	SAME(rate_selector, rec->rate_selector)                                                    \
	SAME(rate, rec->rate)                                                                      \
	SAME(life_selector, rec->packet_life_time_selector)                                        \
	SAME(life_time, rec->packet_life_time)                                                     \
	SAME(preference, rec->preference)

#define SAME(field, value) expect_equal(path_record_get_##field(r), value);
static void is_same(struct tb *tb, const struct path_record *r, const struct sa_path_rec *rec)
{
	FIELDS(SAME)
	expect_true(!memcmp(path_record_sgid_cptr(r), rec->sgid.raw, sizeof(rec->sgid.raw)));
	expect_true(!memcmp(path_record_dgid_cptr(r), rec->dgid.raw, sizeof(rec->dgid.raw)));
}

/* The answer has other values than the question. */
static void answer_make(struct path_record *r)
{
	for (unsigned i = 0; i < sizeof(*r); i++)
		((uint8_t *)r)[i] = (uint8_t)(0xc3 + 7 * i);
}

static void fields(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct sa_path_rec rec = question_of(tb, b, a);
	struct ib_sa_client client = {.queries = 9};
	struct got got = {.client = &client};
	struct ib_sa_query *query;
	const struct mad_hdr *hdr = sa_mad_hdr_const(&sa.asked);

	phase("fields");
	ib_sa_register_client(&client);
	expect_equal(client.queries, 0);
	answer_make(&sa.says);
	must(ask_path_of(ib_device_of(b), &client, &rec, &got, &query) < 0);
	expect_equal(client.queries, 1);
	pass_time(CFG_MS(1));
	expect_equal(got.times, 1);
	expect_equal(got.queries, 1); /* until the handler has returned */
	expect_equal(client.queries, 0);
	expect_equal((unsigned)got.status, 0);
	expect_equal(got.paths, 1);
	expect_true(got.has_path);
	is_same(tb, &sa.says, &got.path);
	expect_equal(got.path.rec_type, SA_PATH_REC_TYPE_IB);
	expect_equal(mad_hdr_get_method(hdr), MAD_METHOD_GET);
	expect_equal(mad_hdr_get_mgmt_class(hdr), MAD_CLASS_SUBN_ADM);
	expect_equal(mad_hdr_get_class_version(hdr), SA_CLASS_VERSION);
	expect_equal(mad_hdr_get_base_version(hdr), MAD_BASE_VERSION);
	expect_equal(mad_hdr_get_attr_id(hdr), SA_ATTR_PATH_RECORD);
	expect_equal(mad_hdr_get_attr_mod(hdr), 0);
	expect_equal(sa_mad_get_rmpp_version(&sa.asked), 1);
	expect_equal(sa_mad_get_component_mask(&sa.asked), MASK);
	is_same(tb, (const struct path_record *)(const void *)sa_mad_data_cptr(&sa.asked), &rec);
	expect_equal(sa.from.dlid, b->lid);
	expect_equal(sa.questions, 1);
}

static void no_answers(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct sa_path_rec rec = question_of(tb, b, a);
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;
	struct got got = {0};
	unsigned before = sa.questions;

	phase("a refusal");
	for (unsigned bit = 0; bit < 16 && still_right(); bit++) {
		name_row("bit %u of the status", bit);
		sa.status = 1u << bit;
		got = (struct got){0};
		must(ask_path_of(ib_device_of(b), &client, &rec, &got, &query) < 0);
		pass_time(CFG_MS(1));
		expect_equal((unsigned)got.status, (unsigned)-EINVAL);
		expect_equal(sa.questions, ++before);
	}
	name_row("%s", "");
	got = (struct got){0};
	sa.status = 0x0300;
	must(ask_path_of(ib_device_of(b), &client, &rec, &got, &query) < 0);
	pass_time(CFG_MS(1));
	expect_equal(got.times, 1);
	expect_equal((unsigned)got.status, (unsigned)-EINVAL);
	expect_equal(got.has_path, false);
	expect_equal(got.paths, 0);
	expect_equal(client.queries, 0);
	expect_equal(sa.questions, before + 1);
	sa.status = 0;

	phase("silence");
	sa.silent = true;
	before = sa.questions;
	got = (struct got){0};
	must(ask_path_of(ib_device_of(b), &client, &rec, &got, &query) < 0);
	pass_time(CFG_MS(IB_SA_TRIES * TIMEOUT_MS) - CFG_MS(1));
	expect_equal(got.times, 0);
	expect_equal(sa.questions, before + IB_SA_TRIES);
	pass_time(CFG_MS(2));
	expect_equal(got.times, 1);
	expect_equal((unsigned)got.status, (unsigned)-ETIMEDOUT);
	expect_equal(got.has_path, false);
	expect_equal(sa.questions, before + IB_SA_TRIES);
}

/* The first one is under way, and the third one waits, when both are canceled. */
static void canceled(struct tb *tb, struct tb_end *a, struct tb_end *b)
{
	const struct sa_path_rec rec = question_of(tb, b, a);
	struct ib_sa_client client = {0};
	struct ib_sa_query *queries[QUESTIONS];
	struct got got[QUESTIONS] = {0};
	int numbers[QUESTIONS];
	const unsigned before = sa.questions;

	phase("canceled");
	answered = 0;
	for (unsigned i = 0; i < QUESTIONS && still_right(); i++) {
		numbers[i] = ask_path_of(ib_device_of(b), &client, &rec, &got[i], &queries[i]);
		expect_that(numbers[i], >, 0);
	}
	expect_that(numbers[0], !=, numbers[1]);
	expect_that(numbers[1], !=, numbers[2]);
	expect_equal(client.queries, QUESTIONS);
	pass_time(CFG_MS(1));
	if (!still_right())
		return;
	ib_sa_cancel_query(numbers[2] + 1, queries[1]); /* not its number */
	ib_sa_cancel_query(numbers[0], queries[1]);
	ib_sa_cancel_query(numbers[0], queries[0]);
	ib_sa_cancel_query(numbers[2], queries[2]);
	expect_equal(got[0].times, 0);
	pass_time(CFG_MS(TIMEOUT_MS));
	expect_equal(got[0].times, 1);
	expect_equal((unsigned)got[0].status, (unsigned)-ECANCELED);
	expect_equal(got[0].has_path, false);
	expect_equal(client.queries, QUESTIONS - 1);
	expect_equal(sa.questions, before + 2);
	sa.silent = false;
	pass_time(CFG_MS(TIMEOUT_MS + 1));
	expect_equal(got[1].times, 1);
	expect_equal((unsigned)got[1].status, 0);
	expect_equal(got[2].times, 1);
	expect_equal((unsigned)got[2].status, (unsigned)-ECANCELED);
	expect_equal(sa.questions, before + 3); /* the second one twice */
	expect_equal(client.queries, 0);
	for (unsigned i = 0; i < QUESTIONS; i++)
		expect_equal(got[i].order, i + 1);
}

/* --- a program --- */

enum { IP_PORT = 0x4321, TOS = 0x5a };

static struct asking {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_sa_path_rec path;
} asking;

static int resolves(void *arg)
{
	uint8_t tos = TOS;

	asking.channel = rdma_create_event_channel();
	return ip_resolve(asking.channel, IP_A, IP_PORT, NULL, &asking.id) ||
			       ip_next(asking.channel, RDMA_CM_EVENT_ADDR_RESOLVED, NULL) ||
			       rdma_set_option(asking.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos,
					       sizeof(tos))
		       ? __LINE__
		       : 0;
}

static int is_refused(void *arg)
{
	if (rdma_resolve_route(asking.id, TIMEOUT_MS) ||
	    ip_next(asking.channel, RDMA_CM_EVENT_ROUTE_ERROR, NULL) != -EINVAL)
		return __LINE__;
	errno = 0;
	if (!rdma_connect(asking.id, NULL) || errno != EINVAL || asking.id->route.num_paths)
		return __LINE__;
	return 0;
}

static int gets_path(void *arg)
{
	struct rdma_cm_id *id = asking.id;

	if (rdma_resolve_route(id, TIMEOUT_MS) ||
	    ip_next(asking.channel, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || id->route.num_paths != 1)
		return __LINE__;
	asking.path = *id->route.path_rec;
	return 0;
}

static int leaves(void *arg)
{
	if (rdma_destroy_id(asking.id))
		return __LINE__;
	rdma_destroy_event_channel(asking.channel);
	return 0;
}

static void program(struct tb *tb, struct tb_end *b)
{
	const uint64_t mask = IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID | IB_SA_PATH_REC_PKEY |
			      IB_SA_PATH_REC_NUMB_PATH | IB_SA_PATH_REC_REVERSIBLE |
			      IB_SA_PATH_REC_SERVICE_ID | IB_SA_PATH_REC_QOS_CLASS;
	const struct path_record *said =
		(const struct path_record *)(const void *)sa_mad_data_cptr(&sa.asked);
	const struct ibv_sa_path_rec *is = &asking.path;
	struct process *y = start_worker(b);
	const struct path_record *r = &sa.says;
	union ib_gid own, peer;

	phase("a program");
	sa.status = 0x0300;
	run_in(y, resolves, NULL);
	run_in(y, is_refused, NULL);
	sa.status = 0;
	must(ib_query_gid(ib_device_of(b), PORT, 0, &own));
	must(ib_query_gid(ib_device_of(b->peer), PORT, 0, &peer));
	run_in(y, gets_path, NULL);
	/* the second question is as right as the first one */
	expect_true(!memcmp(path_record_sgid_cptr(said), own.raw, sizeof(own.raw)));
	expect_true(!memcmp(path_record_dgid_cptr(said), peer.raw, sizeof(peer.raw)));
	expect_equal(be16toh(is->dlid), path_record_get_dlid(r));
	expect_equal(be16toh(is->slid), path_record_get_slid(r));
	expect_equal((unsigned)is->raw_traffic, path_record_get_raw_traffic(r));
	expect_equal(be32toh(is->flow_label), path_record_get_flow_label(r));
	expect_equal(is->hop_limit, path_record_get_hop_limit(r));
	expect_equal(is->traffic_class, path_record_get_traffic_class(r));
	expect_equal((unsigned)is->reversible, path_record_get_reversible(r));
	expect_equal(is->numb_path, path_record_get_numb_path(r));
	expect_equal(be16toh(is->pkey), path_record_get_pkey(r));
	expect_equal(is->sl, path_record_get_sl(r));
	expect_equal(is->mtu_selector, path_record_get_mtu_selector(r));
	expect_equal((unsigned)is->mtu, path_record_get_mtu(r));
	expect_equal(is->rate_selector, path_record_get_rate_selector(r));
	expect_equal(is->rate, path_record_get_rate(r));
	expect_equal(is->packet_life_time_selector, path_record_get_life_selector(r));
	expect_equal(is->packet_life_time, path_record_get_life_time(r));
	expect_equal(is->preference, path_record_get_preference(r));
	expect_true(!memcmp(is->sgid.raw, path_record_sgid_cptr(r), sizeof(is->sgid.raw)));
	expect_true(!memcmp(is->dgid.raw, path_record_dgid_cptr(r), sizeof(is->dgid.raw)));
	expect_equal(sa_mad_get_component_mask(&sa.asked), mask);
	expect_equal(path_record_get_service_id(said), (uint64_t)RDMA_PS_TCP << 16 | IP_PORT);
	expect_equal(path_record_get_qos_class(said), TOS);
	expect_equal(path_record_get_pkey(said), PKEY_DEFAULT);
	expect_equal(path_record_get_numb_path(said), 1);
	expect_equal(path_record_get_reversible(said), 1);
	run_in(y, leaves, NULL);
	end_worker(y);
}

SCENARIO(sa_record, "a subnet administrator of the scenario: all that is asked and answered",
	 .no_qps = true, .any_packets = true)
{
	const struct sa_path_rec none = {0};
	struct ib_sa_client client = {0};
	struct ib_sa_query *query;

	sa = (struct administrator){.dev = a->dev};
	must_fail(-ENODEV, ask_path_of(ib_device_of(b), &client, &none, NULL, &query));
	expect_equal(client.queries, 0);
	start_cm();
	drv_mad_unserve(a->dev, PORT, MAD_CLASS_SUBN_ADM); /* the driver's own one */
	must(drv_mad_serve(a->dev, PORT, MAD_CLASS_SUBN_ADM, request_came, NULL));
	fields(tb, a, b);
	no_answers(tb, a, b);
	canceled(tb, a, b);
	program(tb, b);
	drv_mad_unserve(a->dev, PORT, MAD_CLASS_SUBN_ADM);
}
