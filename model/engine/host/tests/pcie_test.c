/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCIe: times of TLPs, computed by hand from the parameters; splitting, ordering, faults. 8 GT/s x
 * 8 lanes x 128/130 is 126.953125 ps a byte. A read request is 26 bytes: 3300 ps.
 */
#include "model/engine/tests/host_fixture.h"
#include "model/interface/macros.h"

enum {
	REQUEST = 3300,
	DEVICE = 50000,
	ROOT = 100000,
	READ = 300000,
	WRITE = 150000,
	CREDIT = 70000,
	/* from when a TLP has left until its credits are back */
	ROUND = 2 * DEVICE + 2 * ROOT + CREDIT,
	TLP = 35800, /* 256 + 26 bytes */
};

struct note {
	struct dma dma;
	uint64_t done_ps;
	unsigned calls;
	uint8_t buf[8192];
};

static void note_done(struct dma *dma)
{
	struct note *n = (struct note *)(void *)dma;

	n->done_ps = fx.core.now_ps;
	n->calls++;
}

static struct note *note(uint64_t bus, uint32_t len)
{
	struct note *n = test_calloc(1, sizeof(*n));

	n->dma.done = note_done;
	n->dma.buf = n->buf;
	n->dma.len = len;
	n->dma.what = "test";
	n->dma.one = (struct dma_frag){bus, len};
	n->dma.frags = &n->dma.one;
	n->dma.n_frags = 1;
	return n;
}

static void read_time(void **state)
{
	struct note *n = note(MEMORY_BUS, 64);
	/* (64 + 22) bytes: 10917 ps */
	const uint64_t sampled = REQUEST + DEVICE + ROOT + READ;

	memset(fx.memory, 0x5a, 64);
	pcie_read(&fx.hca, &n->dma, 0);
	fx_run();
	assert_int_equal(n->done_ps, sampled);
	assert_int_equal(n->dma.ready_ps, sampled + ROOT + 10917 + DEVICE);
	assert_int_equal(n->dma.status, 0);
	assert_int_equal(n->buf[63], 0x5a);
	assert_int_equal(fx.core.executed, 1);
	test_free(n);
}

static void read_at_ready_keeps_the_bytes_of_the_completer(void **state)
{
	struct note *n = note(MEMORY_BUS, 64);

	n->dma.at_ready = true;
	fx.memory[0] = 1;
	pcie_read(&fx.hca, &n->dma, 0);
	event_core_run_until(&fx.core, REQUEST + DEVICE + ROOT + READ - 1);
	fx.memory[0] = 2;
	event_core_run_until(&fx.core, REQUEST + DEVICE + ROOT + READ);
	fx.memory[0] = 3;
	assert_int_equal(n->calls, 0);
	fx_run();
	assert_int_equal(n->buf[0], 2);
	assert_int_equal(n->done_ps, 614217);
	assert_int_equal(fx.core.executed, 2);
	test_free(n);
}

static void write_time(void **state)
{
	struct note *n = note(MEMORY_BUS, 4096);

	/* 16 TLPs of 256 bytes: (4096 + 16 x 26) bytes are 572812 ps */
	memset(n->buf, 0x77, 4096);
	pcie_write(&fx.hca, &n->dma, 0);
	event_core_run_until(&fx.core, 572812 + DEVICE + ROOT + WRITE - 1);
	assert_int_equal(fx.memory[0], 0);
	fx_run();
	assert_int_equal(n->done_ps, 572812 + DEVICE + ROOT + WRITE);
	assert_int_equal(fx.memory[4095], 0x77);
	assert_int_equal(fx.hca.stats.pcie_write_tlps, 16);
	assert_int_equal(fx.core.executed, 1);
	test_free(n);
}

static void requests_are_cut(void **state)
{
	struct note *n = note(MEMORY_BUS + 4096 - 100, 1124);

	/* 100 bytes to the end of the page, then 512 + 512 */
	pcie_read(&fx.hca, &n->dma, 0);
	assert_int_equal(fx.hca.stats.pcie_read_requests, 3);
	assert_int_equal(fx.hca.stats.pcie_read_bytes, 1124);
	fx_run();
	/* DevCtl: MRRS 128 (000) and MPS 128 (000) take effect at once. A larger MPS counts as the
	 * parameter. */
	hca_config_write(&fx.hca, HCA_PCI_CAP_EXPRESS + 8, 2, 0);
	n->dma.one.len = n->dma.len = 1024;
	n->dma.one.bus = MEMORY_BUS;
	pcie_read(&fx.hca, &n->dma, 0);
	fx_run();
	assert_int_equal(fx.hca.stats.pcie_read_requests, 3 + 8);
	pcie_write(&fx.hca, &n->dma, 0);
	fx_run();
	assert_int_equal(fx.hca.stats.pcie_write_tlps, 8);
	hca_config_write(&fx.hca, HCA_PCI_CAP_EXPRESS + 8, 2, 5 << 5);
	n->dma.one.bus = MEMORY_BUS + 8;
	pcie_write(&fx.hca, &n->dma, 0);
	fx_run();
	assert_int_equal(fx.hca.stats.pcie_write_tlps, 8 + 5);
	test_free(n);
}

static void read_does_not_pass_a_write(void **state)
{
	struct note *w = note(MEMORY_BUS, 4096), *r = note(MEMORY_BUS, 64);

	/* writes take long to land, so a read would overtake them */
	pcie_root_set(&fx.hca, &(struct pcie_root){.latency_ps = ROOT,
						   .read_latency_ps = READ,
						   .write_latency_ps = 10 * READ});
	memset(w->buf, 0x11, 4096);
	pcie_write(&fx.hca, &w->dma, 0);
	pcie_read(&fx.hca, &r->dma, 0);
	fx_run();
	assert_int_equal(r->buf[0], 0x11);
	assert_true(r->done_ps >= w->done_ps);
	test_free(w);
	test_free(r);
}

static uint64_t small_ps;

static void small_done(void *arg, int status)
{
	assert_int_equal(status, 0);
	small_ps = fx.core.now_ps;
}

static void writes_land_in_order(void **state)
{
	struct note *big = note(MEMORY_BUS, 4096);
	const uint8_t byte = 9;

	pcie_write(&fx.hca, &big->dma, 50000);
	pcie_write_small(&fx.hca, MEMORY_BUS + 5000, &byte, 1, "small", 0, small_done, NULL);
	pcie_message(&fx.hca, 3, 0xfee00000, 0x4003, 0);
	fx_run();
	assert_true(small_ps > big->done_ps);
	assert_int_equal(fx.n_irqs, 1);
	assert_true(fx.irqs[0].at_ps > small_ps);
	assert_int_equal(fx.memory[5000], 9);
	assert_int_equal(pcie_pending(&fx.hca), 0);
	test_free(big);
}

/* The bounds of jitter, and how many DMAs are tried. */
enum { READ_JITTER = 400000, WRITE_JITTER = 300000, MESSAGE_JITTER = 9000000, TRIES = 100 };

static void jitter_set(uint64_t seed)
{
	pcie_root_set(&fx.hca, &(struct pcie_root){.latency_ps = ROOT,
						   .read_latency_ps = READ,
						   .write_latency_ps = WRITE,
						   .read_jitter_ps = READ_JITTER,
						   .write_jitter_ps = WRITE_JITTER,
						   .interrupt_jitter_ps = MESSAGE_JITTER});
	pcie_jitter(&fx.hca, seed);
}

/* Later than usual by up to `most`, and not always by the same time. */
static void expect_jitter(const uint64_t *late_ps, uint64_t most)
{
	uint64_t least = UINT64_MAX, largest = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		assert_in_range(late_ps[i], 0, most);
		least = late_ps[i] < least ? late_ps[i] : least;
		largest = late_ps[i] > largest ? late_ps[i] : largest;
	}
	assert_true(least < most / 5);
	assert_true(largest > most / 5 * 4);
}

static void jitter_has_bounds(void **state)
{
	uint64_t reads[TRIES], writes[TRIES], messages[TRIES];

	jitter_set(1);
	for (unsigned i = 0; i < TRIES; i++) {
		struct note *r = note(MEMORY_BUS, 64), *w = note(MEMORY_BUS, 64);
		const uint64_t began_ps = fx.core.now_ps;

		pcie_read(&fx.hca, &r->dma, 0);
		fx_run();
		reads[i] = r->done_ps - began_ps - (REQUEST + DEVICE + ROOT + READ);
		assert_int_equal(r->dma.ready_ps, r->done_ps + ROOT + 10917 + DEVICE);
		writes[i] = fx.core.now_ps;
		pcie_write(&fx.hca, &w->dma, 0);
		fx_run();
		writes[i] = w->done_ps - writes[i] - (11425 + DEVICE + ROOT + WRITE);
		messages[i] = fx.core.now_ps;
		fx.n_irqs = 0;
		pcie_message(&fx.hca, 3, 0xfee00000, 0x4003, 0);
		fx_run();
		messages[i] = fx.irqs[0].at_ps - messages[i] - (3808 + DEVICE + ROOT + WRITE);
		test_free(r);
		test_free(w);
	}
	expect_jitter(reads, READ_JITTER);
	expect_jitter(writes, WRITE_JITTER);
	expect_jitter(messages, MESSAGE_JITTER);
}

/* However long each of many writes takes longer, they land in order, and their delays do not add
 * up. */
static void jitter_keeps_the_order_of_writes(void **state)
{
	struct note *notes[TRIES];
	uint64_t last_ps = 0;

	jitter_set(1);
	for (unsigned i = 0; i < TRIES; i++) {
		notes[i] = note(MEMORY_BUS + i * 64, 64);
		pcie_write(&fx.hca, &notes[i]->dma, 0);
	}
	fx_run();
	for (unsigned i = 0; i < TRIES; i++) {
		assert_true(notes[i]->done_ps >= last_ps);
		last_ps = notes[i]->done_ps;
		test_free(notes[i]);
	}
	assert_in_range(last_ps, TRIES * 11425,
			TRIES * 11426 + DEVICE + ROOT + WRITE + WRITE_JITTER);
}

enum { JUDGED_LATE = 700000 };

static uint64_t judge_once(void *ctx, enum hca_late_way way, const char *what, uint64_t at)
{
	bool *once = ctx;
	const bool yes = *once && way == HCA_LATE_WRITE && at == MEMORY_BUS;

	if (yes)
		*once = false;
	return yes ? JUDGED_LATE : 0;
}

/* The first of two writes lands later by what the judge says; the second one and a message wait
 * behind it. */
static void a_judge_delays_writes_in_order(void **state)
{
	struct note *first = note(MEMORY_BUS, 64), *second = note(MEMORY_BUS + 64, 64);
	const uint64_t usual = 11425 + DEVICE + ROOT + WRITE;
	bool once = true;

	hca_late_ask(&fx.hca, &(struct hca_late_judge){.ctx = &once, .late_ps = judge_once});
	pcie_write(&fx.hca, &first->dma, 0);
	pcie_write(&fx.hca, &second->dma, 0);
	pcie_message(&fx.hca, 3, 0xfee00000, 0x4003, 0);
	fx_run();
	assert_false(once);
	assert_int_equal(first->done_ps, usual + JUDGED_LATE);
	assert_true(second->done_ps >= first->done_ps);
	assert_int_equal(fx.n_irqs, 1);
	assert_true(fx.irqs[0].at_ps >= second->done_ps);
	test_free(first);
	test_free(second);
}

static void jitter_follows_the_seed(void **state)
{
	uint64_t done_ps[3];

	for (unsigned i = 0; i < 3; i++) {
		struct note *r = note(MEMORY_BUS, 64);
		const uint64_t began_ps = fx.core.now_ps;

		jitter_set(i < 2 ? 7 : 8);
		pcie_read(&fx.hca, &r->dma, 0);
		fx_run();
		done_ps[i] = r->done_ps - began_ps;
		test_free(r);
	}
	assert_int_equal(done_ps[0], done_ps[1]);
	assert_int_not_equal(done_ps[0], done_ps[2]);
}

static void a_tag_is_waited_for(void **state)
{
	struct note *a = note(MEMORY_BUS, 64), *b = note(MEMORY_BUS, 64);

	fx.params.pcie_tags = 1;
	pcie_configure(&fx.hca, 256, 512);
	pcie_read(&fx.hca, &a->dma, 0);
	pcie_read(&fx.hca, &b->dma, 0);
	fx_run();
	assert_int_equal(fx.hca.stats.pcie_tag_stalls, 1);
	assert_int_equal(b->done_ps, a->dma.ready_ps + REQUEST + DEVICE + ROOT + READ);
	test_free(a);
	test_free(b);
}

static void root_with(uint64_t posted_headers, uint64_t posted_data, uint64_t nonposted_headers)
{
	pcie_root_set(&fx.hca, &(struct pcie_root){.posted_headers = posted_headers,
						   .posted_data = posted_data,
						   .nonposted_headers = nonposted_headers,
						   .credit_ps = CREDIT,
						   .latency_ps = ROOT,
						   .read_latency_ps = READ,
						   .write_latency_ps = WRITE});
}

/* How long a write of `len` bytes takes to land when nothing is before it. */
static uint64_t landed(uint32_t len)
{
	struct note *n = note(MEMORY_BUS, len);
	const uint64_t begun = fx.core.now_ps;
	uint64_t took;

	pcie_write(&fx.hca, &n->dma, 0);
	fx_run();
	took = n->done_ps - begun - DEVICE - ROOT - WRITE;
	test_free(n);
	event_core_run_until(&fx.core, fx.core.now_ps + 2 * ROUND); /* until all credits are back */
	return took;
}

static void posted_credits_are_waited_for(void **state)
{
	/* Credits for one header, or for the data of one TLP: each TLP leaves when the credits of
	 * the one before it are back. */
	root_with(1, 0, 0);
	assert_int_equal(landed(256), TLP);
	assert_int_equal(fx.hca.stats.pcie_credit_stalls, 0);
	assert_in_range(landed(1024), 3 * ROUND, 3 * (ROUND + TLP) + TLP);
	assert_int_equal(fx.hca.stats.pcie_credit_stalls, 1);
	root_with(0, 256 / 16, 0);
	assert_int_equal(landed(256), TLP);
	assert_in_range(landed(1024), 3 * (ROUND + TLP) + TLP - 64, 3 * (ROUND + TLP) + TLP + 4);
	/* A data credit is 16 bytes, a header credit one TLP. With few headers the headers
	 * decide. */
	root_with(4, 64, 0);
	assert_in_range(landed(4096), 3 * (ROUND + TLP) + TLP - 256,
			3 * (ROUND + TLP) + 4 * TLP + 4);
	assert_true(fx.hca.stats.pcie_credit_stall_ps > 0);
	/* no limit, or more credits than the link can use */
	fx.hca.stats.pcie_credit_stalls = 0;
	root_with(0, 0, 0);
	assert_int_equal(landed(4096), 572812);
	root_with(127, 2047, 0);
	assert_int_equal(landed(4096), 572812);
	assert_int_equal(fx.hca.stats.pcie_credit_stalls, 0);
}

static void messages_want_credits_too(void **state)
{
	struct note *n = note(MEMORY_BUS, 256);

	root_with(1, 0, 0);
	pcie_write(&fx.hca, &n->dma, 0);
	pcie_message(&fx.hca, 3, 0xfee00000, 1, 0);
	fx_run();
	/* 4 + 26 bytes: 3808 ps */
	assert_in_range(fx.irqs[0].at_ps, ROUND + DEVICE + ROOT + WRITE,
			TLP + ROUND + 3808 + DEVICE + ROOT + WRITE);
	test_free(n);
}

static void nonposted_credits_are_waited_for(void **state)
{
	struct note *a = note(MEMORY_BUS, 64), *b = note(MEMORY_BUS, 64);

	root_with(0, 0, 1);
	pcie_read(&fx.hca, &a->dma, 0);
	pcie_read(&fx.hca, &b->dma, 0);
	fx_run();
	assert_int_equal(a->done_ps, REQUEST + DEVICE + ROOT + READ);
	assert_int_equal(b->done_ps, a->done_ps + REQUEST + ROUND);
	assert_int_equal(fx.hca.stats.pcie_credit_stalls, 1);
	assert_int_equal(fx.hca.stats.pcie_credit_stall_ps, ROUND);
	/* as many credits as tags: a request that has a tag does not wait */
	event_core_run_until(&fx.core, fx.core.now_ps + 2 * ROUND);
	root_with(0, 0, 32);
	pcie_read(&fx.hca, &a->dma, 0);
	pcie_read(&fx.hca, &b->dma, 0);
	fx_run();
	assert_int_equal(b->done_ps, a->done_ps + REQUEST);
	test_free(a);
	test_free(b);
}

/* A request is sent only when the device has room for all its completions. */
static void completions_have_room(void **state)
{
	static const struct {
		uint64_t headers, data;
	} one_request[] = {{2, 32768}, {3, 32768}, {128, 512}, {128, 1023}};

	for (size_t i = 0; i < ARRAY_SIZE(one_request); i++) {
		struct note *a = note(MEMORY_BUS, 512), *b = note(MEMORY_BUS, 512);

		fx.params.pcie_completion_headers = one_request[i].headers;
		fx.params.pcie_completion_data = one_request[i].data;
		pcie_configure(&fx.hca, 256, 512);
		pcie_read(&fx.hca, &a->dma, 0);
		pcie_read(&fx.hca, &b->dma, 0);
		fx_run();
		assert_int_equal(b->done_ps, a->dma.ready_ps + REQUEST + DEVICE + ROOT + READ);
		event_core_run_until(&fx.core, b->dma.ready_ps);
		test_free(a);
		test_free(b);
	}
}

static void the_hosts_writes_want_credits(void **state)
{
	const uint8_t line[64] = {0};
	uint64_t free_ps, one_ps;

	hca_mmio_write(&fx.hca, HCA_BAR_UAR, 0x800, line, sizeof(line));
	hca_mmio_write(&fx.hca, HCA_BAR_UAR, 0x840, line, sizeof(line));
	fx_run();
	free_ps = fx.core.now_ps;
	fx.params.pcie_posted_headers = 1;
	fx.params.pcie_credit_latency = CREDIT;
	pcie_configure(&fx.hca, 256, 512);
	hca_mmio_write(&fx.hca, HCA_BAR_UAR, 0x800, line, sizeof(line));
	hca_mmio_write(&fx.hca, HCA_BAR_UAR, 0x840, line, sizeof(line));
	fx_run();
	one_ps = fx.core.now_ps - free_ps;
	assert_in_range(one_ps - free_ps, ROUND - TLP, ROUND);
	assert_int_equal(fx.hca.stats.pcie_credit_stalls, 1);
}

static void bandwidth_is_the_links(void **state)
{
	enum { N = 100 };
	struct note *n[N];
	uint64_t first, last;

	for (unsigned i = 0; i < N; i++) {
		n[i] = note(MEMORY_BUS, 4096);
		pcie_read(&fx.hca, &n[i]->dma, 0);
	}
	fx_run();
	first = n[0]->dma.ready_ps;
	last = n[N - 1]->dma.ready_ps;
	/* 16 completions for each DMA: (4096 + 16 x 22) bytes take 564687 ps; each is rounded
	 * down */
	assert_in_range(last - first, (N - 1) * (uint64_t)(564687 - 8), (N - 1) * (uint64_t)564688);
	for (unsigned i = 0; i < N; i++)
		test_free(n[i]);
}

static void a_fault_is_a_guest_error(void **state)
{
	struct note *n = note(MEMORY_BUS + MEMORY_SIZE - 32, 64);

	n->dma.what = "payload";
	n->dma.qpn = 0x4a;
	pcie_read(&fx.hca, &n->dma, 0);
	fx_run();
	assert_int_equal(n->dma.status, -EFAULT);
	assert_int_equal(n->calls, 1);
	expect_errors(1, "dma_unmapped");
	assert_non_null(strstr(fx.last_text, "payload"));
	assert_non_null(strstr(fx.last_text, "qpn 4a"));
	assert_non_null(strstr(fx.last_text, "13ffe0"));
	n->calls = 0;
	pcie_write(&fx.hca, &n->dma, 0);
	fx_run();
	assert_int_equal(n->dma.status, -EFAULT);
	expect_errors(2, "dma_unmapped");
	test_free(n);
}

static void bus_master_off(void **state)
{
	struct note *n = note(MEMORY_BUS, 64);

	hca_config_write(&fx.hca, FX_COMMAND, 2, 0x2);
	pcie_read(&fx.hca, &n->dma, 0);
	assert_int_equal(n->calls, 0);
	fx_run();
	assert_int_equal(n->calls, 1);
	assert_int_equal(n->dma.status, -EFAULT);
	expect_errors(1, "bus_master_off");
	pcie_message(&fx.hca, 0, 0xfee00000, 0, 0);
	fx_run();
	assert_int_equal(fx.n_irqs, 0);
	expect_errors(2, "bus_master_off");
	test_free(n);
}

struct answer {
	uint64_t at_ps;
	uint32_t value;
	unsigned calls;
};

static void answered(void *arg, const void *bytes, unsigned size)
{
	struct answer *a = arg;

	a->at_ps = fx.core.now_ps;
	a->value = be32_load(bytes);
	a->calls++;
}

static void host_read_time_and_order(void **state)
{
	const uint8_t value[4] = {1, 2, 3, 4};
	struct answer a = {0};
	struct note *n = note(MEMORY_BUS, 4096);
	/* write: 30 bytes, 3808 ps; read request: 3300; completion of 4 bytes: 26 bytes, 3300 */
	const uint64_t at_device = 3808 + REQUEST + ROOT + DEVICE;

	hca_mmio_write(&fx.hca, 0, BAR0_HCR, value, 4);
	hca_mmio_read(&fx.hca, 0, BAR0_HCR, 4, answered, &a);
	fx_run();
	assert_int_equal(a.value, 0x01020304);
	assert_int_equal(a.at_ps, at_device + 3300 + DEVICE + ROOT);
	assert_int_equal(pcie_pending(&fx.hca), 0);

	/* The completion pushes a write that the device has issued before it. */
	hca_mmio_read(&fx.hca, 0, BAR0_HCR, 4, answered, &a);
	pcie_write(&fx.hca, &n->dma, fx.core.now_ps + 100000);
	fx_run();
	assert_int_equal(a.calls, 2);
	assert_true(a.at_ps >= n->done_ps);
	test_free(n);
}

/* Read requests that could take all tags wait for a later time. A read in between is as fast as if
 * it were alone. */
static void read_later_takes_nothing_before(void **state)
{
	enum { WAITING = 64, AT = 500000000, ALONE = REQUEST + DEVICE + ROOT + READ };
	struct note *later[WAITING], *now = note(MEMORY_BUS, 64);

	for (unsigned i = 0; i < WAITING; i++) {
		later[i] = note(MEMORY_BUS, 64);
		pcie_read_later(&fx.hca, &later[i]->dma, AT);
	}
	pcie_read(&fx.hca, &now->dma, 0);
	assert_int_equal(pcie_pending(&fx.hca), WAITING + 1);
	event_core_run_until(&fx.core, AT - 1);
	assert_int_equal(now->done_ps, ALONE);
	assert_int_equal(later[0]->calls, 0);
	fx_run();
	assert_int_equal(later[0]->done_ps, AT + ALONE);
	assert_int_equal(later[WAITING - 1]->calls, 1);
	assert_int_equal(pcie_pending(&fx.hca), 0);
	pcie_read_later(&fx.hca, &now->dma, 2 * AT);
	pcie_reset(&fx.hca);
	fx_run();
	assert_int_equal(now->calls, 1);
	for (unsigned i = 0; i < WAITING; i++)
		test_free(later[i]);
	test_free(now);
}

static void reset_drops_dma_but_not_the_hosts_accesses(void **state)
{
	struct note *r = note(MEMORY_BUS, 64), *w = note(MEMORY_BUS, 64);
	struct answer a = {0};
	const uint8_t byte = 1;

	pcie_read(&fx.hca, &r->dma, 0);
	pcie_write(&fx.hca, &w->dma, 0);
	pcie_write_small(&fx.hca, MEMORY_BUS, &byte, 1, "small", 0, small_done, NULL);
	hca_mmio_read(&fx.hca, 0, BAR0_HCR, 4, answered, &a);
	small_ps = 0;
	pcie_reset(&fx.hca);
	assert_int_equal(pcie_pending(&fx.hca), 1);
	fx_run();
	assert_int_equal(r->calls + w->calls, 0);
	assert_int_equal(small_ps, 0);
	assert_int_equal(fx.memory[0], 0);
	assert_int_equal(a.calls, 1);
	assert_int_equal(pcie_pending(&fx.hca), 0);
	test_free(r);
	test_free(w);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fx_start, fx_finish)
	const struct CMUnitTest tests[] = {
		T(read_time),
		T(read_at_ready_keeps_the_bytes_of_the_completer),
		T(write_time),
		T(requests_are_cut),
		T(read_does_not_pass_a_write),
		T(writes_land_in_order),
		T(jitter_has_bounds),
		T(jitter_keeps_the_order_of_writes),
		T(jitter_follows_the_seed),
		T(a_judge_delays_writes_in_order),
		T(a_tag_is_waited_for),
		T(posted_credits_are_waited_for),
		T(messages_want_credits_too),
		T(nonposted_credits_are_waited_for),
		T(completions_have_room),
		T(the_hosts_writes_want_credits),
		T(bandwidth_is_the_links),
		T(a_fault_is_a_guest_error),
		T(bus_master_off),
		T(host_read_time_and_order),
		T(read_later_takes_nothing_before),
		T(reset_drops_dma_but_not_the_hosts_accesses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
