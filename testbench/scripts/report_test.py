#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the page of hcasim report in a headless Chromium: report_test.py DIR..., where each DIR is a run with report.html and run.log.

Compares the page's counts with the log. Moves, zooms and filters the page as a reader does. The page must not load anything except
its own file. SHOTS=FOLDER stores pictures of it, light and dark."""
import os
import re
import sys

sys.dont_write_bytecode = True  # write no files into the source folder
from browser import Browser  # noqa: E402

LOAD_S, FRAME_MS = 60, 3000  # generous, because the machine may be busy


def expect(what, got, expected):
    if got != expected:
        sys.exit(f'{what}: {got!r}, expected {expected!r}')


def expect_less(what, got, most):
    if got > most:
        sys.exit(f'{what}: {got}, at most {most}')


def log_counts(folder):
    """Counts in the log: packets sent, lost by the fault plan, and sent again."""
    counts = {'out': 0, 'dropped': 0, 'resent': 0, 'wqes': 0}
    with open(folder + '/run.log', encoding='latin-1') as log:
        for line in log:
            if re.match(r' *[0-9.]+ hca. link_port     out port', line):
                counts['out'] += 1
                counts['dropped'] += ', fault drop' in line
                counts['resent'] += ', try ' in line
            counts['wqes'] += ' wqe_fetch     send wqe ' in line
    return counts


def check_counts(page, folder):
    counts = log_counts(folder)
    duplicates = page.run('packets.flags.filter((f) => f & (FLAG.DUPLICATE | FLAG.INJECTED)).length')
    expect('packets', page.run('packets.n') - duplicates, counts['out'])
    expect('packets sent again', page.run('packets.flags.filter((f) => f & FLAG.RESENT && !(f & (FLAG.DUPLICATE | FLAG.INJECTED))).length'), counts['resent'])
    lost = page.run("countKind('lost')")
    if lost < counts['dropped']:
        sys.exit(f"lost packets: {lost}, the fault plan dropped {counts['dropped']}")
    expect_less('messages', page.run('messages.length'), counts['wqes'])
    expect('every packet is listed in the whole run', page.run("$('phases').children[0].click(), view.shown.length"), page.run('packets.n'))
    return counts


def painted(page, canvas):
    """Returns the number of different colours in a canvas. A blank one has one."""
    return page.run('''((c) => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 24 | d[i + 1] << 16 | d[i + 2] << 8 | d[i + 3]); return seen.size; })($('%s'))''' % canvas)


def check_drawing(page):
    page.settle()
    expect_less('packets in the ladder that have no place', page.run('[...view.shown].filter((i) => !isFinite(ladderFrame().y(packets.t[i]))).length')
                if page.run('view.shown.length') < 1000 else 0, 0)
    for canvas in ('overview', 'ladder', 'throughput', 'depth', 'waiting') if page.run('view.shown.length') else ():
        if painted(page, canvas) < (3 if page.run('view.shown.length') > 10 else 2):
            sys.exit(f'canvas {canvas} is blank')
    expect_less('rows of the list', page.run("$('rows').children.length"), 60)
    if page.run("$('counters').rows.length") < 20 or page.run("$('config').rows.length") < 50:
        sys.exit('counters or configuration are missing')
    if page.run('stages.chosen.length') and not page.run("$('bars').children.length && $('means').children.length"):
        sys.exit('no bars of messages')


def check_handling(page):
    """Tries wheel, Ctrl and wheel, drag, click, tooltip, list, filter and keys."""
    page.run("scrollTo(0, $('ladder').getBoundingClientRect().top - 240)")
    page.settle()
    x, y, w, h = page.run("(({left, top, width, height}) => [left, top, width, height])($('ladder').getBoundingClientRect())")
    whole = page.run('view.t1 - view.t0')
    for _ in range(6):
        page.mouse('mouseWheel', x + w / 2, y + h / 2, deltaX=0, deltaY=-120, modifiers=2)
    page.settle()
    zoomed = page.run('view.t1 - view.t0')
    expect_less('span after zooming in', zoomed, whole / 3)
    begin = page.run('view.t0')
    page.mouse('mouseWheel', x + w / 2, y + h / 2, deltaX=0, deltaY=100)
    page.settle()
    expect('the wheel moves', page.run('view.t0') > begin, True)
    begin = page.run('view.t0')
    page.mouse('mousePressed', x + w / 2, y + h / 3, button='left', clickCount=1)
    page.mouse('mouseMoved', x + w / 2, y + h / 3 + 60, button='left', buttons=1)
    page.mouse('mouseReleased', x + w / 2, y + h / 3 + 60, button='left', clickCount=1)
    page.settle()
    expect('dragging down moves back', page.run('view.t0') < begin, True)
    page.run("$('ladder').focus()")
    page.call('Input.dispatchKeyEvent', type='keyDown', key='0', text='0')
    page.settle()
    expect('key 0 shows all', page.run('view.t1 - view.t0'), page.run('view.end - view.begin'))
    if page.run("view.shown.some((i) => KINDS[kinds[i]].trouble)"):
        page.call('Input.dispatchKeyEvent', type='keyDown', key='n', text='n')
        page.settle()
        expect('key n goes to a packet in trouble', page.run('KINDS[kinds[view.chosen]].trouble'), True)
        expect('which is in sight in the list', page.run("!!document.querySelector('#rows .chosen')"), True)
        at_x, at_y = page.run('''((i, f, p) => { const y = f.y(p.t[i]), side = p.hca[i], far = p.arrives[i] < 0 ? y : f.y(p.arrives[i]);
            return [f.x[side] + 0.1 * (f.x[1 - side] - f.x[side]), y + 0.1 * (far - y)]; })(view.chosen, ladderFrame(), packets)''')
        page.mouse('mouseMoved', x + at_x, y + at_y)
        page.settle()
        expect('tooltip', page.run("!$('tip').hidden && $('tip').textContent.includes('PSN')"), True)
    if not page.run('view.shown.length'):
        return
    page.run("((i) => { $('qp').value = packets.hca[i] * 2 ** 24 + packets.from[i]; })(view.shown[0]), $('qp').dispatchEvent(new Event('change'))")
    page.settle()
    expect('only packets of the QP', page.run('view.shown.length > 0 && view.shown.every(ofQp)'), True)
    page.run("$('qp').selectedIndex = 0, $('qp').dispatchEvent(new Event('change'))")
    page.run("[...$('kinds').children].slice(0, 3).forEach((b) => b.click())")
    page.settle()
    expect('only trouble', page.run('view.shown.every((i) => KINDS[kinds[i]].trouble)'), True)
    page.run("[...$('kinds').children].slice(0, 3).forEach((b) => b.click())")
    page.settle()
    page.run("$('list').scrollTop = 0")
    page.settle()
    rows = page.run("$('rows').textContent")
    page.run("$('list').scrollTop = 1e9")
    page.settle()
    if page.run('view.shown.length') > 100:
        expect('the list scrolls', page.run("$('rows').textContent") != rows, True)
    expect('meaning of each counter', page.run("[...$('counters').tBodies[0].rows].every((r) => r.cells[3].textContent)"), True)
    page.run("$('changed').click()")
    expect('what is not as by default', page.run("[...$('config').tBodies[0].rows].every((r) => r.cells[1].textContent !== r.cells[2].textContent)"), True)
    page.run("$('changed').click()")
    page.run("$('config-filter').value = 'hca.link', $('config-filter').dispatchEvent(new Event('input'))")
    expect('filter of the configuration', page.run("[...$('config').tBodies[0].rows].every((r) => r.textContent.includes('hca.link'))"), True)


def check(page, folder):
    took = page.open(folder + '/report.html')
    expect_less('seconds to load', took, LOAD_S)
    name, shots = os.path.basename(os.path.realpath(folder)), os.environ.get('SHOTS')
    if shots:
        page.shot(f'{shots}/{name}.png', whole=True)
    first = page.run("[...$('phases').children].findIndex((b) => b.ariaPressed === 'true')")
    counts = check_counts(page, folder)
    page.run(f"$('phases').children[{first}].click()")
    check_drawing(page)
    slowest = page.run('''(async () => { let most = 0; viewShow(view.begin, view.end);
        for (let i = 0; i < 10; i++) { viewZoom(i % 2 ? 1.3 : 0.7); await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
            most = Math.max(most, view.drawMs); } return most; })()''')
    expect_less('ms to draw everything', slowest, FRAME_MS)
    check_handling(page)
    page.colours('dark')
    expect('dark', page.run('document.documentElement.dataset.theme'), 'dark')
    if shots:
        page.run("scrollTo(0, 0), $('phases').querySelector('[aria-pressed=true]').click(), viewTrouble(true)")
        page.settle()
        page.shot(f'{shots}/{name}.dark.png', whole=True)
    page.colours('light')
    expect('errors', page.errors, [])
    expect('requests', [url for url in page.requests if not url.startswith('file://') or not url.endswith('/report.html')], [])
    print(f"{folder}: {counts['out']} packets, loaded in {took:.2f} s, slowest of 10 frames {slowest:.0f} ms")


def main():
    page = Browser()
    try:
        for folder in sys.argv[1:]:
            check(page, folder)
    finally:
        page.close()


main()
