// SPDX-License-Identifier: Apache-2.0
/* See kernel.h. */
#include "model/systemc/kernel.h"

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "model/systemc/hca_module.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

using namespace sc_core;
using namespace tlm;

namespace
{

bool report_failed;

void report(const sc_report &r, const sc_actions &actions)
{
	if (r.get_severity() != SC_INFO) {
		fprintf(stderr, "systemc: %s: %s\n", r.get_msg_type(), r.get_msg());
		report_failed = true;
	}
	sc_report_handler::default_handler(r, actions & ~SC_DISPLAY & ~SC_LOG);
}

/* The host's side of the bus: it initiates accesses to the BARs, and is the device's target for
 * memory and interrupts. */
class host_bus : public sc_module
{
      public:
	tlm_utils::simple_initiator_socket<host_bus> config, bar0, bar2;
	tlm_utils::simple_target_socket<host_bus> memory, msi;
	sc_signal<bool, SC_MANY_WRITERS> intx;

	host_bus(sc_module_name name, const kernel_memory &ops, bool dmi)
	    : sc_module(name), config("config"), bar0("bar0"), bar2("bar2"), memory("memory"),
	      msi("msi"), intx("intx"), ops_(ops), dmi_(dmi)
	{
		memory.register_b_transport(this, &host_bus::access_memory);
		memory.register_get_direct_mem_ptr(this, &host_bus::grant_direct);
		msi.register_b_transport(this, &host_bus::message);
		SC_METHOD(intx_changed);
		sensitive << intx;
		dont_initialize();
	}

      private:
	SC_HAS_PROCESS(host_bus);

	void access_memory(tlm_generic_payload &trans, sc_time &)
	{
		const int rc = trans.is_write()
				       ? ops_.write(ops_.ctx, trans.get_address(),
						    trans.get_data_ptr(), trans.get_data_length())
				       : ops_.read(ops_.ctx, trans.get_address(),
						   trans.get_data_ptr(), trans.get_data_length());

		trans.set_response_status(rc ? TLM_ADDRESS_ERROR_RESPONSE : TLM_OK_RESPONSE);
	}

	bool grant_direct(tlm_generic_payload &trans, tlm_dmi &dmi)
	{
		uint64_t start = trans.get_address(), end = start;
		unsigned char *ptr = nullptr;

		if (!dmi_) {
			dmi.set_start_address(0);
			dmi.set_end_address(UINT64_MAX);
			return false;
		}
		if (ops_.range(ops_.ctx, trans.get_address(), &start, &end, &ptr)) {
			dmi.set_start_address(trans.get_address());
			dmi.set_end_address(trans.get_address());
			return false;
		}
		dmi.allow_read_write();
		dmi.set_start_address(start);
		dmi.set_end_address(end);
		dmi.set_dmi_ptr(ptr);
		return true;
	}

	void message(tlm_generic_payload &trans, sc_time &)
	{
		uint32_t data = 0;

		for (unsigned i = 0; i < trans.get_data_length() && i < sizeof(data); i++)
			data |= uint32_t(trans.get_data_ptr()[i]) << (8 * i);
		trans.set_response_status(TLM_OK_RESPONSE);
		ops_.msi(ops_.ctx, trans.get_address(), data);
	}

	void intx_changed()
	{
		ops_.intx(ops_.ctx, intx.read());
	}

	kernel_memory ops_;
	bool dmi_;
};
} // namespace

/* The attribute by which a SystemC process finds its kernel_thread. */
static const char thread_attribute[] = "hcasim_thread";

struct kernel_thread {
	event wake = {}; /* foreign; must be the first member, see thread_wake() */
	sc_event run;
	struct kernel *kernel;
	void (*fn)(void *);
	void *arg;
	void *owner = nullptr;
	bool waiting = true;
	sc_attribute<kernel_thread *> self{thread_attribute, this};
	std::string name;
	unsigned number;
	const void *outermost = nullptr;
	const void *innermost = nullptr; /* while it waits */
};

struct kernel_hca {
	struct kernel *kernel;
	std::unique_ptr<hca_module> module;
	std::unique_ptr<host_bus> bus;
};

struct kernel {
	event_core *core;
	std::unique_ptr<engine_process> engine;
	std::vector<std::unique_ptr<kernel_thread>> threads;
	std::vector<std::unique_ptr<kernel_hca>> hcas;
	kernel_thread *current = nullptr;
};

/* The process that was asked for last, and its thread: the checker asks at each load and store. A
 * new process may have the address of one that is no more. */
static struct {
	const sc_object *process;
	kernel_thread *thread;
} last_asked;

/* SystemC's library needs this symbol. hcasim has its own main() and never calls it. */
int sc_main(int, char **)
{
	return 1;
}

struct kernel *kernel_create(event_core *core, bool run_ahead)
{
	auto *k = new kernel;

	report_failed = false;
	sc_report_handler::set_handler(report);
	k->core = core;
	core->foreign_only = true; /* only such events wake host threads */
	k->engine = std::make_unique<engine_process>("engine", core, run_ahead);
	return k;
}

void kernel_destroy(struct kernel *k)
{
	last_asked = {};
	delete k;
}

static void thread_wake(event *ev)
{
	auto *t = reinterpret_cast<kernel_thread *>(ev);

	if (t->waiting)
		t->run.notify();
}

struct kernel_thread *kernel_thread_start(struct kernel *k, const char *name, void (*fn)(void *),
					  void *arg)
{
	auto owned = std::make_unique<kernel_thread>();
	kernel_thread *t = owned.get();
	sc_spawn_options options;

	t->wake.job = thread_wake;
	t->wake.foreign = true;
	t->kernel = k;
	t->fn = fn;
	t->arg = arg;
	t->name = name;
	k->threads.push_back(std::move(owned));
	t->number = static_cast<unsigned>(k->threads.size());
	/* SystemC warns about illegal names, and a warning fails the run */
	std::string legal(name);

	for (char &c : legal)
		if (!isalnum((unsigned char)c))
			c = '_';
	options.set_stack_size(KERNEL_THREAD_STACK_BYTES);
	options.dont_initialize();
	options.set_sensitivity(&t->run);
	sc_process_handle handle = sc_spawn(
		[t] {
			t->waiting = false;
			t->kernel->current = t;
			t->outermost = __builtin_frame_address(0);
			t->fn(t->arg);
			t->kernel->current = nullptr;
		},
		sc_gen_unique_name(legal.c_str()), &options);
	last_asked = {};
	handle.get_process_object()->add_attribute(t->self);
	kernel_thread_wake(t);
	return t;
}

void kernel_thread_set_owner(struct kernel_thread *t, void *owner)
{
	t->owner = owner;
}

void *kernel_thread_owner(const struct kernel_thread *t)
{
	return t->owner;
}

struct kernel_thread *kernel_thread_running(void)
{
	sc_process_handle handle = sc_get_current_process_handle();
	sc_object *process = handle.valid() ? handle.get_process_object() : nullptr;

	if (process != last_asked.process) {
		sc_attr_base *attribute =
			process ? process->get_attribute(thread_attribute) : nullptr;

		last_asked = {
			process,
			attribute ? static_cast<sc_attribute<kernel_thread *> *>(attribute)->value
				  : nullptr};
	}
	return last_asked.thread;
}

namespace
{
struct thread_unwound {
};
} // namespace

bool kernel_thread_protect(void (*fn)(void *), void *arg)
{
	try {
		fn(arg);
	} catch (const thread_unwound &) {
		return false;
	}
	return true;
}

void kernel_thread_unwind(void)
{
	throw thread_unwound();
}

struct kernel_thread *kernel_thread_self(struct kernel *k)
{
	return k->current;
}

const char *kernel_thread_name(const struct kernel_thread *t)
{
	return t->name.c_str();
}

unsigned kernel_thread_number(const struct kernel_thread *t)
{
	return t->number;
}

const void *kernel_thread_outermost(const struct kernel_thread *t)
{
	return t->outermost;
}

const void *kernel_thread_innermost(const struct kernel_thread *t)
{
	return t->innermost;
}

const struct kernel_thread *kernel_thread_numbered(const struct kernel *k, unsigned number)
{
	return number && number <= k->threads.size() ? k->threads[number - 1].get() : nullptr;
}

void kernel_thread_wait(struct kernel *k)
{
	kernel_thread *self = k->current;

	self->waiting = true;
	self->innermost = __builtin_frame_address(0);
	k->current = nullptr;
	wait(self->run);
	self->innermost = nullptr;
	self->waiting = false;
	k->current = self;
}

void kernel_thread_wake(struct kernel_thread *t)
{
	if (event_is_set(&t->wake))
		return;
	event_set(t->kernel->core, &t->wake, t->kernel->core->now_ps);
	t->kernel->engine->poke();
}

/* SystemC 2.3.4 announces its stack switches to the address sanitizer, except the last one back out
 * of sc_start(). Without this call the leak check at exit would walk the stack of a thread that no
 * longer exists. */
static void announce_own_stack()
{
#ifdef __SANITIZE_ADDRESS__
	pthread_attr_t attr;
	void *bottom, *fake = nullptr;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attr))
		return;
	pthread_attr_getstack(&attr, &bottom, &size);
	pthread_attr_destroy(&attr);
	__sanitizer_start_switch_fiber(&fake, bottom, size);
	__sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
}

enum kernel_end kernel_run(struct kernel *k, uint64_t limit_ps)
{
	k->engine->set_limit(limit_ps);
	try {
		sc_start();
	} catch (const sc_report &) {
		report_failed = true;
	}
	announce_own_stack();
	if (report_failed)
		return KERNEL_FAILED;
	if (k->engine->limit_reached())
		return KERNEL_LIMIT;
	return k->engine->stopped() ? KERNEL_STOPPED : KERNEL_STARVED;
}

void kernel_stop(struct kernel *k)
{
	k->engine->stop();
}

void kernel_interrupt(struct kernel *k)
{
	k->engine->interrupt();
}

struct kernel_hca *kernel_hca_create(struct kernel *k, unsigned index, const hca_params *params,
				     const host_params *host, trace *tr, const char *fw_path,
				     const kernel_memory *memory, bool dmi, char *err,
				     size_t err_size)
{
	auto kh = std::make_unique<kernel_hca>();
	const std::string name = "hca" + std::to_string(index);
	const kernel_memory ops = *memory;

	kh->kernel = k;
	kh->bus = std::make_unique<host_bus>(("host" + std::to_string(index)).c_str(), ops, dmi);
	try {
		kh->module = std::make_unique<hca_module>(name.c_str(), *k->engine, index, params,
							  host, tr, fw_path);
	} catch (const std::runtime_error &e) {
		snprintf(err, err_size, "%s", e.what());
		return nullptr;
	}
	kh->bus->config.bind(kh->module->config);
	kh->bus->bar0.bind(kh->module->bar0);
	kh->bus->bar2.bind(kh->module->bar2);
	kh->module->dma.bind(kh->bus->memory);
	kh->module->msi.bind(kh->bus->msi);
	kh->module->intx.bind(kh->bus->intx);
	kh->module->on_written = [ops](uint64_t bus, size_t len) {
		ops.written(ops.ctx, bus, len);
	};
	kh->module->on_guest_error = [ops](const guest_error &error) {
		ops.guest_error(ops.ctx, &error);
	};
	kh->module->on_catastrophe = [ops](const char *text) { ops.catastrophe(ops.ctx, text); };
	k->hcas.push_back(std::move(kh));
	return k->hcas.back().get();
}

struct hca *kernel_hca_device(struct kernel_hca *kh)
{
	return kh->module->device();
}

void kernel_hca_unmapped(struct kernel_hca *kh, uint64_t start, uint64_t end)
{
	kh->bus->memory->invalidate_direct_mem_ptr(start, end);
}

/* Accesses the device. The calling thread may sleep in here, so `current` is set back to it when it
 * continues. */
static int access_device(struct kernel_hca *kh,
			 tlm_utils::simple_initiator_socket<host_bus> &socket, tlm_command command,
			 uint64_t address, void *bytes, unsigned size)
{
	kernel_thread *self = kh->kernel->current;
	tlm_generic_payload trans;
	sc_time delay = SC_ZERO_TIME;

	trans.set_command(command);
	trans.set_address(address);
	trans.set_data_ptr(static_cast<unsigned char *>(bytes));
	trans.set_data_length(size);
	trans.set_streaming_width(size);
	trans.set_response_status(TLM_INCOMPLETE_RESPONSE);
	socket->b_transport(trans, delay);
	kh->kernel->current = self;
	return trans.is_response_ok() ? 0 : -EINVAL;
}

int kernel_mmio_read(struct kernel_hca *kh, unsigned bar, uint64_t offset, void *bytes,
		     unsigned size)
{
	return access_device(kh, bar == 0 ? kh->bus->bar0 : kh->bus->bar2, TLM_READ_COMMAND, offset,
			     bytes, size);
}

int kernel_mmio_write(struct kernel_hca *kh, unsigned bar, uint64_t offset, const void *bytes,
		      unsigned size)
{
	return access_device(kh, bar == 0 ? kh->bus->bar0 : kh->bus->bar2, TLM_WRITE_COMMAND,
			     offset, const_cast<void *>(bytes), size);
}

uint32_t kernel_config_read(struct kernel_hca *kh, unsigned offset, unsigned size)
{
	unsigned char bytes[4] = {};

	access_device(kh, kh->bus->config, TLM_READ_COMMAND, offset, bytes, size);
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | uint32_t(bytes[3]) << 24;
}

void kernel_config_write(struct kernel_hca *kh, unsigned offset, unsigned size, uint32_t value)
{
	unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8),
				  (unsigned char)(value >> 16), (unsigned char)(value >> 24)};

	access_device(kh, kh->bus->config, TLM_WRITE_COMMAND, offset, bytes, size);
}
