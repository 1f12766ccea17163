// SPDX-License-Identifier: Apache-2.0
/*
 * One HCA as a SystemC module, for any virtual platform.
 *
 *	config       target      configuration space, 4 KiB
 *	bar0, bar2   targets     memory BARs; an address is an offset into the BAR
 *	dma          initiator   DMA, with bus addresses
 *	msi          initiator   MSI-X messages: 4-byte writes of the vector's data to its address
 *	intx         out         level of INTx
 *
 * bind_link() connects a port with the port of another module.
 *
 * Your b_transport of `dma` gets as its delay the time by which the model is ahead of SystemC. It
 * must not wait(). Where it grants direct memory access (DMI), bytes are copied through that.
 *
 * You may access the BARs with a delay (temporal decoupling). A read blocks the calling thread for
 * the round trip.
 */
#ifndef MODEL_SYSTEMC_HCA_MODULE_HPP
#define MODEL_SYSTEMC_HCA_MODULE_HPP

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <functional>
#include <string>

#include "model/engine/hca.h"
#include "model/systemc/engine_process.hpp"

class hca_module : public sc_core::sc_module
{
      public:
	tlm_utils::simple_target_socket_tagged<hca_module> config, bar0, bar2;
	tlm_utils::simple_initiator_socket<hca_module> dma, msi;
	sc_core::sc_out<bool> intx;

	/* Throws std::runtime_error when the firmware cannot be loaded. */
	hca_module(sc_core::sc_module_name name, engine_process &engine, unsigned index,
		   const hca_params *params, const host_params *host, ::trace *tr,
		   const char *fw_path);
	~hca_module() override;

	void bind_link(unsigned port, hca_module &peer, unsigned peer_port,
		       fault_plan *plan = nullptr);
	hca *device() const
	{
		return hca_;
	}

	/* Called for guest errors, catastrophic errors and each range written by DMA; may be
	 * empty. */
	std::function<void(const guest_error &error)> on_guest_error;
	std::function<void(const char *text)> on_catastrophe;
	std::function<void(uint64_t bus, size_t len)> on_written;

      private:
	struct dmi_range {
		uint64_t start = 1, end = 0;
		unsigned char *ptr = nullptr;
		bool readable = false, writable = false;
	};

	void b_transport(int which, tlm::tlm_generic_payload &trans, sc_core::sc_time &delay);
	void access_bar(unsigned bar, tlm::tlm_generic_payload &trans, sc_core::sc_time &delay);
	void access_config(tlm::tlm_generic_payload &trans);
	void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end);
	sc_core::sc_time ahead_of_systemc() const;
	int transfer(tlm::tlm_command command, uint64_t bus, void *buf, size_t len);
	unsigned char *direct(uint64_t bus, size_t len, bool write);
	bool direct_ask(uint64_t bus, dmi_range &slot, bool write);
	hca_env make_env();

	engine_process &engine_;
	hca *hca_ = nullptr;
	enum { SLOT_SHIFT = 12 };
	std::array<dmi_range, 4096> ranges_; /* by bus address, a page per slot */
	dmi_range asked_;                    /* the newest: the next pages of a buffer are in it */
	std::array<dmi_range, 256> denied_;
};

#endif
