#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stats_check.py HCASIM SCENARIO DIR: compares --stats of a run as text, as text with zeros and as JSON
with each other and with stats.json. Then checks counters that small caches and few tags must raise."""
import json
import subprocess
import sys

hcasim, scenario, folder = sys.argv[1:]

# Settings that leave the device too little of something, and the counter that each must raise.
STARVED = {
    'hca.translate.mtt_entries=64': 'translate.mtt_evictions',
    'hca.translate.mpt_entries=1': 'translate.mpt_evictions',
    'hca.translate.miss_latency=20us': 'translate.miss_ps',
    'hca.translate.mtt_line=1': 'translate.miss_waits',
    'hca.context_cache.requester_entries=1': 'context_cache.evictions',
    'hca.context_cache.miss_latency=20us': 'scheduler.stall_ps',
    'hca.wqe_fetch.entries=16': 'wqe_fetch.evictions',
    'hca.wqe_fetch.reads=1': 'wqe_fetch.waits',
    'hca.pcie.tags=1': 'pcie.tag_stall_ps',
}


def run(*options):
    done = subprocess.run([hcasim, 'run', scenario, '-o', folder, '--trace', 'none', *options], check=True, capture_output=True, text=True)
    return done.stdout


def rows(text):
    """Returns the table: {(stage, counter): values}. A stage's name is on a line of its own, not indented."""
    lines = text[text.index('counters '):].splitlines()
    devices, found, stage = lines[0].split()[1:], {}, None
    for line in lines[1:]:
        words = line.split()
        if not line.startswith('  '):
            if len(words) != 1:
                break  # the run prints more after the table
            stage = words[0]
            continue
        if not words[1].isdigit():
            break
        found[stage, words[0]] = [int(w) for w in words[1:1 + len(devices)]]
        assert len(words) > 1 + len(devices), f'nothing said of {line}'
    return devices, found


def flat(table):
    devices, found = table
    return {f'{d}.{stage}.{counter}': values[i] for (stage, counter), values in found.items() for i, d in enumerate(devices)}


# Most JSON readers would silently drop a repeated key.
def once(pairs):
    assert len(dict(pairs)) == len(pairs), 'a key stands twice'
    return dict(pairs)


stats = json.loads(run('--stats=json'), object_pairs_hook=once)
with open(f'{folder}/stats.json', encoding='utf-8') as kept:
    assert json.load(kept) == stats, 'stats.json is not what was printed'
assert flat(rows(run('--stats=all'))) == stats, '--stats=all'
devices, short = rows(run('--stats'))
assert all(any(values) for values in short.values()), 'a row of zeros'
told = flat((devices, short))
assert all(told.get(key, 0) == value for key, value in stats.items()), '--stats lacks something'
assert 'counters' not in run(), 'counters without --stats'
for setting, counter in STARVED.items():
    starved = json.loads(run('--stats=json', '-s', setting))
    before, after = (sum(s[f'{d}.{counter}'] for d in devices) for s in (stats, starved))
    print(f'{setting}: {counter} from {before} to {after}')
    assert after > before, f'{setting} does not raise {counter}'
