// SPDX-License-Identifier: Apache-2.0
/* See hca_module.hpp. */
#include "model/systemc/hca_module.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

using namespace sc_core;
using namespace tlm;

namespace
{
enum { CONFIG, BAR0, BAR2 };

enum { CONFIG_SPACE = 4096, MMIO_MAX = 64 };

struct read_wait {
	event wake; /* foreign: lets the waiting thread run */
	sc_event *done;
	event_core *core;
	unsigned char bytes[MMIO_MAX];
};

void read_wake(event *ev)
{
	reinterpret_cast<read_wait *>(ev)->done->notify();
}

void read_done(void *arg, const void *bytes, unsigned size)
{
	auto *rw = static_cast<read_wait *>(arg);

	memcpy(rw->bytes, bytes, size);
	event_set(rw->core, &rw->wake, rw->core->now_ps);
}
} // namespace

hca_module::hca_module(sc_module_name name, engine_process &engine, unsigned index,
		       const hca_params *params, const host_params *host, ::trace *tr,
		       const char *fw_path)
    : sc_module(name), config("config"), bar0("bar0"), bar2("bar2"), dma("dma"), msi("msi"),
      intx("intx"), engine_(engine)
{
	const hca_env env = make_env();
	char err[256] = "";

	config.register_b_transport(this, &hca_module::b_transport, CONFIG);
	bar0.register_b_transport(this, &hca_module::b_transport, BAR0);
	bar2.register_b_transport(this, &hca_module::b_transport, BAR2);
	dma.register_invalidate_direct_mem_ptr(this, &hca_module::invalidate_direct_mem_ptr);
	hca_ = hca_create(index, params, host, engine.core(), &env, tr, fw_path, err, sizeof(err));
	if (!hca_)
		throw std::runtime_error(err);
}

hca_module::~hca_module()
{
	hca_destroy(hca_);
}

void hca_module::bind_link(unsigned port, hca_module &peer, unsigned peer_port, fault_plan *plan)
{
	hca_link(hca_, port, peer.hca_, peer_port, plan);
}

void hca_module::b_transport(int which, tlm_generic_payload &trans, sc_time &delay)
{
	if (trans.get_byte_enable_ptr()) {
		trans.set_response_status(TLM_BYTE_ENABLE_ERROR_RESPONSE);
		return;
	}
	engine_.catch_up(delay);
	trans.set_response_status(TLM_OK_RESPONSE);
	if (which == CONFIG)
		access_config(trans);
	else
		access_bar(which == BAR0 ? 0 : 2, trans, delay);
	engine_.poke();
}

void hca_module::access_config(tlm_generic_payload &trans)
{
	const uint64_t offset = trans.get_address();
	const unsigned size = trans.get_data_length();
	unsigned char *bytes = trans.get_data_ptr();

	if (offset >= CONFIG_SPACE || (size != 1 && size != 2 && size != 4) || offset % size) {
		trans.set_response_status(TLM_ADDRESS_ERROR_RESPONSE);
	} else if (trans.is_write()) {
		uint32_t value = 0;

		for (unsigned i = 0; i < size; i++)
			value |= uint32_t(bytes[i]) << (8 * i);
		hca_config_write(hca_, offset, size, value);
	} else {
		const uint32_t value = hca_config_read(hca_, offset, size);

		for (unsigned i = 0; i < size; i++)
			bytes[i] = value >> (8 * i);
	}
}

void hca_module::access_bar(unsigned bar, tlm_generic_payload &trans, sc_time &delay)
{
	const uint64_t offset = trans.get_address();
	const unsigned size = trans.get_data_length();

	if (size == 0 || size > MMIO_MAX || offset % MMIO_MAX + size > MMIO_MAX) {
		trans.set_response_status(TLM_BURST_ERROR_RESPONSE);
		return;
	}
	if (trans.is_write()) {
		hca_mmio_write(hca_, bar, offset, trans.get_data_ptr(), size);
		return;
	}

	sc_event done;
	read_wait rw = {};

	rw.wake.job = read_wake;
	rw.wake.foreign = true;
	rw.done = &done;
	rw.core = engine_.core();
	hca_mmio_read(hca_, bar, offset, size, read_done, &rw);
	engine_.poke();
	wait(done);
	memcpy(trans.get_data_ptr(), rw.bytes, size);
	delay = SC_ZERO_TIME; /* the wait took longer than the initiator's own delay */
}

void hca_module::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end)
{
	for (auto &range : ranges_)
		if (range.start <= end && start <= range.end)
			range = dmi_range();
	if (asked_.start <= end && start <= asked_.end)
		asked_ = dmi_range();
	for (auto &range : denied_)
		if (range.start <= end && start <= range.end)
			range = dmi_range();
}

/* Not inlined, so that a DMA that finds its range does not pay for the stack frame of these
 * objects. */
bool __attribute__((noinline)) hca_module::direct_ask(uint64_t bus, dmi_range &slot, bool write)
{
	dmi_range &denied = denied_[(bus >> SLOT_SHIFT) % denied_.size()];
	tlm_generic_payload trans;
	tlm_dmi dmi;

	if (bus >= asked_.start && bus <= asked_.end) {
		slot = asked_;
		return true;
	}
	if (bus >= denied.start && bus <= denied.end)
		return false;
	trans.set_address(bus);
	trans.set_command(write ? TLM_WRITE_COMMAND : TLM_READ_COMMAND);
	if (!dma->get_direct_mem_ptr(trans, dmi)) {
		denied.start = dmi.get_start_address();
		denied.end = dmi.get_end_address();
		return false;
	}
	slot.start = dmi.get_start_address();
	slot.end = dmi.get_end_address();
	slot.ptr = dmi.get_dmi_ptr();
	slot.readable = dmi.is_read_allowed();
	slot.writable = dmi.is_write_allowed();
	asked_ = slot;
	return true;
}

inline unsigned char *hca_module::direct(uint64_t bus, size_t len, bool write)
{
	dmi_range &slot = ranges_[(bus >> SLOT_SHIFT) % ranges_.size()];

	if (bus < slot.start || bus + len - 1 > slot.end) {
		if (!direct_ask(bus, slot, write) || bus + len - 1 > slot.end)
			return nullptr;
	}
	if (write ? !slot.writable : !slot.readable)
		return nullptr;
	return slot.ptr + (bus - slot.start);
}

sc_time hca_module::ahead_of_systemc() const
{
	const uint64_t now = sc_now_ps(), ahead = engine_.core()->now_ps;

	return sc_time::from_value(ahead > now ? ahead - now : 0);
}

int hca_module::transfer(tlm_command command, uint64_t bus, void *buf, size_t len)
{
	sc_time delay = ahead_of_systemc();
	tlm_generic_payload trans;

	trans.set_command(command);
	trans.set_address(bus);
	trans.set_data_ptr(static_cast<unsigned char *>(buf));
	trans.set_data_length(len);
	trans.set_streaming_width(len);
	trans.set_response_status(TLM_INCOMPLETE_RESPONSE);
	engine_.foreign_activity();
	dma->b_transport(trans, delay);
	return trans.is_response_ok() ? 0 : -EFAULT;
}

hca_env hca_module::make_env()
{
	hca_env env = {};

	env.ctx = this;
	env.dma_read = [](void *ctx, uint64_t bus, void *buf, size_t len) {
		auto *self = static_cast<hca_module *>(ctx);

		if (const unsigned char *ptr = self->direct(bus, len, false)) {
			memcpy(buf, ptr, len);
			return 0;
		}
		return self->transfer(TLM_READ_COMMAND, bus, buf, len);
	};
	env.dma_write = [](void *ctx, uint64_t bus, const void *buf, size_t len) {
		auto *self = static_cast<hca_module *>(ctx);
		int rc = 0;

		if (unsigned char *ptr = self->direct(bus, len, true))
			memcpy(ptr, buf, len);
		else
			rc = self->transfer(TLM_WRITE_COMMAND, bus, const_cast<void *>(buf), len);
		if (!rc && self->on_written)
			self->on_written(bus, len);
		return rc;
	};
	env.irq_raise = [](void *ctx, unsigned, uint64_t address, uint32_t data) {
		auto *self = static_cast<hca_module *>(ctx);
		unsigned char bytes[4] = {(unsigned char)data, (unsigned char)(data >> 8),
					  (unsigned char)(data >> 16), (unsigned char)(data >> 24)};
		sc_time delay = self->ahead_of_systemc();
		tlm_generic_payload trans;

		trans.set_command(TLM_WRITE_COMMAND);
		trans.set_address(address);
		trans.set_data_ptr(bytes);
		trans.set_data_length(sizeof(bytes));
		trans.set_streaming_width(sizeof(bytes));
		self->engine_.foreign_activity();
		self->msi->b_transport(trans, delay);
	};
	env.intx = [](void *ctx, bool asserted) {
		static_cast<hca_module *>(ctx)->engine_.foreign_activity();
		static_cast<hca_module *>(ctx)->intx.write(asserted);
	};
	env.guest_error = [](void *ctx, const struct guest_error *error) {
		auto *self = static_cast<hca_module *>(ctx);

		if (self->on_guest_error)
			self->on_guest_error(*error);
	};
	env.catastrophe = [](void *ctx, const char *text) {
		auto *self = static_cast<hca_module *>(ctx);

		if (self->on_catastrophe)
			self->on_catastrophe(text);
	};
	return env;
}
