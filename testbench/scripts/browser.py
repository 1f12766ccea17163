# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium through its debugging pipe. It has only what the test of hcasim report needs."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """One page. errors: exceptions, and messages written as errors; requests: what the page loaded besides its own file."""

    def __init__(self, width=1440, height=1000):
        self.folder = tempfile.mkdtemp()
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()
        self.id, self.buffer, self.errors, self.requests = 0, b'', [], []

        def pipes():  # Chromium reads from descriptor 3 and writes to descriptor 4
            a, b = os.dup2(to_child, 30), os.dup2(from_child, 31)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            ['chromium', '--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe', '--no-first-run', '--hide-scrollbars',
             '--disable-dev-shm-usage', '--disable-background-networking', f'--user-data-dir={self.folder}', f'--window-size={width},{height}',
             'about:blank'],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_child)
        os.close(from_child)
        self.session = None
        target = next(t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page')
        self.session = self.call('Target.attachToTarget', targetId=target['targetId'], flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Network', 'Log'):
            self.call(domain + '.enable')
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)

    def note(self, message):
        method, params = message.get('method'), message.get('params', {})
        if method == 'Runtime.exceptionThrown':
            self.errors.append(params['exceptionDetails'].get('exception', {}).get('description', str(params)))
        elif method == 'Log.entryAdded' and params['entry']['level'] == 'error':
            self.errors.append(params['entry']['text'])
        elif method == 'Network.requestWillBeSent':
            self.requests.append(params['request']['url'])

    def receive(self, deadline):
        while b'\0' not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError('chromium does not answer')
            more = os.read(self.back, 1 << 20)
            if not more:
                raise EOFError('chromium ended')
            self.buffer += more
        line, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(line)

    def call(self, method, timeout=120, **params):
        self.id += 1
        message = {'id': self.id, 'method': method, 'params': params}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.to, json.dumps(message).encode() + b'\0')
        deadline = time.monotonic() + timeout
        while True:
            answer = self.receive(deadline)
            if answer.get('id') == self.id:
                if 'error' in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer['result']
            self.note(answer)

    def open(self, path):
        """Loads a file. Returns the seconds until it has been loaded and drawn."""
        began = time.monotonic()
        self.call('Page.navigate', url='file://' + os.path.realpath(path))
        while self.run('document.readyState') != 'complete':
            time.sleep(0.02)
        self.settle()
        return time.monotonic() - began

    def run(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(result['exceptionDetails'].get('exception', {}).get('description', expression))
        return result['result'].get('value')

    def settle(self):
        """Waits for two frames and for drawing that the page has delayed."""
        self.run('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 150))))')

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.mouse('mousePressed', x, y, button='left', clickCount=1)
        self.mouse('mouseReleased', x, y, button='left', clickCount=1)
        self.settle()

    def colours(self, scheme):
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.settle()

    def shot(self, path, whole=False):
        data = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=whole)['data']
        with open(path, 'wb') as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)
