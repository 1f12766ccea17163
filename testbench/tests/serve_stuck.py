#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_stuck.py HCASIM FOLDER: nobody reads what serve prints. Clients come and go until serve blocks while it prints.
SIGTERM must still end it, with a status that says so."""
import os
import signal
import socket
import subprocess
import sys
import time

hcasim, folder = sys.argv[1:]
CLIENTS, STILL_S, END_S = 5000, 2, 30

os.makedirs(folder, exist_ok=True)
path = os.path.join(folder, 'a.sock')
serve = subprocess.Popen([hcasim, 'serve', '--socket', path, '-o', os.path.join(folder, 'run')],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while not os.path.exists(path):
    assert serve.poll() is None, serve.stderr.read()
    time.sleep(0.01)

still = False
for _ in range(CLIENTS):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(STILL_S)
        try:
            client.connect(path)
            client.send(bytes(16))  # not a valid message, so the client is disconnected
            client.recv(1)
        except TimeoutError:
            still = True
            break
        except OSError:
            pass
assert still, 'serve does not stand still'
serve.send_signal(signal.SIGTERM)
start = time.monotonic()
status = serve.wait(END_S)
assert status == 1, f'status {status}'
assert 'serve cannot finish' in serve.stderr.read()
print(f'ended after {time.monotonic() - start:.1f} s')
