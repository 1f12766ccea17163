/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The language of scenarios. A scenario reads from top to bottom like a packet ladder: what the
 * hosts post, which packets must cross the wire, which are lost, and what must complete.
 *
 *	// The ACK is lost once: timeout, resend, the duplicate is acknowledged again.
 *	SCENARIO(rc_lost_ack, "an ACK is lost", .timeout = 10)
 *	{
 *		post_recv(b, .len = 64);
 *		drop_next(b_to_a, RC_ACKNOWLEDGE);
 *		post_send(a, .wr_id = 7, .len = 64);
 *		expect_pkt(a_to_b, RC_SEND_ONLY, .psn = 0xfffffe);
 *		expect_pkt_after(a_to_b, ACK_TIMEOUT(a), RC_SEND_ONLY, .psn = 0xfffffe);
 *		expect_pkt(b_to_a, RC_ACKNOWLEDGE, .psn = 0xfffffe);
 *		expect_cqe(a, .wr_id = 7);
 *	}
 *
 * The body runs in one host thread that drives both hosts. An expect_ verb sleeps in simulated time
 * until the packet, completion or event arrives, compares it, and returns. The first difference is
 * printed and fails the run; the rest of the body is skipped. Anything that the body did not expect
 * (packet, completion, event, guest error, byte in memory, object, page, timer) also fails the run:
 * at the end of the body nothing may be left over.
 *
 * Before the body runs, both hosts are brought up, the ports become ACTIVE, and RC queue pairs are
 * connected with PSNs near their wrap. After the body, everything is torn down. Each end has two
 * areas of memory, src and dst, and one memory region covers both. src holds a pattern that differs
 * from byte to byte and between the ends; every byte of dst is TB_CLEAR. Offsets count within an
 * area. By default, requests move data from the src of one end to the dst of the other.
 *
 * Packets: a_to_b and b_to_a are two queues, each in the order in which packets leave the sender.
 * The queues do not contain management packets (QP0, QP1), packets that a fault drops or corrupts,
 * and copies that a fault makes. A packet is compared only after it has arrived.
 */
#ifndef TESTBENCH_SCENARIO_H
#define TESTBENCH_SCENARIO_H

#include "host_driver/mlx4/connect.h"
#include "host_driver/mlx4/mlx4.h"
#include "host_driver/sm/sm.h"
#include "model/engine/hca.h"
#include "model/interface/rows.h"
#include "model/sim/fault.h"
#include "model/sim/units.h"
#include "testbench/machine.h"
#ifdef SCENARIO_EXTERNAL /* compiled at run time; files of the tree include these where they use them */
#include "model/interface/qp_transitions.h"
#include "model/sim/cfg.h"
#endif

#include <stdint.h>
#include <string.h>

/* The macros below initialize each member to its default, and the scenario's initializers override
 * it. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* Must be raised with every change of a declaration in the headers of this folder; make test checks
 * it (scripts/interface.sh). hcasim refuses a scenario that was compiled with another number. */
enum { SCENARIO_INTERFACE = 25 };

enum { TB_QPS_MAX = 1024, TB_ENDS = 2 };

/* The value of every byte of dst before anything is written to it, and eight such bytes as a word. */
enum { TB_CLEAR = 0xee };
#define TB_CLEAR_WORD UINT64_C(0xeeeeeeeeeeeeeeee)

/* "Not given", for a member whose valid values include 0 and ~0: an arbitrary number that no
 * scenario uses. */
#define TB_ANY INT64_C(-0x7a3f19c25d60b1)

struct tb;

enum tb_direction { a_to_b, b_to_a, mads_a_to_b, mads_b_to_a };

/* What is set up before the body. A member that is not given has the default in brackets, or is
 * false. A member that is given as 0 is 0. */
struct tb_setup {
	bool bare;        /* only power-on: the body calls bring_up() and connect_qps() itself */
	bool no_qps;      /* both hosts are brought up, without queue pairs */
	bool loopback;    /* b is a second end on host 0: the HCA sends to its own LID */
	bool any_packets; /* packets are counted, not checked */
	bool unobserved;  /* packets are not recorded at all: for measurements */
	bool interrupts;  /* the body waits for completions by MSI-X instead of polling */
	bool stays_up;    /* no tear-down after the body, which removes the devices itself */
	bool hidden;      /* not in `hcasim list` */
	bool exact; /* what it expects depends on exact times: hcasim explore judges broken rules only */
	enum ibv_qp_type type;         /* type of the connected pairs: RC or UC [RC] */
	unsigned sges;                 /* max gather entries of a send [1] */
	unsigned recv_sges;            /* max scatter entries of a receive [1] */
	unsigned lmc;                  /* LMC of every port [0] */
	unsigned qps;                  /* number of connected pairs [1] */
	size_t memory;                 /* bytes of each area [64 KiB] */
	unsigned queue;                /* max work requests in each queue [128] */
	unsigned inline_bytes;         /* largest inline send [0] */
	enum ibv_mtu mtu;              /* [4096] */
	uint32_t a_psn, b_psn;         /* first PSN that each end sends [0xfffffe, 0xfffffd] */
	unsigned timeout;              /* ACK timeout code [14] */
	unsigned retry_cnt, rnr_retry; /* [7, 7]; rnr_retry 7 retries for ever */
	unsigned min_rnr_timer;        /* RNR NAK timer code [12] */
	unsigned max_rd_atomic;        /* as requester and as responder [4] */
	unsigned data_vls;             /* data VLs that the scenario is about [1] */
	/* What of mlx4 the scenario is about, such as a time that only its engine takes. It is not for
	 * devices whose transport is in software [NULL: nothing]. */
	const char *of_mlx4;
	unsigned mr_access; /* enum ibv_access_flags [all] */
	const char
		*settings[32]; /* "section.key=value"; configuration files and -s override them */
};

#define TB_SETUP_DEFAULTS                                                                          \
	.type = IBV_QPT_RC, .sges = 1, .recv_sges = 1, .qps = 1, .memory = 64 << 10, .queue = 128, \
	.mtu = IBV_MTU_4096, .a_psn = 0xfffffe, .b_psn = 0xfffffd, .timeout = 14, .retry_cnt = 7,  \
	.rnr_retry = 7, .min_rnr_timer = 12, .max_rd_atomic = 4,                                   \
	.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |   \
		     IBV_ACCESS_REMOTE_ATOMIC

struct tb_end {
	struct tb *tb;
	const char *name; /* "a", "b" */
	unsigned index;   /* 0, 1 */
	unsigned host_index;
	struct host *host;
	struct platform *platform;
	struct tb_end *peer;
	struct drv_device *dev; /* NULL: not up; with loopback both ends share one device */
	struct drv_pd *pd;
	struct drv_cq *cq;
	struct drv_mr *mr;
	struct drv_qp *qp[TB_QPS_MAX];
	unsigned lid;               /* LID of port 1 */
	unsigned lid_2;             /* LID of port 2, if there is one (hca.ports) */
	bool ethernet;              /* port 1 is an Ethernet port: there are no LIDs */
	uint8_t mac[6];             /* of port 1, then */
	unsigned gid_index;         /* entry of the GID table that queue pairs use, then */
	uint8_t gid[DRV_GID_BYTES]; /* what stands there */
	struct net_port *net;       /* the network interface of port 1, then; see net.h */
	uint8_t *src, *dst;         /* the areas */
	uint8_t *expected;          /* what dst must hold */
	uint8_t *loose; /* one byte for each of dst; not 0: dst may hold anything there */
	struct tb_events *events;
};

struct scenario {
	unsigned interface; /* SCENARIO_INTERFACE; must stay the first member */
	const char *name, *shows;
	void (*body)(struct tb *tb, struct tb_end *a, struct tb_end *b);
	struct tb_setup setup;
};

/* SCENARIO(name, "what it shows", setup...) { body }: one in each file. */
#ifdef SCENARIO_EXTERNAL
#define SCENARIO_ROW(id)                                                                           \
	extern const struct scenario hcasim_scenario;                                              \
	const struct scenario hcasim_scenario
#define SCENARIO_LIST(id)
#else
#define SCENARIO_ROW(id) static const struct scenario scenario_##id
#define SCENARIO_LIST(id)                                                                          \
	static const struct scenario *const scenario_entry_##id                                    \
		__attribute__((used, section("hcasim_scenarios"))) = &scenario_##id;
#endif

#define SCENARIO(id, shows_, ...)                                                                  \
	static void scenario_body_##id(struct tb *tb, struct tb_end *a, struct tb_end *b);         \
	SCENARIO_ROW(id) = {.interface = SCENARIO_INTERFACE,                                       \
			    .name = #id,                                                           \
			    .shows = shows_,                                                       \
			    .body = scenario_body_##id,                                            \
			    .setup = {TB_SETUP_DEFAULTS, __VA_ARGS__}};                            \
	SCENARIO_LIST(id)                                                                          \
	static void scenario_body_##id(struct tb *tb, struct tb_end *a, struct tb_end *b)

#define TB_TEXT2(x) #x
#define TB_TEXT(x)  TB_TEXT2(x)
#define TB_HERE     __FILE__ ":" TB_TEXT(__LINE__)

/* clang-format off */

/* --- what hosts do --- */

/* One gather or scatter entry: an offset in the area, and a length in bytes. */
struct tb_sge {
	uint64_t at;
	uint32_t len;
};

/* A work request, posted on a connected pair (by post_send() and the like) or on any queue pair (by send_on() and the like of services.h). */
struct tb_wr {
	enum ibv_wr_opcode opcode;
	unsigned qp; /* number of the pair; unused by send_on(), which takes its queue pair as an argument */
	uint64_t wr_id;
	uint64_t src, dst; /* offsets; for READ src is at the peer; for READ and atomics dst is local */
	uint32_t len;
	bool with_imm, unsignaled, solicited, fence, inlined;
	uint32_t imm;
	uint32_t inv_rkey;	 /* SEND_WITH_INV, LOCAL_INV */
	int64_t target;		 /* atomics: offset in the other end's dst area [0; send_on(): dst] */
	uint64_t compare, swap;	 /* fetch and add: compare is the addend */
	int64_t lkey, rkey;	 /* used instead of the correct keys */
	int64_t remote_addr;	 /* used instead of an address in the other end's area */
	const struct tb_end *to; /* the end whose area the request accesses [the peer] */
	const struct tb_sge *sges; /* entries, instead of the single one that src or dst and len give: see SGES() */
	unsigned n_sges;
	int result;		 /* what the driver must return [0] */
	/* Number of times to post it [1]; wr_id is incremented each time. post_send() and the like hand all of them to the driver as one list.
	 * Repeated receives use consecutive places in dst, and start again from the first when dst is full. With post_recv(), data that lands in
	 * any but the first of these places need not be expected. */
	unsigned repeat;
	const struct drv_ah_attr *ah; /* UD */
	uint32_t remote_qpn, qkey;
	uint32_t srqn;		 /* XRC */
};

#define TB_WR_DEFAULTS .lkey = TB_ANY, .rkey = TB_ANY, .remote_addr = TB_ANY, .target = TB_ANY, .repeat = 1
#define TB_POST(end, ...) tb_post_said(tb, TB_HERE, end, &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__})
#define post_send(end, ...) TB_POST(end, .opcode = IBV_WR_SEND, __VA_ARGS__)
#define rdma_write(end, ...) TB_POST(end, .opcode = IBV_WR_RDMA_WRITE, __VA_ARGS__)
#define rdma_read(end, ...) TB_POST(end, .opcode = IBV_WR_RDMA_READ, __VA_ARGS__)
#define fetch_add(end, ...) TB_POST(end, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .len = 8, __VA_ARGS__)
#define compare_swap(end, ...) TB_POST(end, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .len = 8, __VA_ARGS__)
#define post_recv(end, ...) tb_post_recv_said(tb, TB_HERE, end, &(const struct tb_wr){TB_WR_DEFAULTS, __VA_ARGS__})
void tb_post_said(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr);
void tb_post_recv_said(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr);
/* The same for a structure that the body fills itself: members that are 0 count as not given. */
void tb_post(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr);
void tb_post_recv(struct tb *tb, const char *here, struct tb_end *end, const struct tb_wr *wr);

/* post_send(a, .wr_id = 7, SGES({0, 100}, {4096, 28})): gather or scatter entries, each {offset, length}. */
#define SGES(...)                                                                                  \
	.sges = (const struct tb_sge[]){__VA_ARGS__},                                              \
	.n_sges = sizeof((const struct tb_sge[]){__VA_ARGS__}) / sizeof(struct tb_sge)

/* The address of a byte of an area as requests and packets carry it. It is the bus address, because pointers differ from run to run. */
uint64_t tb_va(const struct tb_end *end, const void *addr);

/* A driver call that must return `result`. */
#define must(call) tb_must(tb, TB_HERE, #call, (call), 0)
#define must_fail(result, call) tb_must(tb, TB_HERE, #call, (call), result)
bool tb_must(struct tb *tb, const char *here, const char *call, int rc, int result);

/* Lets simulated time pass. */
#define pass_time(ps) tb_pass_time(tb, TB_HERE, ps)
void tb_pass_time(struct tb *tb, const char *here, uint64_t ps);
uint64_t tb_now(struct tb *tb);

/* False once the run has failed. Use it to end loops. */
#define still_right() tb_right(tb)
bool tb_right(const struct tb *tb);

/* Writes a 64-bit word, in the host's byte order, to the dst area at offset dst; that word is then expected there. */
#define set_word(end, dst, value) tb_set_word(tb, TB_HERE, end, dst, value)
void tb_set_word(struct tb *tb, const char *here, struct tb_end *end, uint64_t dst, uint64_t value);

/* Loops over the rows of a table. A failure message names the row by its number and by the text given to name_row().
 *	for_each_row(i, rows) {
 *		name_row("%s", rows[i].name);
 */
#define for_each_row(i, rows) \
	for (size_t i = 0; tb_row(tb, i, sizeof(rows) / sizeof((rows)[0])); i++)
bool tb_row(struct tb *tb, size_t i, size_t n);
#define name_row(...) tb_name_row(tb, __VA_ARGS__)
__attribute__((format(printf, 2, 3))) void tb_name_row(struct tb *tb, const char *format, ...);

/* Begins a phase. The account that is printed at the end of the run has a part for each phase. */
#define phase(text) tb_phase(tb, TB_HERE, text)
void tb_phase(struct tb *tb, const char *here, const char *text);
/* A number that the run prints as "figure NAME VALUE". */
void tb_figure(struct tb *tb, const char *name, double value);
struct machine *tb_machine(struct tb *tb);
/* The account will show the packets that the current phase has had so far. */
#define show_ladder() tb_show_ladder(tb, TB_HERE)
void tb_show_ladder(struct tb *tb, const char *here);

/* --- packets --- */

/* For a field of an expected packet: the packet must have the field, with any value. */
#define TB_SOME (TB_ANY + 1)

/*
 * The fields of a packet to compare. A field that is TB_ANY is not compared. A packet with an AETH must be a positive ACK unless
 * .nak, .rnr or .syndrome is given: .nak = NAK_PSN_SEQUENCE expects that NAK, .rnr = 12 an RNR NAK, .nak = TB_SOME a NAK of any
 * code. If a field is given and the packet does not have it, the comparison fails.
 */
struct tb_pkt {
	int64_t psn, qpn /* destination */, len /* payload */, ack_req, solicited, mig_req, pkey, dlid, slid, transmission /* from 1 */;
	int64_t ack_credits;	/* AETH of an ACK: credit code */
	int64_t rnr;		/* AETH of an RNR NAK: timer code */
	int64_t nak;		/* AETH of a NAK: its code, enum nak_code */
	int64_t msn;		/* AETH */
	int64_t va, rkey, dma_len; /* RETH; atomics: va and rkey */
	int64_t imm;
	int64_t srqn;		/* XRCETH */
	int64_t vl, sl, pad /* bytes */, grh /* 1: the packet has one */, hop_limit, tclass, flow_label;
	int64_t syndrome;	/* AETH: the whole byte */
	int64_t qkey, src_qpn;	/* DETH */
	int64_t swap_add, compare; /* AtomicETH */
	int64_t original;	/* AtomicAckETH */
	int64_t inv_rkey;	/* IETH */
	int64_t mgmt_class, method, status, attr, mod, tid; /* MADs: see check_mads() */
	int64_t dmac, vlan;	/* Ethernet: destination as a number; VLAN of the tag */
	const uint8_t *dgid, *sgid; /* GRH; NULL: not compared */
};

#define TB_PKT_ANY \
	.psn = TB_ANY, .qpn = TB_ANY, .len = TB_ANY, .ack_req = TB_ANY, .solicited = TB_ANY, .mig_req = TB_ANY, .pkey = TB_ANY, .dlid = TB_ANY, .slid = TB_ANY, \
	.transmission = TB_ANY, .ack_credits = TB_ANY, .rnr = TB_ANY, .nak = TB_ANY, .msn = TB_ANY, .va = TB_ANY, .rkey = TB_ANY, \
	.dma_len = TB_ANY, .imm = TB_ANY, .srqn = TB_ANY, .vl = TB_ANY, .sl = TB_ANY, .pad = TB_ANY, .grh = TB_ANY, .hop_limit = TB_ANY, \
	.tclass = TB_ANY, .flow_label = TB_ANY, .syndrome = TB_ANY, .qkey = TB_ANY, .src_qpn = TB_ANY, .swap_add = TB_ANY, .compare = TB_ANY, \
	.original = TB_ANY, .inv_rkey = TB_ANY, .mgmt_class = TB_ANY, .method = TB_ANY, .status = TB_ANY, .attr = TB_ANY, .mod = TB_ANY, .tid = TB_ANY, \
	.dmac = TB_ANY, .vlan = TB_ANY

/* Limits on the time since the previous packet in the same direction left the sender. Lost packets count as previous packets. */
struct tb_window {
	uint64_t from_ps, to_ps;
};

#define expect_pkt(direction, op, ...) \
	tb_expect_pkt(tb, TB_HERE, direction, (struct tb_window){0, EVENT_NEVER}, BTH_##op, &(const struct tb_pkt){TB_PKT_ANY, __VA_ARGS__})
#define expect_pkt_after(direction, window, op, ...) \
	tb_expect_pkt(tb, TB_HERE, direction, window, BTH_##op, &(const struct tb_pkt){TB_PKT_ANY, __VA_ARGS__})
void tb_expect_pkt(struct tb *tb, const char *here, enum tb_direction direction, struct tb_window window, enum bth_opcode opcode,
		   const struct tb_pkt *want);

/* From now on, packets like this are optional in that direction: for example ACKs that a device may coalesce. A packet that
 * the current expect_pkt() wants is never skipped as optional. This holds until forbid_pkts() or the end of the body. */
#define allow_pkt(direction, op, ...) tb_allow_pkt(tb, TB_HERE, direction, BTH_##op, &(const struct tb_pkt){TB_PKT_ANY, __VA_ARGS__})
#define forbid_pkts(direction) tb_forbid_pkts(tb, TB_HERE, direction)
void tb_allow_pkt(struct tb *tb, const char *here, enum tb_direction direction, enum bth_opcode opcode, const struct tb_pkt *pkt);
void tb_forbid_pkts(struct tb *tb, const char *here, enum tb_direction direction);

/* From now on until ignore_mads(), MADs of QP0 and QP1 must be expected too. They have queues of their own. */
#define check_mads() tb_ignore_mads(tb, false)
#define ignore_mads() tb_ignore_mads(tb, true)
void tb_ignore_mads(struct tb *tb, bool ignore);
#define expect_mad(direction, ...) expect_pkt(mads_##direction, UD_SEND_ONLY, __VA_ARGS__)

#define WINDOW(from, to) ((struct tb_window){from, to})
/* ACK_TIMEOUT: the ACK timeout that the device applies to the end's QPs, with a tolerance for the travel time of a packet.
 * RNR_DELAY: the RNR delay that the end's RNR NAKs ask for. */
#define ACK_TIMEOUT(end) tb_ack_timeout(end)
#define RNR_DELAY(end) tb_rnr_delay(end)
/* Whether the end has its transport in software: then its own times are longer. */
#define in_software(end) tb_in_software(end)
struct tb_window tb_ack_timeout(const struct tb_end *end);
struct tb_window tb_rnr_delay(const struct tb_end *end);
bool tb_in_software(const struct tb_end *end);

/* After ignore_packets(), neither the packets still in the queues nor later ones are checked. check_packets() starts checking again, from
 * the next packet on. */
#define ignore_packets() tb_ignore_packets(tb, true)
#define check_packets() tb_ignore_packets(tb, false)
void tb_ignore_packets(struct tb *tb, bool ignore);

/* Lets `ps` pass. Then no packet, completion, event or guest error may be left that the body has not expected. */
#define expect_no_more(ps) tb_expect_no_more(tb, TB_HERE, ps)
void tb_expect_no_more(struct tb *tb, const char *here, uint64_t ps);

/* Faults. Each applies to the next packet in that direction that has the opcode and the other properties given. Each fault must
 * happen before the body ends, or the scenario fails. */
struct tb_fault {
	int64_t psn, qpn, transmission; /* TB_ANY */
	uint32_t nth;			/* which of the matching packets is the first one hit; 0: the first */
	uint32_t times;			/* how many matching packets are hit, starting from there [1] */
	uint32_t offset;		/* corrupt: offset of the byte from the start of the LRH */
	uint8_t mask;			/* corrupt: bits to flip; 0: a random one */
	enum fault_fix fix;		/* corrupt: which CRCs are recomputed afterwards */
	uint32_t copies;		/* duplicate [1] */
	uint64_t by_ps;			/* delay; duplicate: gap */
	uint32_t behind;		/* reorder: packets that overtake it [1] */
	bool any_opcode;
};
#define TB_FAULT(kind, direction, op, ...) \
	tb_fault(tb, TB_HERE, kind, direction, op, \
		 &(const struct tb_fault){.psn = TB_ANY, .qpn = TB_ANY, .transmission = TB_ANY, .times = 1, __VA_ARGS__})
#define drop_next(direction, op, ...) TB_FAULT(FAULT_DROP, direction, BTH_##op, __VA_ARGS__)
#define corrupt_next(direction, op, ...) TB_FAULT(FAULT_CORRUPT, direction, BTH_##op, __VA_ARGS__)
#define duplicate_next(direction, op, ...) TB_FAULT(FAULT_DUPLICATE, direction, BTH_##op, .copies = 1, __VA_ARGS__)
#define delay_next(direction, op, ...) TB_FAULT(FAULT_DELAY, direction, BTH_##op, __VA_ARGS__)
#define reorder_next(direction, op, ...) TB_FAULT(FAULT_REORDER, direction, BTH_##op, .behind = 1, __VA_ARGS__)
void tb_fault(struct tb *tb, const char *here, enum fault_action action, enum tb_direction direction, enum bth_opcode opcode,
	      const struct tb_fault *fault);

/* --- completions, events, guest errors, memory, counters --- */

/* An expected completion. A completion with an error has only wr_id, status, vendor_err, the queue pair and, in opcode, whether it is a receive;
 * its other members are 0. */
struct tb_cqe {
	int64_t wr_id, opcode, byte_len, imm, qp /* number of the pair */, vendor_err;
	int64_t src_qp, slid, sl, flags /* enum ibv_wc_flags */, pkey_index, path_bits, inv_rkey;
	struct drv_qp *on;   /* any queue pair; NULL: not compared */
	struct drv_srq *srq; /* XRC; NULL: not compared */
	struct drv_cq *cq;   /* the CQ that must receive it; if given, it is polled even in a setup with interrupts [the end's] */
	enum ibv_wc_status status; /* [success] */
	uint64_t within_ps;
};
/* For .status: any status but success, and any status at all. */
#define ANY_ERROR  ((enum ibv_wc_status)0x7ffe)
#define ANY_STATUS ((enum ibv_wc_status)0x7fff)
#define CQE(...) \
	{.wr_id = TB_ANY, .opcode = TB_ANY, .byte_len = TB_ANY, .imm = TB_ANY, .qp = TB_ANY, .vendor_err = TB_ANY, .src_qp = TB_ANY, .slid = TB_ANY, \
	 .sl = TB_ANY, .flags = TB_ANY, .pkey_index = TB_ANY, .path_bits = TB_ANY, .inv_rkey = TB_ANY, .within_ps = CFG_S(10), __VA_ARGS__}
#define expect_cqe(end, ...) tb_expect_cqe(tb, TB_HERE, end, &(const struct tb_cqe)CQE(__VA_ARGS__))
void tb_expect_cqe(struct tb *tb, const char *here, struct tb_end *end, const struct tb_cqe *want);
/* Expects one completion for each CQE() given, in any order. All come from the CQ of the first:
 *	expect_cqes_of(a, CQE(.wr_id = 1), CQE(.wr_id = 2, .status = ANY_ERROR)); */
#define expect_cqes_of(end, ...) \
	tb_expect_cqes_of(tb, TB_HERE, end, (const struct tb_cqe[]){__VA_ARGS__}, sizeof((const struct tb_cqe[]){__VA_ARGS__}) / sizeof(struct tb_cqe))
void tb_expect_cqes_of(struct tb *tb, const char *here, struct tb_end *end, const struct tb_cqe *want, unsigned n);
/* n of them in any order, all successful. */
#define expect_cqes(end, n) tb_expect_cqes(tb, TB_HERE, end, n)
void tb_expect_cqes(struct tb *tb, const char *here, struct tb_end *end, unsigned n);

/* So far the end's driver has discarded n completions that were never polled, because their queue pair was reset or destroyed or their CQ was destroyed. */
#define expect_discarded(end, n) tb_expect_discarded(tb, TB_HERE, end, n)
void tb_expect_discarded(struct tb *tb, const char *here, struct tb_end *end, unsigned n);
/* Any number of discarded completions is right. */
#define ignore_discarded(end) tb_ignore_discarded(tb, end)
void tb_ignore_discarded(struct tb *tb, struct tb_end *end);

#define expect_event(end, type) tb_expect_event(tb, TB_HERE, end, type)
void tb_expect_event(struct tb *tb, const char *here, struct tb_end *end, enum ibv_event_type type);
/* From ignore_events() to check_events(), events need not be expected: for events that the body causes on purpose, such as those of a port. */
#define ignore_events(end) tb_ignore_events(tb, end)
#define check_events(end) tb_check_events(tb, end)
void tb_ignore_events(struct tb *tb, struct tb_end *end);
void tb_check_events(struct tb *tb, struct tb_end *end);

/* The device of that end reports, at least once, that the guest broke a rule. `rule` is the name of its row in model/interface/rules.h. */
#define expect_guest_error(end, rule) tb_expect_guest_error(tb, TB_HERE, end, #rule)
void tb_expect_guest_error(struct tb *tb, const char *here, struct tb_end *end, const char *rule);
#define expect_catastrophe(end) tb_expect_catastrophe(tb, TB_HERE, end)
void tb_expect_catastrophe(struct tb *tb, const char *here, struct tb_end *end);

/* The len bytes at offset dst of the end's dst area equal those at offset src of the peer's src area. Bytes of dst that no expectation covers must
 * stay unchanged. */
struct tb_data {
	uint64_t dst, src;
	size_t len;
	const struct tb_end *from; /* NULL: the peer */
};
#define TB_DATA_DEFAULTS .len = SIZE_MAX /* .len must be given */
#define expect_data(end, ...) tb_expect_data(tb, TB_HERE, end, &(const struct tb_data){TB_DATA_DEFAULTS, __VA_ARGS__})
void tb_expect_data(struct tb *tb, const char *here, struct tb_end *end, const struct tb_data *data);
#define expect_word(end, dst, value) tb_expect_word(tb, TB_HERE, end, dst, value)
void tb_expect_word(struct tb *tb, const char *here, struct tb_end *end, uint64_t dst, uint64_t value);
/* The range may hold anything. */
#define ignore_data(end, ...) tb_ignore_range(tb, TB_HERE, end, &(const struct tb_data){TB_DATA_DEFAULTS, __VA_ARGS__})
void tb_ignore_range(struct tb *tb, const char *here, struct tb_end *end, const struct tb_data *data);
/* The older name of ignore_data(), kept for existing scenario files. */
void tb_ignore_data(struct tb *tb, struct tb_end *end, const struct tb_data *data);

/* How much a counter of the end's device has grown since the body began. */
#define expect_stat(end, stage, counter, value) tb_expect_stat(tb, TB_HERE, end, #stage, #counter, value)
void tb_expect_stat(struct tb *tb, const char *here, struct tb_end *end, const char *stage, const char *counter, uint64_t value);
uint64_t tb_stat(struct tb_end *end, const char *stage, const char *counter);

/* A comparison that must hold, as in expect_that(tb_stat(a, "retry", "ack_timeouts"), >, 0). The failure message shows both values. */
#define expect_that(x, op, y) \
	do { \
		const __typeof__((x) + 0) tb_x = (x); \
		const __typeof__((y) + 0) tb_y = (y); \
		tb_expect_that(tb, TB_HERE, (__typeof__(tb_x + tb_y))tb_x op (__typeof__(tb_x + tb_y))tb_y, #x " " #op " " #y, (int64_t)tb_x, (int64_t)tb_y); \
	} while (0)
void tb_expect_that(struct tb *tb, const char *here, bool right, const char *text, int64_t x, int64_t y);
/* Any other condition that must be true. The failure message shows the counters that the condition read with tb_stat(). */
#define expect_true(condition) tb_expect_true(tb, TB_HERE, condition, #condition)
void tb_expect_true(struct tb *tb, const char *here, bool condition, const char *text);
#define expect_equal(got, want) tb_expect_equal(tb, TB_HERE, #got, got, want)
void tb_expect_equal(struct tb *tb, const char *here, const char *what, uint64_t got, uint64_t want);

/* --- for bodies that do bring-up and tear-down themselves --- */

/* In this order: start the driver of an end; let the subnet manager on a make the ports ACTIVE; make the end's PD, CQ, region and queue pairs;
 * connect the queue pairs. All use the values of the setup. */
#define bring_up(end) tb_bring_up(tb, TB_HERE, end)
#define activate_ports() tb_activate_ports(tb, TB_HERE)
#define make_objects(end) tb_make_objects(tb, TB_HERE, end)
#define connect_qps() tb_connect(tb, TB_HERE)
void tb_bring_up(struct tb *tb, const char *here, struct tb_end *end);
void tb_activate_ports(struct tb *tb, const char *here);
void tb_make_objects(struct tb *tb, const char *here, struct tb_end *end);
void tb_connect(struct tb *tb, const char *here);
/* Moves both queue pairs of a connected pair to RESET and from there back to RTS. */
#define reconnect(pair) tb_reconnect(tb, TB_HERE, pair)
void tb_reconnect(struct tb *tb, const char *here, unsigned pair);
/* Destroys the end's queue pairs, CQ and region and stops its driver. Nothing may be left over. */
#define take_down(end) tb_take_down(tb, TB_HERE, end)
void tb_take_down(struct tb *tb, const char *here, struct tb_end *end);
/* Frees what the host holds of a dead device, without a command to it. */
#define abandon(end) tb_abandon(tb, TB_HERE, end)
void tb_abandon(struct tb *tb, const char *here, struct tb_end *end);

/* Injects a raw packet, from LRH to VCRC, as if it came in on the end's port. inject() of services.h builds the packet from named fields. */
#define inject_bytes(end, bytes, len) tb_inject_bytes(tb, TB_HERE, end, 1, bytes, len)
void tb_inject_bytes(struct tb *tb, const char *here, struct tb_end *end, unsigned port, const void *bytes, size_t len);

/* Unplug the cable between the two ports of that number, and plug it in again. */
#define pull_cable(port) tb_plug_cable(tb, TB_HERE, port, false)
#define plug_cable(port) tb_plug_cable(tb, TB_HERE, port, true)
void tb_plug_cable(struct tb *tb, const char *here, unsigned port, bool plugged);

#endif
