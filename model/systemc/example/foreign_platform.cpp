// SPDX-License-Identifier: Apache-2.0
/* See foreign_platform.hpp. */
#include "model/systemc/example/foreign_platform.hpp"

#include "model/interface/regs.h"

#include <cctype>
#include <cerrno>
#include <cstring>

using namespace sc_core;
using namespace tlm;

struct platform_waitq {
	sc_event event;
};

namespace
{
enum { CONFIG = 16, VECTORS = 64, LINE = 64, STACK_BYTES = 1 << 20 };

constexpr uint64_t MSI_ADDRESS = 0xfee00000;

uint64_t now_ps()
{
	return sc_time_stamp().value();
}

foreign_cpu &cpu_of(platform *p);

uint32_t op_config_read(platform *p, unsigned offset, unsigned size)
{
	unsigned char b[4] = {};

	cpu_of(p).access(CONFIG, TLM_READ_COMMAND, offset, b, size);
	return b[0] | b[1] << 8 | b[2] << 16 | uint32_t(b[3]) << 24;
}

void op_config_write(platform *p, unsigned offset, unsigned size, uint32_t value)
{
	unsigned char b[4] = {(unsigned char)value, (unsigned char)(value >> 8),
			      (unsigned char)(value >> 16), (unsigned char)(value >> 24)};

	cpu_of(p).access(CONFIG, TLM_WRITE_COMMAND, offset, b, size);
}

void op_mmio_read(platform *p, unsigned bar, uint64_t offset, void *bytes, unsigned size)
{
	cpu_of(p).access(bar, TLM_READ_COMMAND, offset, bytes, size);
}

void op_mmio_write(platform *p, unsigned bar, uint64_t offset, const void *bytes, unsigned size)
{
	cpu_of(p).access(bar, TLM_WRITE_COMMAND, offset, const_cast<void *>(bytes), size);
}

void op_mmio_copy64(platform *p, unsigned bar, uint64_t offset, const void *line)
{
	op_mmio_write(p, bar, offset, line, LINE);
}

void *op_pages_alloc(platform *p, size_t bytes, uint64_t *bus)
{
	void *addr = cpu_of(p).memory.allocate(bytes);

	if (addr)
		*bus = cpu_of(p).memory.bus(addr);
	return addr;
}

void op_pages_free(platform *, void *, size_t)
{
}

void *op_user_alloc(platform *p, size_t bytes)
{
	return cpu_of(p).memory.allocate(bytes);
}

void op_user_free(platform *, void *, size_t)
{
}

uint64_t op_dma_map(platform *p, void *addr, size_t)
{
	return cpu_of(p).memory.bus(addr);
}

void op_dma_unmap(platform *, uint64_t, size_t)
{
}

int op_irq_request(platform *p, unsigned vector, void (*handler)(void *), void *arg)
{
	if (vector >= VECTORS)
		return -EINVAL;
	cpu_of(p).handlers[vector] = {handler, arg};
	return 0;
}

void op_irq_free(platform *p, unsigned vector)
{
	cpu_of(p).handlers.erase(vector);
}

void op_msi_message(platform *, unsigned vector, uint64_t *address, uint32_t *data)
{
	*address = MSI_ADDRESS;
	*data = vector;
}

uint64_t op_now(platform *)
{
	return now_ps();
}

void op_sleep(platform *, uint64_t ps)
{
	wait(sc_time::from_value(ps));
}

bool op_wait_write(platform *p, const void *, size_t, uint64_t deadline_ps)
{
	return cpu_of(p).wait_for(cpu_of(p).memory.written, deadline_ps);
}

void op_thread_start(platform *p, const char *name, void (*fn)(void *), void *arg)
{
	cpu_of(p).run(name, fn, arg);
}

platform_waitq *op_waitq_create(platform *)
{
	return new platform_waitq;
}

void op_waitq_destroy(platform *, platform_waitq *q)
{
	delete q;
}

bool op_waitq_wait(platform *p, platform_waitq *q, uint64_t deadline_ps)
{
	return cpu_of(p).wait_for(q->event, deadline_ps);
}

void op_waitq_wake_all(platform *, platform_waitq *q)
{
	q->event.notify(SC_ZERO_TIME);
}

void op_trace_call(platform *, const platform_call *)
{
}

bool op_trace_on(platform *)
{
	return false;
}

platform_ops make_ops()
{
	platform_ops o = {};

	o.config_read = op_config_read;
	o.config_write = op_config_write;
	o.mmio_read = op_mmio_read;
	o.mmio_write = op_mmio_write;
	o.mmio_copy64 = op_mmio_copy64;
	o.pages_alloc = op_pages_alloc;
	o.pages_free = op_pages_free;
	o.user_alloc = op_user_alloc;
	o.user_free = op_user_free;
	o.dma_map = op_dma_map;
	o.dma_unmap = op_dma_unmap;
	o.irq_request = op_irq_request;
	o.irq_free = op_irq_free;
	o.msi_message = op_msi_message;
	o.now_ps = op_now;
	o.sleep_ps = op_sleep;
	o.cpu_ps = op_sleep;
	o.wait_write = op_wait_write;
	o.thread_start = op_thread_start;
	o.waitq_create = op_waitq_create;
	o.waitq_destroy = op_waitq_destroy;
	o.waitq_wait = op_waitq_wait;
	o.waitq_wake_all = op_waitq_wake_all;
	o.trace_call = op_trace_call;
	o.trace_on = op_trace_on;
	return o;
}

const platform_ops ops = make_ops();

/* struct platform stands in foreign_cpu; this finds the way back. */
std::map<platform *, foreign_cpu *> &cpus()
{
	static std::map<platform *, foreign_cpu *> map;

	return map;
}

foreign_cpu &cpu_of(platform *p)
{
	return *cpus().at(p);
}
} // namespace

foreign_memory::foreign_memory(sc_module_name name, size_t bytes)
    : sc_module(name), socket("socket"), bytes_(bytes)
{
	socket.register_b_transport(this, &foreign_memory::b_transport);
}

unsigned char *foreign_memory::allocate(size_t bytes)
{
	const size_t pages =
		(bytes + PLATFORM_PAGE_SIZE - 1) / PLATFORM_PAGE_SIZE * PLATFORM_PAGE_SIZE;

	if (pages > bytes_.size() - next_)
		return nullptr;
	next_ += pages;
	return bytes_.data() + next_ - pages;
}

/* The device may be ahead of SystemC's time by `delay`: whoever waits for the write wakes then. */
void foreign_memory::b_transport(tlm_generic_payload &trans, sc_time &delay)
{
	const uint64_t offset = trans.get_address() - BASE;

	if (trans.get_address() < BASE || offset > bytes_.size() ||
	    trans.get_data_length() > bytes_.size() - offset) {
		trans.set_response_status(TLM_ADDRESS_ERROR_RESPONSE);
		return;
	}
	if (trans.is_write()) {
		memcpy(bytes_.data() + offset, trans.get_data_ptr(), trans.get_data_length());
		written.notify(delay);
	} else {
		memcpy(trans.get_data_ptr(), bytes_.data() + offset, trans.get_data_length());
	}
	trans.set_response_status(TLM_OK_RESPONSE);
}

foreign_cpu::foreign_cpu(sc_module_name name, unsigned number, foreign_memory &mem)
    : sc_module(name), config("config"), bar0("bar0"), bar2("bar2"), msi("msi"), intx("intx"),
      memory(mem)
{
	platform_ = {};
	platform_.ops = &ops;
	platform_.host = number;
	platform_.msix_vectors = VECTORS;
	platform_.pci_id = HCA_PCI_DEVICE << 16 | HCA_PCI_VENDOR;
	cpus()[&platform_] = this;
	msi.register_b_transport(this, &foreign_cpu::message);
	sc_spawn([this] { interrupts(); });
}

void foreign_cpu::run(const char *name, void (*fn)(void *), void *arg)
{
	sc_spawn_options options;

	std::string legal(name); /* SystemC takes no dots */

	for (char &c : legal)
		if (!isalnum((unsigned char)c))
			c = '_';
	options.set_stack_size(STACK_BYTES);
	sc_spawn([fn, arg] { fn(arg); }, sc_gen_unique_name(legal.c_str()), &options);
}

void foreign_cpu::access(unsigned space, tlm_command command, uint64_t address, void *bytes,
			 unsigned size)
{
	tlm_generic_payload trans;
	sc_time delay = SC_ZERO_TIME;

	trans.set_command(command);
	trans.set_address(address);
	trans.set_data_ptr(static_cast<unsigned char *>(bytes));
	trans.set_data_length(size);
	trans.set_streaming_width(size);
	if (space == CONFIG)
		config->b_transport(trans, delay);
	else if (space == 0)
		bar0->b_transport(trans, delay);
	else
		bar2->b_transport(trans, delay);
	if (!trans.is_response_ok() && command == TLM_READ_COMMAND)
		memset(bytes, 0xff, size);
	wait(delay);
}

bool foreign_cpu::wait_for(sc_event &event, uint64_t deadline_ps)
{
	if (deadline_ps == UINT64_MAX) {
		wait(event);
		return true;
	}
	if (deadline_ps <= now_ps())
		return false;
	wait(sc_time::from_value(deadline_ps - now_ps()), event);
	return now_ps() < deadline_ps;
}

void foreign_cpu::message(tlm_generic_payload &trans, sc_time &delay)
{
	if (trans.get_address() == MSI_ADDRESS && trans.get_data_ptr()[0] < VECTORS) {
		pending_.push_back(trans.get_data_ptr()[0]);
		interrupt_.notify(delay);
	}
	trans.set_response_status(TLM_OK_RESPONSE);
}

void foreign_cpu::interrupts()
{
	for (;;) {
		while (pending_.empty())
			wait(interrupt_);

		const auto it = handlers.find(pending_.front());

		pending_.erase(pending_.begin());
		if (it != handlers.end())
			it->second.fn(it->second.arg);
	}
}
