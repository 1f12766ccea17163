/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordinary program for libibverbs; the scenario posix_program runs it. Without arguments it is a
 * server, with a host's name it is the client of that server. They exchange their addresses over
 * TCP. The client posts every kind of request of an RC queue pair through ibv_wr_*. Both read their
 * completions from extended CQs, field by field, with timestamps. Exit status: 0, or the number of
 * the source line that failed.
 */
#include <errno.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CLOCK_SLACK = 25000, /* cycles of 250 MHz: 100 us from entry to reading it */
	BYTES = 8192,
	DEPTH = 8,
	IMM = 0x1234,
	OPS = IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ |
	      IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		 IBV_ACCESS_REMOTE_ATOMIC,
};

struct side {
	uint32_t lid, qpn, rkey;
	uint64_t addr;
};

static const char *host;
static int port = 18515;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq_ex *cq;
static struct ibv_qp *qp;
static uint64_t *buf;
static struct side mine, theirs;

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s: line %d: %s\n", host ? "client" : "server", __LINE__, \
				strerror(errno));                                                  \
			exit(__LINE__);                                                            \
		}                                                                                  \
	} while (0)

static void open_all(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_cq_init_attr_ex cq_attr = {.cqe = 2 * DEPTH,
					      .wc_flags = IBV_WC_EX_WITH_BYTE_LEN |
							  IBV_WC_EX_WITH_IMM |
							  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
	struct ibv_qp_init_attr_ex attr = {.cap = {.max_send_wr = DEPTH,
						   .max_recv_wr = DEPTH,
						   .max_send_sge = 2,
						   .max_recv_sge = 1,
						   .max_inline_data = 64},
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = OPS};
	struct ibv_port_attr port_attr;

	MUST(list && list[0]);
	context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	MUST(context && !ibv_query_port(context, 1, &port_attr));
	pd = ibv_alloc_pd(context);
	MUST(!posix_memalign((void **)&buf, 4096, BYTES));
	memset(buf, host ? 0x11 : 0x22, BYTES);
	mr = ibv_reg_mr(pd, buf, BYTES, ACCESS);
	cq = ibv_create_cq_ex(context, &cq_attr);
	MUST(mr && cq);
	attr.pd = pd;
	attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(cq);
	qp = ibv_create_qp_ex(context, &attr);
	MUST(qp && ibv_qp_to_qp_ex(qp));
	mine = (struct side){
		.lid = port_attr.lid, .qpn = qp->qp_num, .rkey = mr->rkey, .addr = (uintptr_t)buf};
}

static void connect_qp(void)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = ACCESS,
				   .path_mtu = IBV_MTU_2048,
				   .dest_qp_num = theirs.qpn,
				   .max_dest_rd_atomic = 4,
				   .max_rd_atomic = 4,
				   .min_rnr_timer = 12,
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .ah_attr = {.dlid = (uint16_t)theirs.lid, .port_num = 1}};

	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	attr.qp_state = IBV_QPS_RTR;
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	MUST(!ibv_modify_qp(qp, &attr,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

/* Exchanges the addresses over TCP; returns the connection, which is used again at the end. */
static int meet(void)
{
	const struct addrinfo hints = {.ai_flags = host ? 0 : AI_PASSIVE,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *res;
	char service[16];
	int fd, listening;

	snprintf(service, sizeof(service), "%d", port);
	MUST(!getaddrinfo(host, service, &hints, &res));
	fd = socket(res->ai_family, res->ai_socktype, res->ai_protocol);
	MUST(fd >= 0);
	if (host) {
		MUST(!connect(fd, res->ai_addr, res->ai_addrlen));
	} else {
		listening = fd;
		MUST(!bind(listening, res->ai_addr, res->ai_addrlen) && !listen(listening, 1));
		fd = accept(listening, NULL, NULL);
		close(listening);
		MUST(fd >= 0);
	}
	freeaddrinfo(res);
	MUST(write(fd, &mine, sizeof(mine)) == sizeof(mine));
	MUST(read(fd, &theirs, sizeof(theirs)) == sizeof(theirs));
	return fd;
}

/* Polls until the next completion comes; returns its time. */
static uint64_t completion(uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_values_ex now = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK};
	struct ibv_poll_cq_attr attr = {0};
	uint64_t when;
	int rc;

	do
		rc = ibv_start_poll(cq, &attr);
	while (rc == ENOENT);
	MUST(!rc && cq->status == IBV_WC_SUCCESS && cq->wr_id == wr_id);
	MUST(ibv_wc_read_opcode(cq) == opcode);
	if (opcode == IBV_WC_RECV) {
		MUST(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM);
		MUST(ibv_wc_read_imm_data(cq) == htonl(IMM) && ibv_wc_read_byte_len(cq) == 12);
	}
	when = ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	MUST(!ibv_query_rt_values_ex(cq->context, &now));
	MUST(now.comp_mask == IBV_VALUES_MASK_RAW_CLOCK);
	MUST((uint64_t)now.raw_clock.tv_nsec >= when);
	MUST((uint64_t)now.raw_clock.tv_nsec - when < CLOCK_SLACK);
	return when;
}

static void client(void)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	const uint64_t at = (uintptr_t)buf;
	const struct ibv_sge two[2] = {{at, 100, mr->lkey}, {at + 4096, 28, mr->lkey}};
	struct ibv_data_buf pieces[2] = {{(char *)"seven..", 7}, {(char *)"five", 5}};
	uint64_t before, when;

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	qpx->wr_id = 1;
	ibv_wr_rdma_write(qpx, theirs.rkey, theirs.addr + 512);
	ibv_wr_set_sge_list(qpx, 2, two);
	qpx->wr_id = 2;
	ibv_wr_rdma_read(qpx, theirs.rkey, theirs.addr + 512 + 96);
	ibv_wr_set_sge(qpx, mr->lkey, at + 2048, 40);
	qpx->wr_id = 3;
	ibv_wr_atomic_fetch_add(qpx, theirs.rkey, theirs.addr, 5);
	ibv_wr_set_sge(qpx, mr->lkey, at + 3000 / 8 * 8, 8);
	qpx->wr_id = 4;
	ibv_wr_send_imm(qpx, htonl(IMM));
	ibv_wr_set_inline_data_list(qpx, 2, pieces);
	MUST(!ibv_wr_complete(qpx));
	before = completion(1, IBV_WC_RDMA_WRITE);
	when = completion(2, IBV_WC_RDMA_READ);
	MUST(before && when >= before);
	MUST(completion(3, IBV_WC_FETCH_ADD) >= when);
	completion(4, IBV_WC_SEND);
	MUST(buf[2048 / 8] == UINT64_C(0x1111111111111111));
	MUST(buf[2048 / 8 + 4] == UINT64_C(0x2222222222222222)); /* not overwritten */
	MUST(buf[3000 / 8] == UINT64_C(0x2222222222222222));
	/* an operation that was not requested, and more requests than fit: nothing is posted */
	ibv_wr_start(qpx);
	ibv_wr_send_imm(qpx, 0);
	ibv_wr_send(qpx);
	MUST(ibv_wr_complete(qpx) == EINVAL);
	ibv_wr_start(qpx);
	for (int i = 0; i < 1000; i++)
		ibv_wr_send_imm(qpx, 0);
	MUST(ibv_wr_complete(qpx) == ENOMEM);
}

int main(int argc, char *argv[])
{
	struct ibv_sge sge;
	struct ibv_recv_wr wr = {.wr_id = 9, .sg_list = &sge, .num_sge = 1}, *bad;
	char word = 0;
	int c, fd;

	while ((c = getopt(argc, argv, "p:")) != -1)
		port = c == 'p' ? atoi(optarg) : port;
	host = optind < argc ? argv[optind] : NULL;
	open_all();
	fd = meet();
	connect_qp();
	sge = (struct ibv_sge){.addr = (uintptr_t)buf + 1024, .length = 64, .lkey = mr->lkey};
	MUST(host || !ibv_post_recv(qp, &wr, &bad));
	/* both are ready */
	MUST(write(fd, &word, 1) == 1 && read(fd, &word, 1) == 1);
	if (host) {
		client();
	} else {
		completion(9, IBV_WC_RECV);
		MUST(buf[0] == UINT64_C(0x2222222222222222) + 5);
		MUST(!memcmp((char *)buf + 1024, "seven..five", 12));
	}
	MUST(write(fd, &word, 1) == 1 && read(fd, &word, 1) == 1);
	close(fd);
	MUST(!ibv_destroy_qp(qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)) && !ibv_dereg_mr(mr));
	MUST(!ibv_dealloc_pd(pd) && !ibv_close_device(context));
	free(buf);
	return 0;
}
