// SPDX-License-Identifier: Apache-2.0
/* Guests in simulated time: the test plays the plugin of one or two guests, without QEMU. */
#define _GNU_SOURCE
#include "model/engine/base/event_core.h"
#include "model/vfio_user/guest_clock.h"
#include "model/vfio_user/guest_page.h"
#include "model/vfio_user/tests/client.h"

enum { QUANTUM_MAX_NS = 1000000, QUANTUM_MIN_NS = 100, OWNERSHIP = 0x8069c, VECTOR = 3 };

struct plugin {
	int fd, wake_fd, bell_fd;
	struct guest_page *page;
	const uint8_t *watched;
};

static struct guest_clock *clock_of_test;
static struct plugin plugins[GUEST_CLOCKS_MAX];
static char clock_paths[GUEST_CLOCKS_MAX][108];

static int dial_path(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void plugin_take(struct plugin *p, int fd)
{
	struct guest_hello hello;
	int fds[GUEST_HELLO_FDS];
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(fds))];
	} control;
	struct iovec iov = {&hello, sizeof(hello)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};

	p->fd = fd;
	turn(2);
	assert_int_equal(recvmsg(p->fd, &msg, MSG_DONTWAIT), sizeof(hello));
	assert_string_equal(hello.magic, GUEST_HELLO_MAGIC);
	assert_int_equal(hello.page_size, sizeof(struct guest_page));
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fds));
	p->page = mmap(NULL, sizeof(*p->page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	assert_ptr_not_equal(p->page, MAP_FAILED);
	p->watched = mmap(NULL, GUEST_MEMORY_PAGES, PROT_READ, MAP_SHARED, fds[3], 0);
	assert_ptr_not_equal(p->watched, MAP_FAILED);
	close(fds[0]);
	close(fds[3]);
	p->wake_fd = fds[1];
	p->bell_fd = fds[2];
}

static void plugin_down(struct plugin *p)
{
	if (!p->page)
		return;
	close(p->fd);
	close(p->wake_fd);
	close(p->bell_fd);
	munmap(p->page, sizeof(*p->page));
	munmap((void *)(uintptr_t)p->watched, GUEST_MEMORY_PAGES);
	p->page = NULL;
}

static int clocks_down(void **state)
{
	for (unsigned i = 0; i < GUEST_CLOCKS_MAX; i++)
		plugin_down(&plugins[i]);
	guest_clock_destroy(clock_of_test);
	vfu_server_follow(bench.server, NULL);
	return bench_down(state);
}

/* --- questions --- */

static void question(unsigned guest, uint32_t kind, uint64_t time_ns)
{
	struct guest_page *page = plugins[guest].page;

	page->question.kind = kind;
	page->question.time_ns = time_ns;
	page->question.asked++;
}

static void question_access(unsigned guest, uint32_t kind, uint64_t time_ns, uint32_t device)
{
	struct guest_page *page = plugins[guest].page;

	page->question.device = device;
	page->question.region = R_BAR0;
	page->question.offset = OWNERSHIP;
	page->question.count = 4;
	question(guest, kind, time_ns);
}

static bool is_answered(unsigned guest)
{
	const struct guest_page *page = plugins[guest].page;

	return page->answer.answered == page->question.asked;
}

/* With `guests` clocks. The second guest is let in when the time of the first one has begun. */
static void clocks_up(unsigned guests)
{
	char err[256];
	uint8_t hello;
	int fd;

	clock_of_test = guest_clock_create(bench.server, &bench.core, &bench.config.sim);
	assert_non_null(clock_of_test);
	for (unsigned i = 0; i < guests; i++) {
		snprintf(clock_paths[i], sizeof(clock_paths[i]), "%s/%u.clock", bench.dir, i);
		assert_int_equal(
			guest_clock_listen(clock_of_test, clock_paths[i], err, sizeof(err)), 0);
	}
	for (unsigned i = 0; i < DEVICES; i++)
		guest_clock_attach(clock_of_test, guests == 1 ? 0 : i, &bench.devices[i]);
	vfu_server_follow(bench.server, clock_of_test);
	plugin_take(&plugins[0], dial_path(clock_paths[0]));
	if (guests == 1)
		return;
	fd = dial_path(clock_paths[1]);
	turn(5);
	assert_int_equal(recv(fd, &hello, sizeof(hello), MSG_DONTWAIT | MSG_PEEK), -1);
	question(0, GUEST_TICK, 1);
	turn(2);
	assert_false(is_answered(0));
	plugin_take(&plugins[1], fd);
	question(1, GUEST_TICK, 1);
	turn(2);
	assert_true(is_answered(0) && is_answered(1));
}

/* When the latest access to a device was made. */
static uint64_t accessed_ps(unsigned device)
{
	const struct vfu_device *d = &bench.devices[device];

	assert_true(d->accessed > 0);
	return d->accesses[(d->accessed - 1) % VFU_ACCESSES].time_ps;
}

static void tick(unsigned guest, uint64_t time_ns)
{
	question(guest, GUEST_TICK, time_ns);
	turn(1);
	assert_true(is_answered(guest));
}

/* --- tests --- */

static void the_core_follows_the_guest(void **state)
{
	clocks_up(1);
	turn(10);
	assert_int_equal(bench.core.now_ps, 0);
	tick(0, 5000);
	assert_int_equal(bench.core.now_ps, 5000000);
	assert_in_range(plugins[0].page->answer.next_ns, 5001, 5000 + QUANTUM_MAX_NS);
	assert_int_equal(plugins[0].page->answer.irqs, 0);
	turn(10);
	assert_int_equal(bench.core.now_ps, 5000000);
}

static void raise_vector(struct event *ev)
{
	irqs_msix(&bench.devices[1].irqs, VECTOR);
}

/* The guest stops at the event, and gets the interrupt then. */
static void an_interrupt_comes_in_time(void **state)
{
	struct event ev = {.job = raise_vector};
	const struct guest_page *page;

	clocks_up(1);
	page = plugins[0].page;
	bench.devices[1].irqs.msix[VECTOR].fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	event_set(&bench.core, &ev, 7777200);
	tick(0, 1000);
	assert_int_equal(page->answer.next_ns, 7778);
	tick(0, 7778);
	assert_int_equal(page->answer.irqs, 1);
	assert_int_equal(page->answer.irq[0].device, 1);
	assert_int_equal(page->answer.irq[0].vector, VECTOR);
	tick(0, 8000);
	assert_int_equal(page->answer.irqs, 0);
	/* events that lie close together share a stop */
	event_set(&bench.core, &ev, 8000100);
	tick(0, 8000);
	assert_int_equal(page->answer.next_ns, 8000 + QUANTUM_MIN_NS);
}

static void raise_intx(struct event *ev)
{
	irqs_intx(&bench.devices[1].irqs, true);
}

/* INTx is told as a level, for as long as its eventfd is there, and is never signalled on it. */
static void intx_comes_in_time(void **state)
{
	struct event ev = {.job = raise_intx};
	struct irqs *irqs = &bench.devices[1].irqs;
	const struct guest_page *page;
	uint64_t signals;

	clocks_up(1);
	page = plugins[0].page;
	irqs->intx_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	event_set(&bench.core, &ev, 7777200);
	tick(0, 1000);
	assert_int_equal(page->answer.intx, 0);
	assert_int_equal(page->answer.next_ns, 7778);
	tick(0, 7778);
	assert_int_equal(page->answer.intx, 1 << 1);
	tick(0, 8000);
	assert_int_equal(page->answer.intx, 1 << 1);
	irqs_intx(irqs, false);
	tick(0, 9000);
	assert_int_equal(page->answer.intx, 0);
	irqs_intx(irqs, true);
	assert_int_equal(read(irqs->intx_fd, &signals, sizeof(signals)), -1);
	irqs_clear(irqs);
	tick(0, 10000);
	assert_int_equal(page->answer.intx, 0);
}

/* A read takes PCIe's time, and the guest goes on when its answer is back. */
static void a_read_takes_time(void **state)
{
	const struct guest_page *page;

	clocks_up(1);
	page = plugins[0].page;
	question_access(0, GUEST_READ, 10000, 0);
	turn(1);
	assert_true(is_answered(0));
	assert_int_equal(page->answer.status, 0);
	assert_in_range(page->answer.time_ns, 10000 + 300, 10000 + 2000);
	assert_int_equal((accessed_ps(0) + 999) / 1000, page->answer.time_ns);
	question_access(0, GUEST_WRITE, 20000, 0);
	turn(1);
	assert_int_equal(page->answer.status, 0);
	assert_int_equal(page->answer.time_ns, 20000);
	assert_int_equal(accessed_ps(0), 20000000);
	/* a device that the guest does not have */
	question_access(0, GUEST_READ, 30000, 7);
	turn(1);
	assert_int_equal(page->answer.status, -EINVAL);
}

/* Whoever asks first in wall time, the earlier question is answered first. */
static void the_earlier_question_comes_first(void **state)
{
	clocks_up(2);
	question_access(1, GUEST_WRITE, 200, 1);
	turn(5);
	assert_false(is_answered(1));
	question_access(0, GUEST_WRITE, 150, 0);
	turn(5);
	/* guest 0 runs again and may ask something before 200 ns */
	assert_true(is_answered(0));
	assert_int_equal(accessed_ps(0), 150000);
	assert_false(is_answered(1));
	question(0, GUEST_TICK, 300);
	turn(5);
	assert_true(is_answered(1));
	assert_int_equal(accessed_ps(1), 200000);
}

/* At the same time the first guest comes first. While it reads, the other one is not held up. */
static void a_read_does_not_hold_up_the_other_guest(void **state)
{
	clocks_up(2);
	question_access(1, GUEST_WRITE, 500, 1);
	question_access(0, GUEST_READ, 500, 0);
	turn(5);
	assert_false(is_answered(0));
	assert_true(is_answered(1));
	assert_int_equal(accessed_ps(1), 500000);
	question(1, GUEST_TICK, QUANTUM_MAX_NS);
	turn(5);
	assert_true(is_answered(0));
	assert_in_range(plugins[0].page->answer.time_ns, 800, 2500);
}

/* Both guests tick, the first one perhaps after an access. Returns how much longer they may go on. */
static uint64_t both_tick(uint64_t at_ns, bool access)
{
	question(1, GUEST_TICK, at_ns);
	if (access) {
		question_access(0, GUEST_WRITE, at_ns - 1, 0);
		turn(2);
		assert_true(is_answered(0));
	}
	question(0, GUEST_TICK, at_ns);
	turn(2);
	assert_true(is_answered(0) && is_answered(1));
	assert_int_equal(plugins[0].page->answer.next_ns, plugins[1].page->answer.next_ns);
	return plugins[0].page->answer.next_ns - at_ns;
}

/* Two guests: windows grow while nothing happens, and are short while there are accesses. */
static void windows_fit_the_traffic(void **state)
{
	uint64_t at_ns, length_ns = 0, longest_ns = 0;

	clocks_up(2);
	at_ns = plugins[0].page->answer.next_ns;
	/* the firmware starts meanwhile, which is traffic, too */
	for (unsigned i = 0; i < 60; i++) {
		at_ns += length_ns = both_tick(at_ns, false);
		longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
	}
	assert_in_range(longest_ns, 1000 * QUANTUM_MIN_NS, QUANTUM_MAX_NS);
	for (unsigned i = 0; i < 3; i++)
		at_ns += length_ns = both_tick(at_ns, true);
	assert_in_range(length_ns, 1, 2 * QUANTUM_MIN_NS);
}

static void ends_are_told(void **state)
{
	clocks_up(2);
	question(0, GUEST_END, 700);
	question(1, GUEST_TICK, 800);
	turn(2);
	assert_true(is_answered(0) && is_answered(1));
	plugin_down(&plugins[0]);
	turn(2);
	assert_false(guest_clock_is_over(clock_of_test));
	/* the other one goes on alone */
	tick(1, 900);
	tick(1, 1000);
	question(1, GUEST_END, 1000);
	turn(2);
	assert_true(guest_clock_is_over(clock_of_test));
	assert_null(guest_clock_trouble(clock_of_test));
}

static void a_guest_that_dies_is_told(void **state)
{
	clocks_up(2);
	plugin_down(&plugins[1]);
	turn(2);
	assert_true(guest_clock_is_over(clock_of_test));
	assert_non_null(strstr(guest_clock_trouble(clock_of_test), "guest 1"));
}

static void time_does_not_go_back(void **state)
{
	clocks_up(1);
	tick(0, 1000);
	question(0, GUEST_TICK, 999);
	turn(2);
	assert_non_null(strstr(guest_clock_trouble(clock_of_test), "went back"));
}

/* A held guest is answered, and told to stand still; then nothing is carried out until it goes on,
 * and nothing is lost. */
static void a_held_guest_stands_still(void **state)
{
	clocks_up(2);
	assert_false(guest_clock_go(clock_of_test));
	guest_clock_hold(clock_of_test);
	question(0, GUEST_TICK, 1000);
	question_access(1, GUEST_WRITE, 1500, 1);
	turn(3);
	assert_true(is_answered(0));
	assert_int_equal(plugins[0].page->answer.held, 1);
	assert_true(guest_clock_is_held(clock_of_test));
	assert_false(is_answered(1));
	assert_in_range(bench.core.now_ps, 0, 1000 * 1000);
	assert_true(guest_clock_go(clock_of_test));
	assert_int_equal(plugins[0].page->answer.held, 0);
	assert_false(guest_clock_is_held(clock_of_test));
	question(0, GUEST_TICK, 2000);
	turn(3);
	assert_true(is_answered(1));
	assert_int_equal(plugins[1].page->answer.held, 0);
}

/* --- accesses to memory --- */

static struct {
	unsigned accesses, writes;
	const struct vfu_device *device;
	struct guest_access access;
	struct guest_code code;
	uint64_t offset;
	uint32_t machine;
} heard;

static void hear_access(void *arg, const struct vfu_device *device,
			const struct guest_access *access, const struct guest_code *code,
			uint32_t machine)
{
	heard.accesses++;
	heard.device = device;
	heard.access = *access;
	heard.code = *code;
	heard.machine = machine;
}

static void hear_write(void *arg, const struct vfu_device *device, uint32_t region, uint64_t offset,
		       const void *bytes, uint32_t count, const struct guest_code *code,
		       uint32_t machine)
{
	heard.writes++;
	heard.device = device;
	heard.code = *code;
	heard.offset = offset;
}

static void heard_begin(unsigned guests)
{
	const struct guest_clock_watcher watcher = {NULL, hear_access, hear_write};

	memset(&heard, 0, sizeof(heard));
	clocks_up(guests);
	guest_clock_watch(clock_of_test, &watcher);
}

static void tell(unsigned guest, uint64_t address, uint32_t devices)
{
	struct guest_page *page = plugins[guest].page;

	page->machine = GUEST_AARCH64;
	page->access.address = address;
	page->access.count = 8;
	page->access.store = 1;
	page->access.devices = devices;
	page->access.code = (struct guest_code){0x1234, 5, 6};
	page->access.told++;
}

static bool is_heard(unsigned guest)
{
	return plugins[guest].page->heard == plugins[guest].page->access.told;
}

/* Whatever the other guest does, and no time passes. */
static void an_access_is_heard_at_once(void **state)
{
	uint64_t now_ps;

	heard_begin(2);
	question_access(1, GUEST_WRITE, 200, 1);
	turn(5);
	now_ps = bench.core.now_ps;
	tell(0, 0x5008, 1 << 0 | 1 << 1);
	turn(1);
	assert_true(is_heard(0));
	assert_false(is_answered(1));
	assert_int_equal(bench.core.now_ps, now_ps);
	/* device 1 is the other guest's */
	assert_int_equal(heard.accesses, 1);
	assert_ptr_equal(heard.device, &bench.devices[0]);
	assert_int_equal(heard.access.address, 0x5008);
	assert_int_equal(heard.access.bytes, 8);
	assert_true(heard.access.store);
	assert_int_equal(heard.code.pc, 0x1234);
	assert_int_equal(heard.code.store_fences, 6);
	assert_int_equal(heard.machine, GUEST_AARCH64);
}

/* It keeps the thread from its sleep. */
static void an_access_wakes(void **state)
{
	heard_begin(1);
	assert_true(guest_clock_doze(clock_of_test));
	tell(0, 0x5000, 1);
	assert_false(guest_clock_doze(clock_of_test));
	guest_clock_wake(clock_of_test);
	turn(1);
	assert_true(is_heard(0) && guest_clock_doze(clock_of_test));
}

/* With the guest's instruction, which the device's record of accesses keeps. */
static void a_register_write_is_heard(void **state)
{
	const struct vfu_device *d = &bench.devices[1];

	heard_begin(1);
	plugins[0].page->question.code = (struct guest_code){0x4567, 8, 9};
	question_access(0, GUEST_WRITE, 10000, 1);
	turn(1);
	assert_int_equal(heard.writes, 1);
	assert_ptr_equal(heard.device, d);
	assert_int_equal(heard.offset, OWNERSHIP);
	assert_int_equal(heard.code.load_fences, 8);
	assert_int_equal(d->accesses[(d->accessed - 1) % VFU_ACCESSES].pc, 0x4567);
}

static void calls_are(unsigned guest, uint64_t pc, uint64_t open, uint64_t returned)
{
	struct guest_page *page = plugins[guest].page;

	page->question.code.pc = page->access.code.pc = pc;
	page->calls.open[0] = open;
	page->calls.returned[0] = returned;
}

/* As they were at the last question of the guest that has the device, whatever it does since then. */
static void calls_are_those_of_the_last_question(void **state)
{
	char text[GUEST_CALLS_TEXT];

	clocks_up(2);
	guest_clock_calls(clock_of_test, &bench.devices[0], text);
	assert_string_equal(text, "");
	calls_are(0, 0xffffffffc0000100, 0xffffffffc0000205, 0xffffffffc0000305);
	plugins[0].page->calls.open[1] = 0xffffffffc0000405;
	question(0, GUEST_TICK, 1000);
	question(1, GUEST_TICK, 1000);
	turn(5);
	calls_are(0, 0xffffffffc0000500, 0, 0);
	guest_clock_calls(clock_of_test, &bench.devices[0], text);
	assert_string_equal(text, "code 0xffffffffc0000100, code 0xffffffffc0000204, "
				  "code 0xffffffffc0000404; returned: code 0xffffffffc0000304");
	guest_clock_calls(clock_of_test, &bench.devices[1], text);
	assert_string_equal(text, "");
}

/* The code of a program is no call of the kernel's modules. */
static void all_calls_have_room(void **state)
{
	char text[GUEST_CALLS_TEXT];
	struct guest_calls *calls;

	clocks_up(1);
	calls = &plugins[0].page->calls;
	calls_are(0, 0x7f0000001000, 0, 0xffffffffc0000305);
	question(0, GUEST_TICK, 1000);
	turn(5);
	guest_clock_calls(clock_of_test, &bench.devices[1], text);
	assert_string_equal(text, "returned: code 0xffffffffc0000304");
	for (unsigned i = 0; i < GUEST_CALLS_OPEN; i++)
		calls->open[i] = UINT64_MAX;
	for (unsigned i = 0; i < GUEST_CALLS_RETURNED; i++)
		calls->returned[i] = 0xffffffffc0000305 + i;
	plugins[0].page->question.code.pc = UINT64_MAX;
	question(0, GUEST_TICK, 2000);
	turn(5);
	guest_clock_calls(clock_of_test, &bench.devices[0], text);
	assert_non_null(strstr(text, ", code 0xffffffffc0000313"));
	assert_int_equal(strlen(strstr(text, ", code 0xffffffffc0000313")), 25);
}

static char heard_calls[GUEST_CALLS_TEXT];

static void hear_calls(void *arg, const struct vfu_device *device,
		       const struct guest_access *access, const struct guest_code *code,
		       uint32_t machine)
{
	guest_clock_calls(clock_of_test, device, heard_calls);
}

/* While an access is heard the guest waits there, so its calls are those of the access. */
static void calls_are_those_of_an_access(void **state)
{
	const struct guest_clock_watcher watcher = {.access = hear_calls};

	clocks_up(1);
	guest_clock_watch(clock_of_test, &watcher);
	tell(0, 0x5000, 1);
	calls_are(0, 0xffffffffc0000100, 0xffffffffc0000205, 0);
	turn(1);
	assert_string_equal(heard_calls, "code 0xffffffffc0000100, code 0xffffffffc0000204");
	guest_clock_calls(clock_of_test, &bench.devices[0], heard_calls);
	assert_string_equal(heard_calls, "");
}

static void pages_are_watched(void **state)
{
	const uint8_t *watched;

	heard_begin(1);
	watched = plugins[0].watched;
	guest_clock_watch_page(clock_of_test, &bench.devices[0], 5, true);
	guest_clock_watch_page(clock_of_test, &bench.devices[1], 5, true);
	assert_int_equal(watched[5], 3);
	guest_clock_watch_page(clock_of_test, &bench.devices[0], 5, false);
	assert_int_equal(watched[5], 2);
	assert_int_equal(watched[4], 0);
	guest_clock_watch_page(clock_of_test, &bench.devices[0], GUEST_MEMORY_PAGES, true);
}

static void question_note(unsigned guest, uint32_t kind, uint64_t time_ns)
{
	struct guest_page *page = plugins[guest].page;

	page->question.device = guest;
	page->question.region = R_CONFIG;
	page->question.offset = 4096 - GUEST_NOTE_BYTES + 4;
	page->question.count = 4;
	question(guest, kind, time_ns);
	turn(3);
}

/* What a guest writes at the end of configuration space, the other one reads there, and only it. */
static void guests_have_notes(void **state)
{
	static const uint8_t text[4] = {1, 2, 3, 4}, none[4];

	clocks_up(2);
	memcpy(plugins[0].page->data, text, sizeof(text));
	question_note(0, GUEST_WRITE, 1000);
	question(1, GUEST_TICK, 1100);
	turn(3);
	assert_int_equal(plugins[0].page->answer.status, 0);
	question(0, GUEST_TICK, 1200);
	turn(3);
	question_note(1, GUEST_READ, 1300);
	question_note(0, GUEST_READ, 1400);
	assert_true(is_answered(1));
	assert_memory_equal(plugins[1].page->data, text, sizeof(text));
	question(1, GUEST_TICK, 1500);
	turn(3);
	assert_true(is_answered(0));
	assert_memory_equal(plugins[0].page->data, none, sizeof(none));
}

/* A debugger of the guest lets it go on: it simply asks its next question. */
static void a_held_guest_may_go_on_by_itself(void **state)
{
	clocks_up(1);
	guest_clock_hold(clock_of_test);
	question(0, GUEST_TICK, 1000);
	turn(3);
	assert_true(guest_clock_is_held(clock_of_test));
	question(0, GUEST_TICK, 2000);
	turn(3);
	assert_true(is_answered(0));
	assert_int_equal(plugins[0].page->answer.held, 0);
	assert_false(guest_clock_is_held(clock_of_test));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, bench_up, clocks_down)
	const struct CMUnitTest tests[] = {
		T(the_core_follows_the_guest),
		T(an_interrupt_comes_in_time),
		T(intx_comes_in_time),
		T(a_read_takes_time),
		T(the_earlier_question_comes_first),
		T(a_read_does_not_hold_up_the_other_guest),
		T(windows_fit_the_traffic),
		T(ends_are_told),
		T(a_guest_that_dies_is_told),
		T(time_does_not_go_back),
		T(a_held_guest_stands_still),
		T(a_held_guest_may_go_on_by_itself),
		T(guests_have_notes),
		T(an_access_is_heard_at_once),
		T(an_access_wakes),
		T(a_register_write_is_heard),
		T(calls_are_those_of_the_last_question),
		T(all_calls_have_room),
		T(calls_are_those_of_an_access),
		T(pages_are_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
