#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make coverage: what the tests, or with SCENARIOS=1 the scenarios alone, reached of a gcov build. Lines and branches of model/engine and host_driver
# come from gcov; BTH opcodes, AETH syndromes, QP transitions and HCR commands come from the logs of the runs. Each line of the two folders that nothing
# reached is written to $O/unreached.txt, with its function: a mistake there is missed. O: build folder; LOGS: folder with the folders of the runs.
set -uo pipefail
python3 - "$O" "$LOGS" <<'PY'
import collections, glob, gzip, json, os, re, subprocess, sys
out, logs = sys.argv[1], sys.argv[2]
top = os.getcwd()

# --- lines and branches: a line counts once, even if several objects contain it
PARTS = 'model/engine', 'host_driver'
lines, branches, functions = (collections.defaultdict(dict) for _ in range(3))
objects = sorted(o for part in PARTS for o in glob.glob(f'{out}/obj/{part}/**/*.gcda', recursive=True))
for at in range(0, len(objects), 16):
    for o in objects[at:at + 16]:
        done = subprocess.run(['gcov', '--json-format', '--branch-probabilities', '--stdout', o], capture_output=True, cwd=top)
        for text in done.stdout.splitlines():
            for f in json.loads(text)['files']:
                name = os.path.relpath(os.path.join(top, f['file']), top)
                if not name.startswith(PARTS) or '/tests/' in name:
                    continue
                for l in f['lines']:
                    n = l['line_number']
                    lines[name][n] = max(lines[name].get(n, 0), l['count'])
                    functions[name][n] = l.get('function_name', '')
                    for i, b in enumerate(l['branches']):
                        if not b.get('throw'):
                            branches[name][n, i] = max(branches[name].get((n, i), 0), b['count'])

def share(d):
    return sum(1 for v in d.values() if v), len(d)

def percent(hit, of):
    return f'{100 * hit / of:5.1f} %' if of else '    - '

print(f'{"file":<36} {"lines":>14} {"branches":>18}')
for part in PARTS:
    total = [0, 0, 0, 0]
    for name in sorted(n for n in lines if n.startswith(part + '/')):
        row = share(lines[name]) + share(branches[name])
        total = [a + b for a, b in zip(total, row)]
        print(f'{name:<36} {percent(*row[:2])} {row[1]:>6} {percent(*row[2:])} {row[3]:>8}')
    print(f'{part:<36} {percent(*total[:2])} {total[1]:>6} {percent(*total[2:])} {total[3]:>8}')

with open(out + '/unreached.txt', 'w') as f:
    for name in sorted(n for n in lines if n.endswith('.c')):
        source = open(name).read().splitlines()
        for n in sorted(k for k, count in lines[name].items() if not count):
            f.write(f'{name}:{n}: {functions[name][n]}: {source[n - 1].strip()}\n')
print(f'\nlines that nothing reached: {out}/unreached.txt')

# --- the protocol: what the logs contain, compared with the rows of model/interface
said, naks, commands = collections.Counter(), collections.Counter(), collections.Counter()
packet = re.compile(r' (?:out|in) port \d ((?:rc|uc|ud|xrc)_[a-z_]+) slid ')
nak = re.compile(r', (rnr) nak|, nak ([a-z_]+)')
command = re.compile(r' fw +command ([a-z0-9_]+) ')
for path in glob.glob(logs + '/**/run.log', recursive=True):
    for l in open(path, errors='replace'):
        m = command.search(l)
        if m:
            commands[m[1]] += 1
            continue
        m = packet.search(l)
        if m:
            said[m[1]] += 1
            m = nak.search(l)
            if m:
                naks[m[1] or m[2]] += 1

def rows(path, macro, row):
    text = open(path).read()
    text = text[text.index('#define ' + macro + '('):].replace('\\\n', ' ').split('\n')[0]
    return [x.lower() for x in re.findall(row, text)]

def show(title, have, known):
    never = [x for x in known if x not in have]
    print(f'\n{title}: {len(known) - len(never)} of {len(known)}')
    print('  ' + ' '.join(f'{k} {v}' for k, v in sorted(have.items())))
    if never:
        print('  never: ' + ' '.join(never))

print(f'\nBTH opcodes on the wire: {len(said)}')
print('  ' + ' '.join(f'{k} {v}' for k, v in sorted(said.items())))
show('NAK codes', naks, ['rnr'] + rows('model/interface/syndromes.h', 'NAK_CODES', r'N\((\w+),'))
transitions = rows('model/interface/qp_transitions.h', 'QP_TRANSITIONS', r'T\((\w+),')
show('QP transitions', {k: v for k, v in commands.items() if k in transitions}, sorted(set(transitions)))
show('HCR commands', commands, rows('model/interface/commands.h', 'HCR_COMMANDS', r'\bC\((\w+),'))
PY
