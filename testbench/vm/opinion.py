# SPDX-License-Identifier: Apache-2.0
"""Records what ib_qib answers to the requests of testbench/fuzz/transport_opinion.txt; fuzz/opinion.c says what the lines mean.

opinion.py play OPINION RECORDING SOCKET FOLDER PEER_LID PLAYED
    brings the requests of RECORDING to the second device of a running serve through its control SOCKET, asks opinion_guest.py about each
    through FOLDER, and writes PLAYED
opinion.py join OPINION PLAYED CAPTURE...
    prints the recording: what was played, and what went out in between, from the captures of serve

OPINION is build/fuzz/opinion, which makes and reads the packets.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import time

PATIENCE = 60  # seconds for an answer of the guest
CRC_BYTES, LRH_BYTES, ERF_BYTES = 6, 8, 16
PEER_QPN = 0x7FFFF7
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
OPT_COMMENT, OPT_NAME, OPT_FLAGS = 1, 2, 2
INBOUND, OUTBOUND = 1, 2


class Translator:
    """build/fuzz/opinion --translate"""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "--translate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        answer = self.process.stdout.readline().strip()
        if not answer:
            sys.exit(f"no answer to: {line}")
        return answer


class Guest:
    """opinion_guest.py, behind a folder that both see"""

    def __init__(self, folder):
        self.folder, self.number = folder, 0

    def put(self, what):
        path = f"{self.folder}/{self.number}"
        with open(path + ".part", "w") as file:
            json.dump(what, file)
        os.rename(path + ".part", path + ".ask")
        return path

    def ask(self, *what):
        path = self.put(what)
        end = time.time() + PATIENCE
        while not os.path.exists(path + ".answer"):
            if time.time() > end:
                sys.exit(f"the guest does not answer: {what}")
            time.sleep(0.002)
        with open(path + ".answer") as file:
            answer = json.load(file)
        self.number += 1
        return answer


class Control:
    """The control socket of serve."""

    def __init__(self, path):
        link = socket.socket(socket.AF_UNIX)
        link.connect(path)
        self.link, self.lines = link, link.makefile("r")

    def inject(self, packet):
        self.link.sendall(f"inject {packet} hca1\n".encode())
        answer = self.lines.readline()
        if not answer.startswith("ok"):
            sys.exit(f"serve: {answer}")


def begin(guest, translator, line, peer_lid):
    words = line.split()
    at = guest.ask("begin", words[1], "srq" in words, int(words[-1]), peer_lid)
    translator.tell(f"target {at['lid']} {peer_lid} {at['qpn']} {at['rkey']} {at['weak']} {at['va']} {at['gid']}")


def done_line(wc):
    names = ("id", "status", "opcode", "bytes", "flags", "imm")
    return "done" + "".join(f" {name} {value}" for name, value in zip(names, wc) if value)


def play(opinion, recording, control, folder, peer_lid, played):
    guest, translator, control = Guest(folder), Translator(opinion), Control(control)
    lines = []
    try:
        for line in open(recording).read().splitlines():
            word = line.split(" ")[0]
            if word in ("sent", "done", "then"):
                continue
            lines.append([line])
            if word == "stream":
                begin(guest, translator, line, int(peer_lid, 0))
            if word == "give":
                packet = translator.ask(line)
                control.inject(packet)
                seen = guest.ask("look")
                after = [done_line(wc) for wc in seen["wcs"]] + [f"then {seen['state']} 0x{seen['memory']:08x}"]
                lines[-1] += [packet, after]
    finally:
        guest.put(["end"])
        with open(played, "w") as file:
            json.dump(lines, file)


def options(data):
    """The options of a block: code and value."""
    while len(data) >= 4:
        code, length = struct.unpack_from("<HH", data)
        if not code:
            return
        yield code, data[4:4 + length]
        data = data[4 + (length + 3 & ~3):]


def packets(path):
    """Of the second device's port: whether it was injected, and its bytes from LRH to pad; of those that go out, those to the played peer."""
    data, at, names = open(path, "rb").read(), 0, []
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("<II", data, at)
        block = data[at + 8:at + length - 4]
        at += length
        if kind == INTERFACE:
            names.append(next((value.decode() for code, value in options(block[8:]) if code == OPT_NAME), ""))
        if kind != PACKET:
            continue
        interface, _, _, kept, _ = struct.unpack_from("<IIIII", block)
        wire = block[20 + ERF_BYTES:20 + kept - CRC_BYTES]
        told = dict(options(block[20 + (kept + 3 & ~3):]))
        way = struct.unpack("<I", told.get(OPT_FLAGS, bytes(4)))[0] & 3
        if names[interface] != "hca1.port1":
            continue
        if way == INBOUND and b"fault=injected" in told.get(OPT_COMMENT, b""):
            yield True, wire
        elif way == OUTBOUND and int.from_bytes(wire[LRH_BYTES + 5:LRH_BYTES + 8], "big") == PEER_QPN:
            yield False, wire


def join(opinion, played, *captures):
    translator = Translator(opinion)
    seen = [packet for path in captures for packet in packets(path)]
    at = 0
    for line in json.load(open(played)):
        print(line[0])
        if len(line) == 1:
            continue
        if at == len(seen) or seen[at] != (True, bytes.fromhex(line[1])):
            sys.exit(f"not in the captures: {line[0]}")
        at += 1
        while at < len(seen) and not seen[at][0]:
            print(translator.ask("out " + seen[at][1].hex()))
            at += 1
        print("\n".join(line[2]))


if __name__ == "__main__":
    {"play": play, "join": join}[sys.argv[1]](*sys.argv[2:])
