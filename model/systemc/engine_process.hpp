// SPDX-License-Identifier: Apache-2.0
/*
 * The one SC_METHOD that drives an event core. A SystemC process that accesses a device calls
 * catch_up() before the access and poke() after it.
 */
#ifndef MODEL_SYSTEMC_ENGINE_PROCESS_HPP
#define MODEL_SYSTEMC_ENGINE_PROCESS_HPP

#include <systemc>

#include "model/engine/base/event_core.h"

class engine_process : public sc_core::sc_module
{
      public:
	engine_process(sc_core::sc_module_name name, event_core *core, bool run_ahead);

	/* Runs the core up to SystemC's present time plus `offset` (temporal decoupling). */
	void catch_up(const sc_core::sc_time &offset = sc_core::SC_ZERO_TIME);
	/* An event was set from outside the core: look at the heap again. */
	void poke();
	/* A job of the core calls out, so a SystemC process may wake earlier than expected. */
	void foreign_activity()
	{
		core_->yield = true;
	}
	/* Ends sc_start() at the end of the current evaluation. */
	void stop();
	/* The same at the next event; a signal handler may call it. */
	void interrupt();
	bool stopped() const
	{
		return stopped_;
	}
	/* No event after this time is run: the run ends there. */
	void set_limit(uint64_t limit_ps)
	{
		limit_ps_ = limit_ps;
	}
	bool limit_reached() const
	{
		return limit_reached_;
	}

	event_core *core() const
	{
		return core_;
	}

      private:
	SC_HAS_PROCESS(engine_process);
	void drive();
	void run_ahead();
	void run_one(uint64_t now);
	/* The time before which nothing outside the core can happen. */
	uint64_t horizon() const;

	event_core *core_;
	bool run_ahead_;
	bool stopped_ = false, limit_reached_ = false, driving_ = false;
	uint64_t limit_ps_ = EVENT_NEVER;
	sc_core::sc_event poke_;
};

static inline uint64_t sc_now_ps()
{
	return sc_core::sc_time_stamp().value();
}

#endif
