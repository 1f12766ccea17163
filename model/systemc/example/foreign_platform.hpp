// SPDX-License-Identifier: Apache-2.0
/*
 * A virtual platform that knows nothing of hcasim but the sockets of hca_module: a CPU stub whose
 * programs are SystemC threads, and a memory that refuses direct access, so that every DMA is a
 * b_transport call. It implements struct platform, so the driver runs on it unchanged.
 */
#ifndef MODEL_SYSTEMC_EXAMPLE_FOREIGN_PLATFORM_HPP
#define MODEL_SYSTEMC_EXAMPLE_FOREIGN_PLATFORM_HPP

#include <systemc>
#include <tlm>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <map>
#include <memory>
#include <vector>

extern "C" {
#include "host_driver/platform.h"
}

class foreign_memory : public sc_core::sc_module
{
      public:
	tlm_utils::simple_target_socket<foreign_memory> socket;
	sc_core::sc_event written;

	foreign_memory(sc_core::sc_module_name name, size_t bytes);

	static constexpr uint64_t BASE = 0x800000000;
	unsigned char *allocate(size_t bytes);
	uint64_t bus(const void *addr) const
	{
		return BASE + (static_cast<const unsigned char *>(addr) - bytes_.data());
	}

      private:
	void b_transport(tlm::tlm_generic_payload &trans, sc_core::sc_time &delay);

	std::vector<unsigned char> bytes_;
	size_t next_ = 0;
};

class foreign_cpu : public sc_core::sc_module
{
      public:
	tlm_utils::simple_initiator_socket<foreign_cpu> config, bar0, bar2;
	tlm_utils::simple_target_socket<foreign_cpu> msi;
	sc_core::sc_in<bool> intx;

	foreign_cpu(sc_core::sc_module_name name, unsigned number, foreign_memory &memory);
	struct platform *platform()
	{
		return &platform_;
	}

	/* Starts fn(arg) as a program of this CPU. */
	void run(const char *name, void (*fn)(void *), void *arg);

	/* What the operations of struct platform are made of. */
	void access(unsigned space, tlm::tlm_command command, uint64_t address, void *bytes,
		    unsigned size);
	bool wait_for(sc_core::sc_event &event, uint64_t deadline_ps);
	struct handler {
		void (*fn)(void *);
		void *arg;
	};
	std::map<unsigned, handler> handlers;
	foreign_memory &memory;

      private:
	void message(tlm::tlm_generic_payload &trans, sc_core::sc_time &delay);
	void interrupts();

	struct platform platform_;
	std::vector<unsigned> pending_;
	sc_core::sc_event interrupt_;
};

#endif
