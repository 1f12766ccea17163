/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ordinary program for librdmacm with threads; the scenario posix_threads runs it. Without
 * arguments it is a server, with an address it is the client of that server. One thread handles the
 * connection's events: it polls the channel and an eventfd that tells it to stop. A second thread
 * sleeps for completions. The main thread sends, and waits for the completions at semaphores.
 * Worker threads, with a mutex and a condition variable, each count one message at a time. An alarm
 * that is set twice rings once. Exit status: 0, or the number of the source line that failed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PORT = 7174, MESSAGES = 8, WORKERS = 2, BYTES = 64, TIMEOUT_MS = 2000 };

static const char *address;
static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *id;
static struct ibv_comp_channel *completions;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static char *buf;
static int stop;
static sem_t happened, received;
static enum rdma_cm_event_type last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t came = PTHREAD_COND_INITIALIZER;
static unsigned to_count, counted, rung;

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s: line %d: %s\n", address ? "client" : "server",        \
				__LINE__, strerror(errno));                                        \
			exit(__LINE__);                                                            \
		}                                                                                  \
	} while (0)

static void *connection_thread(void *arg)
{
	struct pollfd fds[] = {{.fd = stop, .events = POLLIN}, {channel->fd, POLLIN, 0}};
	struct rdma_cm_event *event;

	for (;;) {
		MUST(poll(fds, 2, -1) > 0);
		if (fds[0].revents)
			return arg;
		MUST(!rdma_get_cm_event(channel, &event));
		last = event->event;
		if (last == RDMA_CM_EVENT_CONNECT_REQUEST)
			id = event->id;
		MUST(!rdma_ack_cm_event(event));
		MUST(!sem_post(&happened));
	}
}

static void *completion_thread(void *arg)
{
	struct ibv_cq *ready;
	struct ibv_wc wc;
	void *context;

	for (;;) {
		pthread_testcancel();
		MUST(!ibv_get_cq_event(completions, &ready, &context));
		ibv_ack_cq_events(ready, 1);
		MUST(!ibv_req_notify_cq(ready, 0));
		while (ibv_poll_cq(ready, 1, &wc) == 1) {
			MUST(!wc.status || wc.status == IBV_WC_WR_FLUSH_ERR);
			if (wc.status || wc.opcode != IBV_WC_RECV)
				continue;
			MUST(!pthread_mutex_lock(&lock));
			to_count++;
			MUST(!pthread_cond_signal(&came) && !pthread_mutex_unlock(&lock));
		}
	}
	return arg;
}

/* Counts one message at a time until all are counted. */
static void *worker(void *arg)
{
	uintptr_t mine = 0;

	MUST(!pthread_mutex_lock(&lock));
	for (;;) {
		while (!to_count && counted < MESSAGES)
			MUST(!pthread_cond_wait(&came, &lock));
		if (!to_count)
			break;
		to_count--;
		counted++;
		mine++;
		MUST(!pthread_mutex_unlock(&lock));
		usleep(1);
		MUST(!sem_post(&received) && !pthread_mutex_lock(&lock));
	}
	MUST(!pthread_cond_broadcast(&came) && !pthread_mutex_unlock(&lock));
	pthread_exit((void *)mine);
}

static void ring(int number)
{
	rung += number == SIGALRM;
}

static void expect(enum rdma_cm_event_type wanted)
{
	MUST(!sem_wait(&happened));
	MUST(last == wanted);
}

static void post_recv(void)
{
	struct ibv_sge sge = {(uintptr_t)buf, BYTES, mr->lkey};
	struct ibv_recv_wr *bad, wr = {.sg_list = &sge, .num_sge = 1};

	MUST(!ibv_post_recv(id->qp, &wr, &bad));
}

static void post_send(void)
{
	struct ibv_sge sge = {(uintptr_t)buf, BYTES, mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED};

	MUST(!ibv_post_send(id->qp, &wr, &bad));
}

static void make_queues(void)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = MESSAGES,
						.max_recv_wr = MESSAGES,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	completions = ibv_create_comp_channel(id->verbs);
	cq = ibv_create_cq(id->verbs, 2 * MESSAGES, NULL, completions, 0);
	MUST(cq && !ibv_req_notify_cq(cq, 0));
	attr.send_cq = attr.recv_cq = cq;
	MUST(!rdma_create_qp(id, NULL, &attr));
	buf = malloc(BYTES);
	mr = ibv_reg_mr(id->pd, buf, BYTES, IBV_ACCESS_LOCAL_WRITE);
	MUST(mr);
	for (unsigned i = 0; i < MESSAGES; i++)
		post_recv();
}

static void connect_queues(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	if (address) {
		MUST(inet_pton(AF_INET, address, &at.sin_addr) == 1);
		MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
		MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&at, TIMEOUT_MS));
		expect(RDMA_CM_EVENT_ADDR_RESOLVED);
		MUST(!rdma_resolve_route(id, TIMEOUT_MS));
		expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
		make_queues();
		MUST(!rdma_connect(id, NULL));
	} else {
		MUST(!rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP));
		MUST(!rdma_bind_addr(listener, (struct sockaddr *)&at) &&
		     !rdma_listen(listener, 1));
		expect(RDMA_CM_EVENT_CONNECT_REQUEST);
		make_queues();
		MUST(!rdma_accept(id, NULL));
	}
	expect(RDMA_CM_EVENT_ESTABLISHED);
}

int main(int argc, char *argv[])
{
	pthread_t of_connection, of_completions, workers[WORKERS];
	uint64_t one = 1;
	uintptr_t all = 0;
	void *result;

	address = argc > 1 ? argv[1] : NULL;
	signal(SIGALRM, ring);
	alarm(1);
	alarm(2);
	channel = rdma_create_event_channel();
	stop = eventfd(0, 0);
	MUST(channel && stop >= 0);
	MUST(!sem_init(&happened, 0, 0) && !sem_init(&received, 0, 0));
	MUST(!pthread_create(&of_connection, NULL, connection_thread, &all));
	connect_queues();
	MUST(!pthread_create(&of_completions, NULL, completion_thread, NULL));
	for (unsigned i = 0; i < WORKERS; i++)
		MUST(!pthread_create(&workers[i], NULL, worker, NULL));
	for (unsigned i = 0; i < MESSAGES; i++) {
		if (address)
			post_send();
		MUST(!sem_wait(&received));
		if (!address)
			post_send();
	}
	for (unsigned i = 0; i < WORKERS; i++) {
		MUST(!pthread_join(workers[i], &result));
		all += (uintptr_t)result;
	}
	MUST(all == MESSAGES && !pthread_equal(of_connection, pthread_self()));
	if (address)
		MUST(!rdma_disconnect(id));
	expect(RDMA_CM_EVENT_DISCONNECTED);
	MUST(!pthread_cancel(of_completions) && !pthread_join(of_completions, &result));
	MUST(result == PTHREAD_CANCELED);
	MUST(write(stop, &one, sizeof(one)) == sizeof(one));
	MUST(!pthread_join(of_connection, &result) && result == &all);
	rdma_destroy_qp(id);
	MUST(!ibv_dereg_mr(mr) && !ibv_destroy_cq(cq) && !ibv_destroy_comp_channel(completions));
	MUST(!rdma_destroy_id(id) && (!listener || !rdma_destroy_id(listener)));
	rdma_destroy_event_channel(channel);
	sleep(3);
	MUST(rung == 1);
	printf("%s: %u messages\n", address ? "client" : "server", (unsigned)all);
	return 0;
}
