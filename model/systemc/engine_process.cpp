// SPDX-License-Identifier: Apache-2.0
/* See engine_process.hpp. */
#include "model/systemc/engine_process.hpp"

#include <algorithm>

using namespace sc_core;

engine_process::engine_process(sc_module_name name, event_core *core, bool run_ahead)
    : sc_module(name), core_(core), run_ahead_(run_ahead)
{
	SC_METHOD(drive);
}

uint64_t engine_process::horizon() const
{
	if (sc_pending_activity_at_current_time())
		return sc_now_ps();

	const uint64_t to_next = sc_time_to_pending_activity().value();

	return to_next > EVENT_NEVER - sc_now_ps() ? EVENT_NEVER : sc_now_ps() + to_next;
}

/*
 * Runs all events up to the horizon. The horizon is read again when a job has called out of the
 * core (foreign_activity()).
 */
void engine_process::run_ahead()
{
	driving_ = true;
	do
		event_core_run(core_, std::min(horizon(), limit_ps_));
	while (core_->yield && !stopped_);
	driving_ = false;
}

/* Runs one event, if one is due now. */
void engine_process::run_one(uint64_t now)
{
	const event *next = event_core_peek(core_);

	driving_ = true;
	if (next && !next->foreign && next->at_ps <= std::min(now, limit_ps_))
		event_core_step(core_);
	driving_ = false;
}

/*
 * A foreign event hands control to a thread, so it runs only when SystemC's time has reached it.
 * Afterwards the method yields for a delta cycle, in which the thread runs.
 */
void engine_process::drive()
{
	const uint64_t now = sc_now_ps();
	const event *next;

	if (!stopped_ && run_ahead_)
		run_ahead();
	else if (!stopped_)
		run_one(now);
	next = event_core_peek(core_);
	if (next && next->at_ps > limit_ps_)
		limit_reached_ = stopped_ = true;
	if (stopped_) {
		sc_pause();
		return;
	}
	if (!next) {
		next_trigger(poke_);
	} else if (next->at_ps > now) {
		next_trigger(sc_time::from_value(next->at_ps - now), poke_);
	} else {
		if (next->foreign)
			event_core_step(core_);
		next_trigger(SC_ZERO_TIME);
	}
}

void engine_process::catch_up(const sc_time &offset)
{
	event_core_run_until(core_, (sc_time_stamp() + offset).value());
}

void engine_process::poke()
{
	if (!driving_)
		poke_.notify(SC_ZERO_TIME);
}

void engine_process::interrupt()
{
	stopped_ = true;
	core_->yield = true;
}

void engine_process::stop()
{
	interrupt();
	poke();
}
