# SPDX-License-Identifier: Apache-2.0
# hcasim serve: its traces when it ends early, an end although it hangs, a hostile guest. Sourced by run_tests.sh.

# serve with every trace and two clients, ended in the middle of a command
served_views()
{
	local dir=$scratch/served.$1
	timeout 100 python3 testbench/tests/serve_traces.py "$hcasim" "$dir" "$1" && python3 traces/tests/timeline_check.py "$dir/timeline.json" &&
		python3 traces/tests/waves_check.py "$dir" model/engine
}
for s in SIGTERM SIGINT; do one "views.serve_$s" served_views "$s"; done

# serve hangs, and must still end
one serve.stuck timeout 100 python3 testbench/tests/serve_stuck.py "$hcasim" "$scratch/stuck"

# serve with a hostile guest, for one round; make attack does this for minutes and measures how long the other guest stops
one serve.under_attack timeout 300 "$O/tests/under_attack" "$hcasim" 1
