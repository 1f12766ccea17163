#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks the rule of the rooms of the engine and of the test bench: a file calls and includes only files of its own room and of rooms
below it. The folder's dir.mk lists the files of each room, and the rooms from bottom to top. A file outside of the rooms is above all
of them. The calls are taken from the compiled objects: they are the undefined symbols (nm).

The check fails when a room calls or includes a room above it, when rooms call each other in a circle, or when more than KNOT_MAX files
of one room depend on each other in circles. It prints every offending call, and the largest such knot of each room and of all rooms.

    check_rooms.py [FOLDER]     objects are in FOLDER/obj (build)
"""
import pathlib
import re
import subprocess
import sys

KNOT_MAX = {"model/engine": 12, "testbench": 13}
TOP = "(top)"
DEFINED = "TDBRVW"


def rooms_and_files(tree):
    """Returns the rooms from bottom to top, and the room of each source file."""
    rooms, room_of = [], {}
    for line in open(f"{tree}/dir.mk"):
        if not line.startswith("src-y"):
            continue
        in_room = re.search(r"\$\(addprefix \$\(d\)/((\w+)[\w/]*)/, ([^)]*)\)", line)
        if in_room:
            folder, room = in_room[1], in_room[2]
            if room not in rooms:
                rooms.append(room)
            room_of.update({f"{folder}/{f}": room for f in in_room[3].split()})
        else:
            room_of.update({f: TOP for f in re.findall(r"\$\(d\)/(\w+\.c)", line)})
    return rooms + [TOP], room_of


def symbols(build, tree, files):
    """Returns which file defines each symbol, and the symbols that each file needs."""
    home, needs = {}, {f: set() for f in files}
    file_of = {f"{build}/obj/{tree}/{f[:-2]}.o": f for f in files}
    nm = subprocess.run(["nm", "--print-file-name", *file_of], check=True, capture_output=True, text=True)
    for line in nm.stdout.splitlines():
        path, symbol = line.split(":", 1)
        *_, kind, name = symbol.split()
        if kind in DEFINED:
            home[name] = file_of[path]
        elif kind == "U":
            needs[file_of[path]].add(name)
    return home, needs


def calls_between(home, needs):
    """Returns the calls between files: {caller: {callee: [function]}}."""
    calls = {f: {} for f in needs}
    for f, names in needs.items():
        for name in sorted(names):
            if name in home and home[name] != f:
                calls[f].setdefault(home[name], []).append(name)
    return calls


def knots(graph):
    """Returns the sets of nodes that reach each other, largest first (Tarjan's algorithm)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for to in graph[node]:
            if to not in index:
                visit(to)
            if to in stack:
                low[node] = min(low[node], low[to])
        if low[node] == index[node]:
            at = stack.index(node)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in index:
            visit(node)
    return sorted((k for k in found if len(k) > 1), key=len, reverse=True)


def includes_upward(tree, rooms):
    """Returns the files, including headers, that include a header of a room above."""
    for room in rooms[:-1]:
        for f in sorted(f for f in pathlib.Path(tree, room).rglob("*.[ch]") if f.parent.name != "tests"):
            for line in open(f):
                to = re.match(rf'#include "{tree}/(\w+)/', line)
                if to and to[1] in rooms and rooms.index(to[1]) > rooms.index(room):
                    yield f"{f}: {line.strip()}"


def check(build, tree):
    """Returns the errors of one tree."""
    rooms, room_of = rooms_and_files(tree)
    rank = {room: n for n, room in enumerate(rooms)}
    calls = calls_between(*symbols(build, tree, sorted(room_of)))
    errors = []

    for f, to in calls.items():
        for g, names in to.items():
            if rank[room_of[g]] > rank[room_of[f]]:
                errors.append(f"{f} calls up: {g}: {', '.join(names)}")
    errors += [f"{line} (a room above)" for line in includes_upward(tree, rooms)]

    between = {room: {room_of[g] for f in calls for g in calls[f] if room_of[f] == room != room_of[g]} for room in rooms}
    errors += [f"rooms call each other in a circle: {', '.join(knot)}" for knot in knots(between)]

    for room in rooms:
        inside = {f: [g for g in calls[f] if room_of[g] == room] for f in calls if room_of[f] == room}
        largest = (knots(inside) or [[]])[0]
        print(f"{room:12} {len(inside):3} files, largest knot {len(largest)}{': ' if largest else ''}{', '.join(largest)}")
        if len(largest) > KNOT_MAX[tree]:
            errors.append(f"{room}: {len(largest)} files depend on each other, at most {KNOT_MAX[tree]} may: {', '.join(largest)}")
    whole = (knots(calls) or [[]])[0]
    print(f"{tree:12} {len(calls):3} files, largest knot {len(whole)}")
    return errors


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    errors = [e for tree in KNOT_MAX for e in check(build, tree)]
    for e in errors:
        print(e)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
