#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks timeline.json against the Trace Event Format.

timeline_check.py FILE [--through LANE,LANE...]: checks that processes and threads have names and slices have
durations, that B and E nest, that X slices do not cross, and that chains s t f are complete and touch
slices. --through: at least one chain of a message must visit these lanes in this order.
--print: prints the first such chain as README shows it. For each slice: when it begins after the
first one, how long it takes (both in us), its lane and its name.
"""
import collections
import json
import sys
from decimal import Decimal

errors = 0


def wrong(text):
    global errors
    errors += 1
    if errors < 20:
        print(text)


def main():
    trace = json.load(open(sys.argv[1]), parse_float=Decimal)
    through = sys.argv[sys.argv.index("--through") + 1].split(",") if "--through" in sys.argv else []
    processes, threads = {}, {}
    slices, open_ones, chains = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(list)
    last = {}
    counts = collections.Counter()
    for e in trace["traceEvents"]:
        ph, lane = e["ph"], (e["pid"], e["tid"])
        counts[ph] += 1
        if ph == "M":
            if e["name"] == "process_name":
                processes[e["pid"]] = e["args"]["name"]
            elif e["name"] == "thread_name":
                if lane in threads:
                    wrong(f"{lane} is named twice")
                threads[lane] = e["args"]["name"]
            continue
        ts = e["ts"]
        if not e["name"] or ts < 0 or e["pid"] not in processes or (ph != "C" and lane not in threads):
            wrong(f"nameless, or on a lane that is: {e}")
        if ph == "X":
            if e["dur"] <= 0:
                wrong(f"no duration: {e}")
            slices[lane].append((ts, ts + e["dur"], e["name"], len(slices[lane])))
        elif ph in "BE":
            if ts < last.get(lane, 0):
                wrong(f"back in time: {e}")
            last[lane] = ts
            if ph == "B":
                open_ones[lane].append(e | {"order": counts["B"]})
            elif not open_ones[lane] or open_ones[lane][-1]["name"] != e["name"]:
                wrong(f"ends what has not begun: {e}")
            else:
                begun = open_ones[lane].pop()
                slices[lane].append((begun["ts"], ts, e["name"], begun["order"]))
        elif ph in "stf":
            chains[e["id"]].append(e)
        elif ph == "i":
            if e["s"] not in "tp":
                wrong(f"scope: {e}")
        elif ph == "C":
            if list(e["args"]) != ["value"]:
                wrong(f"counter: {e}")
        else:
            wrong(f"phase: {e}")
    for lane, left in open_ones.items():
        if left:
            wrong(f"{threads[lane]}: {len(left)} functions do not end")
    begins = {}
    for lane, all_of_lane in slices.items():
        all_of_lane.sort(key=lambda s: (s[0], -s[1], s[3]))
        begins[lane] = collections.defaultdict(list)
        stack = []
        for begin, end, name, _ in all_of_lane:
            begins[lane][begin].append((name, end))
            while stack and stack[-1] <= begin:
                stack.pop()
            if stack and end > stack[-1]:
                wrong(f"{threads[lane]}: {name} at {begin} crosses the end of another")
            stack.append(end)
    found = None
    for number, steps in chains.items():
        phases = "".join(s["ph"] for s in steps)
        if phases[0] != "s" or phases[-1] != "f" or phases.strip("sf").replace("t", "") or len(phases) < 2:
            wrong(f"chain {number} is {phases}")
        if any(a["ts"] > b["ts"] for a, b in zip(steps, steps[1:])):
            wrong(f"chain {number} goes back in time")
        if len({(s["name"], s["cat"]) for s in steps}) != 1 or steps[-1].get("bp") != "e":
            wrong(f"chain {number} is not one")
        for s in steps:
            if not begins.get((s["pid"], s["tid"]), {}).get(s["ts"]):
                wrong(f"chain {number} touches no slice: {s}")
        lanes = [f"{processes[s['pid']]}.{threads[s['pid'], s['tid']].rstrip(' 0123456789')}" for s in steps]
        rest = iter(lanes)
        if through and not found and all(lane in rest for lane in through):
            found = steps
    if through and not found:
        wrong(f"no chain goes through {through}")
    if found and "--print" in sys.argv:
        for s in found:
            lane = s["pid"], s["tid"]
            name, end = begins[lane][s["ts"]][0]
            print(f"{s['ts'] - found[0]['ts']:>9} {end - s['ts']:>9}  {processes[s['pid']]:<6} {threads[lane]:<14} {name}")
    print(f"{dict(counts)}, {len(chains)} chains, {len(threads)} lanes, {errors} wrong")
    return errors > 0


sys.exit(main())
