#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads waves.vcd with a parser of its own, and compares it with run.log of the same run.

waves_check.py RUN_FOLDER ENGINE_FOLDER: checks the form (IEEE 1364-2005, 18.2), that every scope is a
stage, that moments are at the times in the log, and that busy signals rise and fall at its times.
"""
import collections
import glob
import os
import re
import sys

errors = 0


def wrong(text):
    global errors
    errors += 1
    if errors < 20:
        print(text)


class Waves:
    def __init__(self, path):
        self.names, self.types, self.changes = {}, {}, collections.defaultdict(list)
        self.scopes, self.end = [], 0
        scope, now, body = [], None, False
        for n, line in enumerate(open(path), 1):
            words = line.split()
            if not body:
                if words[0] == "$scope":
                    scope.append(words[2])
                    self.scopes.append(".".join(scope))
                elif words[0] == "$upscope":
                    scope.pop()
                elif words[0] == "$var":
                    code, name = words[3], ".".join(scope + [words[4]])
                    if code in self.names or name in self.types:
                        wrong(f"line {n}: {name} stands twice")
                    self.names[code], self.types[name] = name, (words[1], int(words[2]))
                elif words[0] == "$timescale" and words[1] != "1ps":
                    wrong(f"line {n}: timescale {words[1]}")
                elif words[0] == "$date":
                    wrong("it has a date")
                body = words[0] == "$enddefinitions"
                continue
            if line[0] == "#":
                then, now = now, int(line[1:])
                if then is not None and now <= then:
                    wrong(f"line {n}: time {now} after {then}")
                self.end = now
                continue
            if line[0] in "01":
                value, code = int(line[0]), line[1:].strip()
            else:
                value, code = words[0][1:], words[1]
                value = int(value, 2) if line[0] == "b" else value
            name = self.names.get(code)
            if name is None or now is None:
                wrong(f"line {n}: value of {code}, which is nothing, or before any time")
                continue
            kind, bits = self.types[name]
            if (line[0] == "s") != (kind == "string") or (line[0] == "b") != (kind == "wire" and bits > 1):
                wrong(f"line {n}: {line.strip()} is no value of a {kind} of {bits} bits")
            if line[0] == "b" and value >> bits:
                wrong(f"line {n}: more than {bits} bits")
            self.changes[name].append((now, value))
        if scope:
            wrong(f"scope {scope} is open")

    def times(self, name, value=None):
        return [t for t, v in self.changes[name] if value is None or v == value]


def log_times(path):
    """{(hca, unit, first word): [ps]}"""
    found = collections.defaultdict(list)
    for line in open(path):
        m = re.match(r" *(\d+)\.(\d{6}) (hca\d) (\S+) +(.*)", line)
        if m:
            us, ps, hca, unit, text = m.groups()
            found[hca, unit].append((int(us) * 1000000 + int(ps), text))
    return found


def main():
    run, engine = sys.argv[1:3]
    waves, log = Waves(f"{run}/waves.vcd"), log_times(f"{run}/run.log")
    for scope in waves.scopes:
        parts = scope.split(".")
        if len(parts) > 2 or (len(parts) == 2 and not glob.glob(f"{engine}/**/{parts[1]}.c", recursive=True)):
            wrong(f"{scope} is no stage")
    moments = {
        "doorbell.send": ("doorbell", "send doorbell"),
        "doorbell.cq_arm": ("doorbell", "arm cqn"),
        "scheduler.pick": ("scheduler", "qpn"),
        "wqe_fetch.send": ("wqe_fetch", "send wqe"),
        "wqe_fetch.receive": ("wqe_fetch", "receive wqe"),
        "cqe_write.written": ("cqe_write", "cqe"),
        "event_queue.written": ("event_queue", "eqe"),
        "processor.command": ("fw", "command"),
    }
    compared = 0
    for hca in "hca0", "hca1":
        for signal, (unit, words) in moments.items():
            want = sorted({t for t, text in log[hca, unit] if text.startswith(words)})
            got = waves.times(f"{hca}.{signal}")
            compared += len(want)
            if got != want:
                wrong(f"{hca}.{signal}: {len(got)} moments, the log has {len(want)}")
        # The work of a stage ends when its packet has arrived, or its CQE or EQE has been written.
        for busy, (unit, words) in {
            "link_port.p1_rx_busy": ("link_port", "in port 1"),
            "cqe_write.busy": ("cqe_write", "cqe"),
            "event_queue.busy": ("event_queue", "eqe"),
        }.items():
            edges = waves.changes[f"{hca}.{busy}"]
            if [v for _, v in edges] != [1 - i % 2 for i in range(len(edges))]:
                wrong(f"{hca}.{busy} does not alternate")
            spans = list(zip([t for t, _ in edges[0::2]], [t for t, _ in edges[1::2]]))
            # an injected packet was never on the wire
            for t in {t for t, text in log[hca, unit] if text.startswith(words) and "fault injected" not in text}:
                compared += 1
                if not any(a < t <= b for a, b in spans):
                    wrong(f"{hca}.{busy} is 0 before {t}, when the log has '{words}'")
            for _, end in spans:
                if log[hca, "guest_error"]:
                    break  # after that a write may have been refused
                if busy != "link_port.p1_rx_busy" and not any(
                    t == end for t, text in log[hca, unit] if text.startswith(words)
                ):
                    wrong(f"{hca}.{busy} falls at {end}, and the log has nothing")
    print(f"{len(waves.types)} signals, {sum(map(len, waves.changes.values()))} values, {compared} compared, {errors} wrong")
    return errors > 0 or compared == 0


sys.exit(main())
