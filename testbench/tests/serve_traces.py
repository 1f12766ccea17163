#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_traces.py HCASIM FOLDER SIGNAL: a vfio-user client (QEMU's docs/interop/vfio-user.rst) drives both
HCAs of `serve --check` with every trace on. After SIGNAL the server's files must be complete and show what the client did."""
import json
import mmap
import os
import signal
import socket
import struct
import subprocess
import sys
import time

hcasim, folder, name = sys.argv[1:]

VERSION, DMA_MAP, REGION_READ, REGION_WRITE = 1, 2, 9, 10
CONFIG_SPACE, BAR0 = 7, 0
MEMORY, BUS = 1 << 20, 0x40000000
HCR, HCR_OPCODE, GO, QUERY_FW = 0x80680, 0x18, 1 << 23, 0x4
PATIENCE_S = 20


class Device:
    """The client of one device, on one socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.next_id = 0
        version = json.dumps({'capabilities': {'max_msg_fds': 8}}).encode() + b'\0'
        self.ask(VERSION, struct.pack('<HH', 0, 0) + version)
        fd = os.memfd_create('guest')
        os.ftruncate(fd, MEMORY)
        self.memory = mmap.mmap(fd, MEMORY)
        self.ask(DMA_MAP, struct.pack('<IIQQQ', 32, 3, 0, BUS, MEMORY), fd)
        os.close(fd)

    def exactly(self, size):
        data = b''
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            assert more, 'the server hung up'
            data += more
        return data

    def ask(self, command, payload, fd=None):
        self.next_id += 1
        message = struct.pack('<HHIII', self.next_id, command, 16 + len(payload), 0, 0) + payload
        if fd is None:
            self.socket.sendall(message)
        else:
            socket.send_fds(self.socket, [message], [fd])
        got_id, got, size, flags, error = struct.unpack('<HHIII', self.exactly(16))
        assert (got_id, got, flags & 0xf) == (self.next_id, command, 1), 'not the answer'
        assert not flags & 0x20, os.strerror(error)
        return self.exactly(size - 16)

    def read(self, region, offset, size):
        return self.ask(REGION_READ, struct.pack('<QII', offset, region, size))[16:]

    def write(self, region, offset, data):
        self.ask(REGION_WRITE, struct.pack('<QII', offset, region, len(data)) + data)

    def post(self, opcode, mailbox):
        """Starts an HCR command with an output mailbox."""
        words = (0, 0, 0, mailbox >> 32, mailbox & 0xffffffff, 1 << 16)
        for i, word in enumerate(words):
            self.write(BAR0, HCR + 4 * i, struct.pack('>I', word))
        self.write(BAR0, HCR + HCR_OPCODE, struct.pack('>I', GO | opcode))

    def command(self, opcode, mailbox):
        """Executes such a command, and returns its status."""
        self.post(opcode, mailbox)
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            status, = struct.unpack('>I', self.read(BAR0, HCR + HCR_OPCODE, 4))
            if not status & GO:
                return status >> 24
            time.sleep(0.001)
        raise AssertionError('the command is not answered')


sockets = [f'{folder}.{i}.sock' for i in range(2)]
server = subprocess.Popen([hcasim, 'serve', '--socket', sockets[0], '--socket', sockets[1], '--trace', 'log,pcapng,vcd,timeline', '--stats', '--check', '-o', folder],
                          stdout=subprocess.PIPE, text=True)
assert 'listening' in server.stdout.readline()
devices = [Device(path) for path in sockets]
for device in devices:
    assert struct.unpack('<HH', device.read(CONFIG_SPACE, 0, 4)) == (0x15b3, 0x1003)
    device.write(CONFIG_SPACE, 4, struct.pack('<H', 6))
    assert device.command(QUERY_FW, BUS) == 0
    assert struct.unpack('>H', device.memory[6:8])[0] > 0, 'the mailbox says no command interface revision'
devices[0].post(QUERY_FW, BUS)  # the server ends while this command is under way
server.send_signal(getattr(signal, name))
told, _ = server.communicate(timeout=PATIENCE_S)
assert server.returncode == 0, f'status {server.returncode}'
assert 'commands' in told and 'HCR commands executed' in told, '--stats is not printed'

with open(f'{folder}/stats.json', encoding='utf-8') as stats:
    stats = json.load(stats)
with open(f'{folder}/timeline.json', encoding='utf-8') as timeline:
    events = json.load(timeline)
events = events['traceEvents'] if isinstance(events, dict) else events
processes = {e['pid']: e['args']['name'] for e in events if e['ph'] == 'M' and e['name'] == 'process_name'}
for i in range(2):
    assert stats[f'hca{i}.fw.commands'] in (1, 2 - i)
    of = [e for e in events if processes.get(e['pid']) == f'hca{i}']
    assert any('QUERY_FW' in e['name'].upper() for e in of), f'no command of hca{i} in the timeline'
with open(f'{folder}/run.log', encoding='utf-8') as log:
    log = log.read()
assert log.endswith('\n') and log.upper().count('QUERY_FW') >= 2
# a virtual machine has no write combining, so BlueFlame costs as much as eight doorbells
with open(f'{folder}/config.ini', encoding='utf-8') as config:
    assert '\nblueflame = false\n' in config.read(), 'serve announces BlueFlame unasked'
for file in 'packets.pcapng', 'waves.vcd', 'timeline.json':
    subprocess.run([hcasim, 'check', f'{folder}/{file}'], check=True)
