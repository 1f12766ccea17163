/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for iWARP connections. They are software on the two simulated hosts, over a small TCP and
 * an Ethernet cable of their own (host_driver/iwarp/); no HCA takes part, so such a scenario is
 * `bare`.
 *
 *	SCENARIO(my_iwarp, "what it shows", .bare = true)
 *	{
 *		struct tb_iw *server, *client;
 *
 *		iw_serve(b, .kinds = MPA_RTR_READ);
 *		client = iw_dial(a, .breaks = IW_BREAKS_BIT(rtr_data));
 *		server = expect_iw_request(b);
 *		iw_take(server);
 *		expect_message(a_to_b, "MPA ID Req Frame rev 2 crc s ird 4 ord 4");
 *		...
 *		expect_iw(server, TERMINATE, .term = IW_TERM_MPA_RTR, .sent = true);
 *
 * The options are those of host_driver/iwarp/iw_cm.h, and have its defaults. What each side sends
 * (a_to_b, b_to_a) and each event of a connection must be expected, in order.
 */
#ifndef TESTBENCH_IWARP_H
#define TESTBENCH_IWARP_H

#include "host_driver/iwarp/iw_cm.h"
#include "host_driver/iwarp/rdma_iw.h"
#include "host_driver/iwarp/rdmap.h"
#include "host_driver/iwarp/tcp_frame.h"
#include "testbench/scenario.h"

#include <errno.h>

enum { TB_IW_PORT = 7471 };

struct tb_iw; /* a connection, from the point of view of one end */

#define TB_IW_OPTION(name, value, least, greatest, meaning) .name = value,
#define TB_IW_OPTIONS(...)                                  (&(const struct iw_options){IW_OPTIONS(TB_IW_OPTION) __VA_ARGS__})

/* Private data and the like of a connection; text without its NUL. */
struct tb_iw_event {
	int64_t status;    /* [0] */
	const char *pdata; /* [not compared] */
	int64_t pdata_len; /* [not compared] */
	int64_t ird, ord;  /* [not compared] */
	enum iw_term term; /* TERMINATE */
	bool sent;         /* TERMINATE: by this end [false] */
};

/* clang-format off */

/* b listens on TB_IW_PORT with these options; again: others from now on. */
#define iw_serve(end, ...) tb_iw_serve(tb, TB_HERE, end, TB_IW_OPTIONS(__VA_ARGS__))
void tb_iw_serve(struct tb *tb, const char *here, struct tb_end *end, const struct iw_options *options);
/* Connects to the other end. */
#define iw_dial(end, ...) tb_iw_dial(tb, TB_HERE, end, TB_IW_OPTIONS(__VA_ARGS__), NULL, 0)
#define iw_dial_with(end, pdata, len, ...) tb_iw_dial(tb, TB_HERE, end, TB_IW_OPTIONS(__VA_ARGS__), pdata, len)
struct tb_iw *tb_iw_dial(struct tb *tb, const char *here, struct tb_end *end, const struct iw_options *options, const void *pdata,
			 uint16_t len);
/* Waits for CONNECT_REQUEST; the new connection. */
#define expect_iw_request(end, ...) tb_expect_iw_request(tb, TB_HERE, end, TB_IW_EVENT(__VA_ARGS__))
struct tb_iw *tb_expect_iw_request(struct tb *tb, const char *here, struct tb_end *end, const struct tb_iw_event *want);
/* Accepts or rejects it. */
#define iw_take(iw) iw_take_with(iw, NULL, 0)
#define iw_take_with(iw, pdata, len) tb_must(tb, TB_HERE, "iw_accept", iw_accept(tb_iw_id(iw), pdata, len), 0)
#define iw_refuse(iw, pdata, len) tb_iw_refuse(tb, TB_HERE, iw, pdata, len)
void tb_iw_refuse(struct tb *tb, const char *here, struct tb_iw *iw, const void *pdata, uint16_t len);
/* Posts; a receive has a buffer of its own of 1024 bytes. */
#define iw_send(iw, text) tb_iw_send(tb, TB_HERE, iw, text)
void tb_iw_send(struct tb *tb, const char *here, struct tb_iw *iw, const char *text);
#define iw_recv(iw) tb_iw_recv(tb, TB_HERE, iw)
void tb_iw_recv(struct tb *tb, const char *here, struct tb_iw *iw);
#define iw_hang_up(iw) tb_must(tb, TB_HERE, "iw_disconnect", iw_disconnect(tb_iw_id(iw)), 0)
struct iw_cm_id *tb_iw_id(struct tb_iw *iw);
/* The user gives the connection up: nothing of it is told any more. */
#define iw_forget(iw) tb_iw_forget(tb, TB_HERE, iw)
void tb_iw_forget(struct tb *tb, const char *here, struct tb_iw *iw);

/* What a user does in the handler of an event or of a completion, before the handler returns. SEND sends "again". */
enum tb_iw_act { IW_DO_NOTHING, IW_DO_SEND, IW_DO_RECV, IW_DO_HANG_UP, IW_DO_FORGET, IW_DO_BREAK, IW_DO_TAKE, IW_DO_REFUSE };

/* iw_within(client, CONNECT_REPLY, IW_DO_HANG_UP): when that event comes next. */
#define iw_within(iw, type, act) tb_iw_within(tb, TB_HERE, iw, IW_EVENT_##type, act)
void tb_iw_within(struct tb *tb, const char *here, struct tb_iw *iw, enum iw_event_type type, enum tb_iw_act act);
/* In the handler of the next completion, of a send or a receive. */
#define iw_within_completion(iw, act) tb_iw_within_completion(tb, TB_HERE, iw, act)
void tb_iw_within_completion(struct tb *tb, const char *here, struct tb_iw *iw, enum tb_iw_act act);
/* In the handler of each CONNECT_REQUEST from now on. */
#define iw_within_request(end, act) tb_iw_within_request(tb, TB_HERE, end, act)
void tb_iw_within_request(struct tb *tb, const char *here, struct tb_end *end, enum tb_iw_act act);

/* A DDP segment that this end sends by hand. No word has to expect it. */
struct tb_ddp {
	int64_t ddp, rdmap; /* versions [1] */
	int64_t tagged;     /* [as the opcode is; false: there is no such opcode] */
	bool last;          /* [true] */
	int64_t qn;         /* of an untagged one [of the opcode; 0: there is no such opcode] */
	uint32_t msn, mo;   /* of an untagged one [1, 0] */
	const char *text;   /* behind the header [no byte] */
	uint32_t read_len;  /* of a READ_REQUEST */
	uint16_t term;      /* of a TERMINATE: layer, type and code, as RFC 5040 has them */
	unsigned cut;       /* bytes that are left out at its end */
};

/* inject_ddp(client, RDMAP_SEND, .msn = 2, .last = false, .text = "half") */
#define TB_DDP_DEFAULTS .ddp = 1, .rdmap = 1, .tagged = TB_ANY, .last = true, .qn = TB_ANY, .msn = 1
#define inject_ddp(iw, opcode, ...) tb_inject_ddp(tb, TB_HERE, iw, opcode, &(const struct tb_ddp){TB_DDP_DEFAULTS, __VA_ARGS__})
void tb_inject_ddp(struct tb *tb, const char *here, struct tb_iw *iw, unsigned opcode, const struct tb_ddp *ddp);

/* The next event of the connection. */
#define TB_IW_EVENT(...) (&(const struct tb_iw_event){.pdata_len = TB_ANY, .ird = TB_ANY, .ord = TB_ANY, __VA_ARGS__})
#define expect_iw(iw, type, ...) tb_expect_iw(tb, TB_HERE, iw, IW_EVENT_##type, TB_IW_EVENT(__VA_ARGS__))
void tb_expect_iw(struct tb *tb, const char *here, struct tb_iw *iw, enum iw_event_type type, const struct tb_iw_event *want);
/* The next receive that completes holds this text; "": no byte. Flushed receives and sends that complete need not be expected. */
#define expect_iw_text(iw, text) tb_expect_iw_text(tb, TB_HERE, iw, text)
void tb_expect_iw_text(struct tb *tb, const char *here, struct tb_iw *iw, const char *text);
/* The next message that leaves in that direction begins so: "MPA ID Req Frame rev 2", "WRITE, 0 bytes", "TERMINATE". */
#define expect_message(direction, text) tb_expect_message(tb, TB_HERE, direction, text)
void tb_expect_message(struct tb *tb, const char *here, enum tb_direction direction, const char *text);
/* Within that time no message leaves in either direction, and no event comes. */
#define expect_silence(ps) tb_expect_silence(tb, TB_HERE, ps)
void tb_expect_silence(struct tb *tb, const char *here, uint64_t ps);

/* --- connections as librdmacm has them: host_driver/iwarp/rdma_iw.h --- */

struct tb_rdma_iw; /* an id, and what its user does */

struct tb_rdma_iw_event {
	int64_t status;                               /* [0] */
	const char *pdata;                            /* [not compared] */
	int64_t pdata_len;                            /* [not compared] */
	int64_t responder_resources, initiator_depth; /* [not compared] */
};

/* A new id. Calls are those of rdma_iw.h: must(rdma_iw_connect(tb_rdma_iw_id(client), NULL, NULL, 0)). NULL: it is destroyed. */
#define rdma_iw_new(end) tb_rdma_iw_new(tb, TB_HERE, end)
struct tb_rdma_iw *tb_rdma_iw_new(struct tb *tb, const char *here, struct tb_end *end);
struct rdma_iw_id *tb_rdma_iw_id(struct tb_rdma_iw *rdma);
/* An id that listens on TB_IW_PORT; the options are those of the connections. */
#define rdma_iw_serve(end, ...) tb_rdma_iw_serve(tb, TB_HERE, end, TB_IW_OPTIONS(__VA_ARGS__))
struct tb_rdma_iw *tb_rdma_iw_serve(struct tb *tb, const char *here, struct tb_end *end, const struct iw_options *options);
/* An id whose address, that of the other end, and route are resolved. */
#define rdma_iw_resolved(end) tb_rdma_iw_resolved(tb, TB_HERE, end)
struct tb_rdma_iw *tb_rdma_iw_resolved(struct tb *tb, const char *here, struct tb_end *end);
/* Destroys it: nothing of it is told any more. */
#define rdma_iw_forget(rdma) tb_rdma_iw_forget(tb, TB_HERE, rdma)
void tb_rdma_iw_forget(struct tb *tb, const char *here, struct tb_rdma_iw *rdma);
/* In the handler of the next such event; CONNECT_REQUEST: of the listener, and the act is that of the new id. */
#define rdma_iw_within(rdma, type, act) tb_rdma_iw_within(tb, TB_HERE, rdma, RDMA_CM_EVENT_##type, act)
void tb_rdma_iw_within(struct tb *tb, const char *here, struct tb_rdma_iw *rdma, enum rdma_cm_event_type type, enum tb_iw_act act);
/* The next event of the id. */
#define TB_RDMA_IW_EVENT(...)                   \
	(&(const struct tb_rdma_iw_event){          \
		.pdata_len = TB_ANY, .responder_resources = TB_ANY, .initiator_depth = TB_ANY, __VA_ARGS__})
#define expect_rdma_iw(rdma, type, ...) tb_expect_rdma_iw(tb, TB_HERE, rdma, RDMA_CM_EVENT_##type, TB_RDMA_IW_EVENT(__VA_ARGS__))
void tb_expect_rdma_iw(struct tb *tb, const char *here, struct tb_rdma_iw *rdma, enum rdma_cm_event_type type, const struct tb_rdma_iw_event *want);
/* The listener's next CONNECT_REQUEST; the new id. */
#define expect_rdma_iw_request(rdma, ...) tb_expect_rdma_iw_request(tb, TB_HERE, rdma, TB_RDMA_IW_EVENT(__VA_ARGS__))
struct tb_rdma_iw *tb_expect_rdma_iw_request(struct tb *tb, const char *here, struct tb_rdma_iw *rdma, const struct tb_rdma_iw_event *want);

/* --- the network --- */

enum tb_eth_kind { ETH_ANY, ETH_SYN, ETH_FIN, ETH_DATA };
enum tb_eth_action { ETH_DROP = 1, ETH_DUPLICATE, ETH_DELAY, ETH_CORRUPT };

struct tb_eth_fault {
	enum tb_eth_action action;
	enum tb_eth_kind kind;
	unsigned nth; /* of its kind, from now on [1] */
	uint64_t by;  /* ETH_DELAY: how much later it arrives; those behind it may come first */
	unsigned at;  /* ETH_CORRUPT: the byte of the frame that is wrong */
};

/* drop_frame(a_to_b, ETH_SYN), drop_frame(a_to_b, ETH_DATA, .nth = 2). It must strike. */
#define drop_frame(direction, kind_, ...) \
	tb_eth_fault(tb, TB_HERE, direction, &(const struct tb_eth_fault){.action = ETH_DROP, .kind = kind_, .nth = 1, __VA_ARGS__})
#define duplicate_frame(direction, kind_, ...) \
	tb_eth_fault(tb, TB_HERE, direction, &(const struct tb_eth_fault){.action = ETH_DUPLICATE, .kind = kind_, .nth = 1, __VA_ARGS__})
#define delay_frame(direction, kind_, ps, ...) \
	tb_eth_fault(tb, TB_HERE, direction, &(const struct tb_eth_fault){.action = ETH_DELAY, .kind = kind_, .nth = 1, .by = ps, __VA_ARGS__})
#define corrupt_frame(direction, kind_, byte, ...) \
	tb_eth_fault(tb, TB_HERE, direction, &(const struct tb_eth_fault){.action = ETH_CORRUPT, .kind = kind_, .nth = 1, .at = byte, __VA_ARGS__})
void tb_eth_fault(struct tb *tb, const char *here, enum tb_direction direction, const struct tb_eth_fault *fault);

/* A TCP segment that the end sends by hand, without its TCP. */
struct tb_segment {
	int32_t seq, ack; /* beside those that its TCP would send now */
	uint8_t flags;    /* [TCP_ACK] */
	uint16_t window;  /* [65535] */
	uint16_t mss;     /* of a SYN [no option] */
	const char *text; /* [no byte] */
};

/* inject_segment(server, .window = 0) */
#define inject_segment(iw, ...) tb_inject_segment(tb, TB_HERE, iw, &(const struct tb_segment){.flags = TCP_ACK, .window = 65535, __VA_ARGS__})
void tb_inject_segment(struct tb *tb, const char *here, struct tb_iw *iw, const struct tb_segment *segment);
/* Segments of that end have at most this many bytes from now on; 0: the MSS. */
#define cut_segments(end, bytes) tb_cut_segments(tb, TB_HERE, end, bytes)
void tb_cut_segments(struct tb *tb, const char *here, struct tb_end *end, unsigned bytes);
/* The end's TCP ends the connection by RST, or sends FIN, without a word of iWARP. */
#define break_stream(iw) tb_break_stream(tb, TB_HERE, iw, true)
#define half_close_stream(iw) tb_break_stream(tb, TB_HERE, iw, false)
void tb_break_stream(struct tb *tb, const char *here, struct tb_iw *iw, bool reset);

/* clang-format on */

#endif
