#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# replay.sh HCASIM: a run with a late answer to ARP and a lost ACK, and then the same with the capture of the first run in place of the peer.
# The port must get what it got and send what it sent, and two replays must leave the same files.
set -uo pipefail
hcasim=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "replay: $*"; exit 1; }

# play DIR OPTION...: the run with the capture in place of host b
play() { local to=$out/$1; shift; "$hcasim" run net_replayed -s hca0.port1.wire=replay:"$out/live" --trace log,pcapng,records -o "$to" "$@" >"$to.out" 2>&1; }

"$hcasim" run net_replayed --trace pcapng -o "$out/live" >"$out/live.out" 2>&1 || { tail -n 5 "$out/live.out"; fail "the run to record failed"; }
for n in 1 2; do
	play "$n" || { tail -n 20 "$out/$n.out"; fail "replay $n failed"; }
done
for f in packets.pcapng run.log run.records stats.json config.ini; do
	cmp "$out/1/$f" "$out/2/$f" || fail "two replays differ"
done
"$hcasim" check "$out/1/packets.pcapng" >/dev/null || fail "the capture of the replay is wrong"

# every recorded frame came, and each frame that the port sent was the one of the first run
line=$(grep 'recorded frames came' "$out/1.out")
[[ $line =~ replay:\ ([0-9]+)\ of\ ([0-9]+)\ recorded\ frames\ came,\ ([0-9]+)\ of\ ([0-9]+)\ answers ]] || fail "no account in: $line"
set -- "${BASH_REMATCH[@]:1}"
[ "$1" -eq "$2" ] && [ "$3" -eq "$4" ] && [ "$1" -ge 3 ] && [ "$3" -ge 6 ] || fail "$line"
! grep -q 'is another one' "$out/1.out" || fail "a frame differs"

# the loss is in the capture: without it, host a would have sent once. And a changed sender is told.
grep -q 'rc_send_only.*try 2' "$out/1/run.log" || fail "the sender did not send again"
play other -s hca0.node_guid=0x0002c90300b00000
grep -q 'port 1: replay: frame 1 from this port is another one' "$out/other.out" || { cat "$out/other.out"; fail "another sender is not told"; }

# a scenario that needs host b says so
"$hcasim" run rc_send -s hca.port1.type=eth -s hca0.port1.wire=replay:"$out/live" -o "$out/none" >"$out/none.out" 2>&1
grep -q 'the other end of the cable is outside' "$out/none.out" || { cat "$out/none.out"; fail "a scenario with two hosts ran with one"; }
