/* See engine_process.hpp. */
#include "model/systemc/engine_process.hpp"

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
 * A foreign event hands control to a thread, so it runs when SystemC's time is its own; after it the method yields for a delta cycle, in which the
 * thread runs. All others may run ahead of SystemC's time up to the horizon.
 */
void engine_process::drive()
{
	while (!stopped_) {
		const event *next = event_core_peek(core_);
		const uint64_t now = sc_now_ps();

		if (!next) {
			next_trigger(poke_);
			return;
		}
		if (next->at_ps > limit_ps_) {
			limit_reached_ = stopped_ = true;
			break;
		}
		if (next->at_ps > now && (next->foreign || !run_ahead_ || next->at_ps > horizon())) {
			next_trigger(sc_time::from_value(next->at_ps - now), poke_);
			return;
		}

		const bool yields = next->foreign || !run_ahead_;

		driving_ = true;
		event_core_step(core_);
		driving_ = false;
		if (yields) {
			next_trigger(SC_ZERO_TIME);
			return;
		}
	}
	sc_pause();
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

void engine_process::stop()
{
	stopped_ = true;
	poke();
}
