// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plugin for QEMU: it makes the guest's clock and hcasim's simulated time one clock.
 *
 *   qemu-system-x86_64 -icount shift=0,sleep=off -plugin guest-clock.so,socket=PATH[,debugger=on][,watch=on] ...
 *   with vfio-user-pci devices of id hca0 or hca1, offered by hcasim serve --guest-clock PATH
 *
 * With -icount, QEMU's virtual clock counts the guest's instructions. The plugin has a timer on
 * that clock. When the timer expires, and at each access to a device, the plugin tells serve the
 * time and waits. Serve carries out what the device does until then, and answers with the
 * interrupts that rose and the time of the next question. The questions go through shared memory
 * (model/vfio_user/guest_page.h).
 *
 * With watch=on the plugin also tells serve of the loads, stores and calls of drivers
 * (guest_watch.c).
 *
 * Serve may hold the guest: then the plugin does not return from the question. With debugger=on it
 * stops the virtual machine instead, so that a debugger at QEMU's stub gets the guest.
 *
 * QEMU's interface for plugins cannot do this, so the plugin calls functions inside QEMU. Rows
 * below name them. They are no interface: where one is missing or behaves differently, the plugin
 * says so in one line and QEMU does not start. QEMU is under the GPL, and so is this file. It is
 * built by itself and only QEMU loads it.
 *
 * All of this file runs under QEMU's big lock, and the plugin never gives the lock up while it waits. At
 * power-off QEMU waits for a timer's function with that lock held.
 */
#define _GNU_SOURCE
#include "testbench/vm/clock/guest_plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* --- QEMU's interface for plugins --- */

struct plugin_info {
	const char *target;
	struct {
		int min, now;
	} version;
	bool system;
	struct {
		int now, max;
	} processors;
};

EXPORT int qemu_plugin_version = 7;
EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv);
extern void qemu_plugin_register_vcpu_init_cb(plugin_id id, void (*f)(unsigned cpu, void *arg),
					      void *arg);
extern void qemu_plugin_register_atexit_cb(plugin_id id, void (*f)(void *arg), void *arg);

/* --- QEMU's inside --- */

/* name, result, parameters */
/* clang-format off */
#define QEMU_FUNCTIONS(F) \
	F(icount_get, int64_t, (void)) \
	F(timer_init_full, void, (void *timer, void *group, int clock, int scale, int attributes, \
				  void (*f)(void *arg), void *arg)) \
	F(cpus_get_accel, void *, (void)) \
	F(qemu_clock_deadline_ns_all, int64_t, (int clock, int attributes)) \
	F(icount_get_raw, int64_t, (void)) \
	F(qemu_clock_notify, void, (int clock)) \
	F(qemu_shutdown_requested_get, int, (void)) \
	F(timer_mod_ns, void, (void *timer, int64_t expires_ns)) \
	F(vm_stop, int, (int state)) \
	F(object_resolve_path, void *, (const char *path, bool *ambiguous)) \
	F(pci_set_irq, void, (void *pci_device, int level)) \
	F(msix_notify, void, (void *pci_device, unsigned vector))
/* clang-format on */

#define F(name, result, parameters) static result(*name) parameters;
QEMU_FUNCTIONS(F)
#undef F

/* QEMU_CLOCK_VIRTUAL, and the scale of a timer whose unit is the nanosecond */
enum { CLOCK_VIRTUAL = 1, SCALE_NS = 1 };
/* timers but those that concern only the host: without QEMU_TIMER_ATTR_EXTERNAL */
enum { TIMERS_OF_THE_MACHINE = ~1 };
/* RunState of QEMU's interface QMP: stopped by the user */
enum { STATE_PAUSED = 4 };
/* How many words of its accelerator's operations to search. */
enum { ACCELERATOR_WORDS = 32 };
/* at least as large as QEMU's struct of a timer */
struct qemu_timer {
	_Alignas(16) char bytes[128];
};

/* vfio_user_device_io_ops_sock: how a vfio-user device of QEMU talks to its server. */
struct vfio_operations {
	void *other[5];
	int (*read)(void *vfio, uint8_t region, off_t offset, uint32_t count, void *data);
	int (*write)(void *vfio, uint8_t region, off_t offset, uint32_t count, void *data,
		     bool post);
};
static struct vfio_operations *operations, original;

/* timers_state: among other words, what was added to the time that instructions have taken. */
static int64_t *clock_words, *clock_bias;
static unsigned clock_word_count;

/* --- what the plugin knows --- */

/* How far behind the start of a device's object its vfio part may lie. */
enum { DEVICES = 2, OBJECT_SIZE_MAX = 65536 };
/* Some 20 us: longer than most answers take. */
enum { SPINS = 4000 };
/* The first ticks only test that QEMU's timers are exact. */
enum { TEST_TICKS = 10, TEST_TICK_NS = 1000 };

static int link_fd = -1, wake_fd = -1, bell_fd = -1;
static struct guest_page *page;
static const uint8_t *watched_pages;
static struct qemu_timer timer;
static int64_t due_ns; /* when the timer expires */
static unsigned test_ticks;
static pthread_t processor_thread;
static bool debugger; /* the guest's debugger gets the guest when serve holds it */
static bool over;     /* the guest has stopped its processor for good */
static unsigned spins;
static uint32_t intx;          /* bit N: device N asserts INTx */
static const int *icount_mode; /* QEMU's use_icount: 1 with a fixed shift */
static struct {
	uint64_t ticks, accesses, irqs, sleeps, late, told;
} count;

static void say(const char *format, va_list args)
{
	fputs("guest-clock: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

/* In the middle of QEMU, nothing else of it must run any more. */
static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	_exit(1);
}

int refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fputs("guest-clock: this QEMU cannot run in simulated time; leave TIME=simulated away\n",
	      stderr);
	return -1;
}

/* --- questions --- */

static void *device_object(unsigned number)
{
	static void *objects[DEVICES];
	static const char *const paths[DEVICES] = {"/machine/peripheral/hca0",
						   "/machine/peripheral/hca1"};

	if (number < DEVICES && !objects[number])
		objects[number] = object_resolve_path(paths[number], NULL);
	return number < DEVICES ? objects[number] : NULL;
}

/* Tells QEMU which interrupts rose, and which lines of INTx have changed. */
static void irqs_take(void)
{
	const uint32_t changed = intx ^ page->answer.intx;

	intx = page->answer.intx;
	for (uint32_t i = 0; i < page->answer.irqs; i++)
		msix_notify(device_object(page->answer.irq[i].device), page->answer.irq[i].vector);
	count.irqs += page->answer.irqs;
	for (unsigned i = 0; i < DEVICES; i++)
		if (changed >> i & 1)
			pci_set_irq(device_object(i), intx >> i & 1);
}

static uint32_t shared_read(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void shared_write(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static bool is_answered(void)
{
	return shared_read(&page->answer.answered) == page->question.asked;
}

static bool is_heard(void)
{
	return shared_read(&page->heard) == page->access.told;
}

static bool is_released(void)
{
	return !shared_read(&page->answer.held);
}

static void sleep_until(bool (*is_so)(void))
{
	struct pollfd fds[] = {{.fd = wake_fd, .events = POLLIN},
			       {.fd = link_fd, .events = POLLIN}};
	uint64_t signals;

	shared_write(&page->guest_sleeps, 1);
	while (!is_so()) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			die("poll: %s", strerror(errno));
		if (fds[1].revents && !is_so())
			die("hcasim serve has ended, so the guest ends, at %lld ns",
			    (long long)page->question.time_ns);
		if (fds[0].revents)
			(void)!read(wake_fd, &signals, sizeof(signals));
	}
	shared_write(&page->guest_sleeps, 0);
}

/* Serve holds the guest. */
static void stand_still(void)
{
	if (debugger)
		vm_stop(STATE_PAUSED);
	else
		sleep_until(is_released);
}

static void spin_pause(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* One more question, or one more access. Returns when serve has done with it. */
static void serve_awaits(uint32_t *word, bool (*is_done)(void))
{
	const uint64_t one = 1;

	shared_write(word, *word + 1);
	if (shared_read(&page->server_sleeps))
		(void)!write(bell_fd, &one, sizeof(one));
	for (unsigned i = 0; i < spins && !is_done(); i++)
		spin_pause();
	if (!is_done()) {
		count.sleeps++;
		sleep_until(is_done);
	}
}

/* Asks, waits, and does what the answer says. The rest of the question has been filled in. */
static void ask(uint32_t kind, int64_t now_ns)
{
	page->question.kind = kind;
	page->question.time_ns = (uint64_t)now_ns;
	serve_awaits(&page->question.asked, is_answered);
	irqs_take();
	if (page->answer.held)
		stand_still();
}

/* Not under QEMU's big lock: in the middle of the guest's code. */
void access_tell(uint64_t address, uint32_t bytes, bool store, const struct guest_code *code)
{
	if (address / GUEST_MEMORY_PAGE >= GUEST_MEMORY_PAGES)
		return;
	page->access.devices = watched_pages[address / GUEST_MEMORY_PAGE];
	if (!page->access.devices)
		return;
	page->access.address = address;
	page->access.count = bytes;
	page->access.store = store;
	page->access.code = *code;
	count.told++;
	serve_awaits(&page->access.told, is_heard);
}

/* --- the clock --- */

/*
 * Finds the bias of QEMU's virtual clock among the words of timers_state: adds to each for a moment
 * and looks whether the clock moves, but not the number of instructions. An even number, because an
 * odd one in a sequence lock means that somebody writes, and icount_get() would wait for ever.
 */
static int bias_find(void)
{
	enum { TRIAL = 2 };
	const int64_t now_ns = icount_get(), instructions = icount_get_raw();

	for (unsigned i = 0; i < clock_word_count && !clock_bias; i++) {
		clock_words[i] += TRIAL;
		if (icount_get() == now_ns + TRIAL && icount_get_raw() == instructions)
			clock_bias = &clock_words[i];
		clock_words[i] -= TRIAL;
	}
	return clock_bias ? 0 : refuse("QEMU's clock has no bias");
}

static void bias_add(int64_t by_ns)
{
	__atomic_store_n(clock_bias, *clock_bias + by_ns, __ATOMIC_SEQ_CST);
}

/* The processor waits for the answer of a read: moves the clock without an instruction. */
static void clock_advance(int64_t to_ns)
{
	const int64_t by_ns = to_ns - icount_get();

	if (by_ns <= 0)
		return;
	bias_add(by_ns);
	/* what the processor may still run until the next timer has become less */
	qemu_clock_notify(CLOCK_VIRTUAL);
}

/*
 * QEMU asks whether the processor's thread may sleep, because the guest is idle. Otherwise QEMU's
 * main thread would now move the clock to the next timer; but it may do so when it sees the
 * processor halted and before the last instructions are counted, and the clock would go too far. So
 * the processor's own thread moves the clock here, when they are counted, and does not sleep.
 */
static bool processor_may_sleep(void *cpu)
{
	int64_t left_ns;

	if (!pthread_equal(pthread_self(), processor_thread))
		return false;
	over = over || qemu_shutdown_requested_get();
	left_ns = qemu_clock_deadline_ns_all(CLOCK_VIRTUAL, TIMERS_OF_THE_MACHINE);
	if (over || left_ns < 0)
		return true;
	bias_add(left_ns);
	return false;
}

/* The place for it in the accelerator's operations is the one behind a function known by name. */
static int idle_take(void)
{
	void **word = cpus_get_accel();
	void *kick = dlsym(RTLD_DEFAULT, "rr_kick_vcpu_thread");

	for (unsigned i = 0; kick && i < ACCELERATOR_WORDS; i++) {
		if (word[i] != kick || word[i + 1])
			continue;
		word[i + 1] = (void *)(uintptr_t)processor_may_sleep;
		return 0;
	}
	return refuse("QEMU's accelerator has no place for a function about idle processors");
}

static void timer_set(int64_t at_ns)
{
	due_ns = at_ns;
	timer_mod_ns(&timer, at_ns);
}

/* --- ticks --- */

static void test_tick(int64_t now_ns)
{
	if (now_ns != due_ns) {
		refuse("a timer for %lld ns expired at %lld ns", (long long)due_ns,
		       (long long)now_ns);
		_exit(1);
	}
	test_ticks++;
	timer_set(now_ns + TEST_TICK_NS);
}

static void tick(void *arg)
{
	const int64_t now_ns = icount_get();

	if (test_ticks < TEST_TICKS) {
		test_tick(now_ns);
		return;
	}
	/* QEMU runs on until it notices, for a time that is never the same */
	over = over || qemu_shutdown_requested_get();
	if (over)
		return;
	count.ticks++;
	count.late += now_ns != due_ns;
	ask(GUEST_TICK, now_ns);
	timer_set((int64_t)page->answer.next_ns);
}

static void processor_begins(unsigned cpu, void *arg)
{
	if (cpu)
		die("a guest in simulated time has one processor (-smp 1)");
	if (*icount_mode != 1)
		die("it needs -icount shift=N,sleep=off");
	processor_thread = pthread_self();
	watch_begin();
	if (bias_find() || idle_take())
		_exit(1);
	timer_init_full(&timer, NULL, CLOCK_VIRTUAL, SCALE_NS, 0, tick, NULL);
	timer_set(icount_get() + TEST_TICK_NS);
}

static void at_exit(void *arg)
{
	struct pollfd fd = {.fd = link_fd, .events = POLLIN};

	if (poll(&fd, 1, 0) > 0)
		die("hcasim serve has ended before the guest");
	/* the time of the last question: that now is never the same */
	ask(GUEST_END, (int64_t)page->question.time_ns);
	fprintf(stderr,
		"guest-clock: %llu ticks (%llu late), %llu accesses, %llu interrupts, %llu answers "
		"slept for, %llu loads and stores, end at %lld ns\n",
		(unsigned long long)count.ticks, (unsigned long long)count.late,
		(unsigned long long)count.accesses, (unsigned long long)count.irqs,
		(unsigned long long)count.sleeps, (unsigned long long)count.told,
		(long long)page->question.time_ns);
}

/* --- accesses --- */

/* The number of the device whose vfio part this is, or -1. */
static int device_number(const char *vfio)
{
	for (int i = 0; i < DEVICES; i++) {
		const char *object = device_object((unsigned)i);

		if (object && vfio >= object && vfio < object + OBJECT_SIZE_MAX)
			return i;
	}
	return -1;
}

/* Returns false for a device that is not simulated, or an access that serve cannot take. */
static bool access_ask(uint32_t kind, void *vfio, uint8_t region, off_t offset, uint32_t bytes)
{
	const int device = device_number(vfio);

	if (device < 0 || bytes > sizeof(page->data))
		return false;
	page->question.device = (uint32_t)device;
	page->question.region = region;
	page->question.offset = (uint64_t)offset;
	page->question.count = bytes;
	watch_code(&page->question.code);
	count.accesses++;
	ask(kind, icount_get());
	clock_advance((int64_t)page->answer.time_ns);
	if (test_ticks == TEST_TICKS && (int64_t)page->answer.next_ns != due_ns)
		timer_set((int64_t)page->answer.next_ns);
	return true;
}

static int region_read(void *vfio, uint8_t region, off_t offset, uint32_t bytes, void *data)
{
	if (!access_ask(GUEST_READ, vfio, region, offset, bytes))
		return original.read(vfio, region, offset, bytes, data);
	if (page->answer.status)
		return page->answer.status;
	memcpy(data, page->data, bytes);
	return (int)bytes;
}

static int region_write(void *vfio, uint8_t region, off_t offset, uint32_t bytes, void *data,
			bool post)
{
	if (bytes <= sizeof(page->data))
		memcpy(page->data, data, bytes);
	if (!access_ask(GUEST_WRITE, vfio, region, offset, bytes))
		return original.write(vfio, region, offset, bytes, data, post);
	return page->answer.status ? page->answer.status : (int)bytes;
}

/* --- loading --- */

static int functions_find(void)
{
#define F(name, result, parameters)                                                                \
	name = (result(*) parameters)(uintptr_t)dlsym(RTLD_DEFAULT, #name);                        \
	if (!name)                                                                                 \
		return refuse("QEMU has no function " #name);
	QEMU_FUNCTIONS(F)
#undef F
	return 0;
}

static int clock_words_find(void)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	clock_words = dlsym(RTLD_DEFAULT, "timers_state");
	if (!clock_words || !dladdr1(clock_words, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
	    !symbol)
		return refuse("QEMU has no timers_state");
	clock_word_count = (unsigned)(symbol->st_size / sizeof(*clock_words));
	return 0;
}

/* Puts this plugin's functions in the place of those that send an access over the socket. */
static int operations_take(void)
{
	static const char name[] = "vfio_user_device_io_ops_sock";
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	operations = dlsym(RTLD_DEFAULT, name);
	if (!operations)
		return refuse("QEMU has no %s: it has no vfio-user devices", name);
	if (!dladdr1(operations, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol ||
	    symbol->st_size != sizeof(*operations))
		return refuse("QEMU's %s has %u bytes, and %u were expected", name,
			      symbol ? (unsigned)symbol->st_size : 0,
			      (unsigned)sizeof(*operations));
	original = *operations;
	if (!original.read || !original.write)
		return refuse("QEMU's %s has no functions for accesses", name);
	operations->read = region_read;
	operations->write = region_write;
	return 0;
}

static int hello_check(const struct guest_hello *hello, const struct msghdr *msg)
{
	const struct cmsghdr *header = CMSG_FIRSTHDR(msg);

	if (memcmp(hello->magic, GUEST_HELLO_MAGIC, sizeof(hello->magic)) ||
	    hello->version != GUEST_PAGE_VERSION || hello->page_size != sizeof(struct guest_page))
		return refuse("hcasim serve and this plugin are of different versions");
	if (!header || header->cmsg_type != SCM_RIGHTS ||
	    header->cmsg_len != CMSG_LEN(GUEST_HELLO_FDS * sizeof(int)))
		return refuse("hcasim serve sent no memory");
	return 0;
}

static int hello_receive(void)
{
	struct guest_hello hello = {.version = 0};
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

	if (recvmsg(link_fd, &msg, MSG_WAITALL | MSG_CMSG_CLOEXEC) != sizeof(hello))
		return refuse("hcasim serve wants no further guest");
	if (hello_check(&hello, &msg))
		return -1;
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fds));
	wake_fd = fds[1];
	bell_fd = fds[2];
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	watched_pages = mmap(NULL, GUEST_MEMORY_PAGES, PROT_READ, MAP_SHARED, fds[3], 0);
	close(fds[0]);
	close(fds[3]);
	return page == MAP_FAILED || watched_pages == MAP_FAILED
		       ? refuse("mmap: %s", strerror(errno))
		       : 0;
}

static int link_open(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return refuse("socket=%s is too long", path);
	strcpy(address.sun_path, path);
	link_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (link_fd < 0 || connect(link_fd, (const struct sockaddr *)&address, sizeof(address)))
		return refuse("socket=%s: %s", path, strerror(errno));
	return hello_receive();
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc, char **argv)
{
	const char *path = NULL;
	bool watch = false;

	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "debugger=on"))
			debugger = true;
		else if (!strcmp(argv[i], "watch=on"))
			watch = true;
		else if (!strncmp(argv[i], "socket=", strlen("socket=")))
			path = argv[i] + strlen("socket=");
		else
			return refuse("expected socket=PATH, debugger=on or watch=on, got %s",
				      argv[i]);
	}
	if (!path)
		return refuse("expected socket=PATH");
	if (!info->system || (strcmp(info->target, "x86_64") && strcmp(info->target, "aarch64")))
		return refuse("it serves whole x86_64 and aarch64 machines, and this is %s",
			      info->target);
	icount_mode = dlsym(RTLD_DEFAULT, "use_icount");
	if (!icount_mode)
		return refuse("QEMU has no use_icount");
	if (functions_find() || clock_words_find() || operations_take() || link_open(path))
		return -1;
	if (watch && watch_install(id, info->target, page))
		return -1;
	spins = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? SPINS : 0;
	qemu_plugin_register_vcpu_init_cb(id, processor_begins, NULL);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
