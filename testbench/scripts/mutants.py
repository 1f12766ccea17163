#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
make mutants: puts one mistake at a time into a copy of the host driver, and sees what hcasim says about it.

    mutants.py run [--only WORD,...] [--jobs N] [--dir DIR]    all mutants, or those whose name or kind begins with a WORD
    mutants.py sample [--dir DIR]                              those with a `sample` line, for make test: fails if one is judged otherwise
    mutants.py check                                           says which rows no longer fit the driver; takes a second
    mutants.py generate [--file GLOB,...] [--count N] [--seed S] [--jobs N]    N drawn mistakes (mutants_draw.py)
    mutants.py run --rows FILE                                 rows of FILE and none of ours; each runs all scenarios that reach
                                                               the function with the mistake, and any rule names it

A row in host_driver/iwarp runs the scenarios of testbench/scenarios/iwarp in place of the common ones, and all unit tests of
host_driver/iwarp if it names none.

A mutant is found when a run fails, and named when the first lines printed hold one of its rules and one of its functions.
It is misnamed when it is found without being named, and missed when every run passes.
A run that does not end counts as found only if it tells a guest error when it is interrupted, or what it waits for in vain.
CONFIGURATIONS are tried in order until one names the mutant. What a failing run printed is kept in DIR/NAME.said.
Results are files in DIR [$O/mutants]. They are not made again, so a killed run goes on where it stopped; a result is old when
the row, the driver, its unit tests or hcasim has changed. testbench/mutants/README.md describes the rows.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import itertools
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys

import mutants_draw

ROWS = pathlib.Path("testbench/mutants")
RULES = pathlib.Path("model/interface/rules.h")
BUILD = pathlib.Path(os.environ.get("O", "build"))
SOFTWARE = ("host_driver/rvt/", "host_driver/ipath/")
IWARP = "host_driver/iwarp/"
TREE = ["Makefile", "fw", "host_driver", "model", "testbench", "traces", "configs"]  # what a build and a run read
FIRST_LINES = 12  # what a person reads before anything else
RUN_SECONDS = 60  # a run that takes longer hangs
TELL_SECONDS = 10  # and has so long to say why, when it is asked to end
SCHEDULES = 200  # that a mutant is explored with
EXPLORE_SECONDS = 120
HANGS_MAX = 2  # runs that hang without a word: no further ones in this configuration
VERDICTS = ["named", "misnamed", "missed"]

# Tried on each mutant of ours after the scenarios of its row. A change of drivers is tried with them too, so they are the ones that do most.
COMMON = """tour soak rc_send rc_many rc_many_sges rc_inline rc_read rc_atomic rc_rnr srq_shared xrc_send ud_send ud_multicast cq_arm
	cq_resize frwr mw_type2 qp_reuse qp_sqd processes_killed rdma_connect kernel_rw mad_port_info reset_under_load device_fatal bring_up_refused""".split()


class Wrong(Exception):
    """Wrong input: one line for the user."""


# --- rows


class Mutant:
    """A row: one mistake, where it is, and what must be said about it."""

    WORDS = ["file", "what", "run", "unit", "explore", "rule", "function", "equivalent", "sample"]

    def __init__(self, name, kind, place):
        self.name, self.kind, self.place = name, kind, place
        self.said = dict.fromkeys(Mutant.WORDS, "")
        self.hunks = [[]]
        self.chosen = []  # scenarios that run instead of COMMON

    def add(self, line):
        word, _, text = line.partition(" ")
        if line.startswith("@@"):
            self.hunks.append([])
        elif line[0] in " -+":
            self.hunks[-1].append(line)
        elif self.said.get(word) != "":
            raise Wrong(f"{self.place}: {self.name}: unexpected '{word}'; expected one of {', '.join(Mutant.WORDS)}, each once")
        else:
            self.said[word] = text.strip()

    def changes(self, text):
        """Where each hunk begins in the file, its old lines and its new ones."""
        for hunk in self.hunks:
            old, new = ("".join(line[1:] + "\n" for line in hunk if line[0] in side) for side in (" -", " +"))
            found = ("\n" + text).count("\n" + old)
            if found != 1:
                raise Wrong(f"{self.place}: {self.name}: its old lines are {found} times in {self.said['file']}, not once")
            yield ("\n" + text).index("\n" + old), old, new

    def apply(self, text):
        for at, old, new in sorted(self.changes(text), reverse=True):
            text = text[:at] + new + text[at + len(old):]
        return text

    def functions(self, text):
        """The functions around the mistake, or those that the row names."""
        if self.said["function"]:
            return self.said["function"].split()
        around = []
        for at, old, _ in self.changes(text):
            starts = re.findall(r"^(?![#/\s]).*?(\w+)\([^;{]*\)\n\{", text[: at + len(old)], re.M)
            around += [f for f in starts[-1:] if f not in around]
        return around


def rows_read(paths):
    mutants = {}
    for path in paths:
        current = None
        for n, line in enumerate(path.read_text().splitlines(), 1):
            if not line or line.startswith("#"):
                continue
            if line.startswith("mutant "):
                current = Mutant(line.split()[1], path.stem, f"{path}:{n}")
                if current.name in mutants:
                    raise Wrong(f"{current.place}: a second mutant {current.name}")
                mutants[current.name] = current
            elif current is None:
                raise Wrong(f"{path}:{n}: expected 'mutant NAME'")
            else:
                current.add(line)
    return list(mutants.values())


@functools.cache
def rules_all():
    return re.findall(r"^\tR\((\w+)", RULES.read_text(), re.M)


def check(mutants):
    """What is wrong with the rows, a line each."""
    rules = set(rules_all())
    for m in mutants:
        try:
            text = pathlib.Path(m.said["file"]).read_text()
            if m.apply(text) == text:
                raise Wrong(f"{m.place}: {m.name}: changes nothing")
            if not m.functions(text):
                raise Wrong(f"{m.place}: {m.name}: no function around it; give one: function NAME")
            for rule in set(m.said["rule"].split()) - rules:
                raise Wrong(f"{m.place}: {m.name}: no rule {rule} in {RULES}")
            for scenario in (m.said["run"] + " " + m.said["explore"]).split():
                if not has_scenario(scenario):
                    raise Wrong(f"{m.place}: {m.name}: no scenario {scenario}")
        except (Wrong, OSError) as e:
            yield str(e)


# --- one way to run a mutated driver


class Configuration:
    """A way to run a mutant: `runs` gives the arguments of each run, by its name; one that takes longer than `seconds` hangs."""

    def __init__(self, name, runs, seconds=RUN_SECONDS):
        self.name, self.runs, self.seconds = name, runs, seconds


def checked_program():
    return next(p for p in (BUILD / "hcasim-checked", BUILD / "hcasim") if p.exists())


def is_software(mutant):
    """Whether the mistake is in a driver of devices whose transport is in software."""
    return mutant.said["file"].startswith(SOFTWARE)


def is_iwarp(mutant):
    """Whether the mistake is in connections over TCP, where no device takes part."""
    return mutant.said["file"].startswith(IWARP)


def common_of(mutant):
    """The scenarios that run after those of a row."""
    if is_software(mutant):
        return software_scenarios()
    return iwarp_scenarios() if is_iwarp(mutant) else COMMON


def scenario_runs(mutant):
    """With the driver's checker (testbench/dsan) where this build has it: it finds all that hcasim finds, and more."""
    program = checked_program()
    names = mutant.said["run"].split() + (mutant.chosen or common_of(mutant))
    devices = ["-s", "hca0.personality=ipath", "-s", "hca1.personality=ipath"] if is_software(mutant) else []
    return {s: [str(program), "run", s, *devices, "--trace", "log", "-o", "out"] for s in dict.fromkeys(names)}


def software_scenarios():
    """Those that pass between two such devices (scripts/matrix.sh)."""
    rows = (line.split() for line in pathlib.Path("testbench/matrix.pass").read_text().splitlines())
    return [row[0] for row in rows if row[1:] == ["sw-sw"]]


def iwarp_scenarios():
    return scenarios_of(sorted(pathlib.Path("testbench/scenarios/iwarp").glob("*.c")))


def unit_runs(mutant):
    tests = mutant.said["unit"].split()
    if not tests and is_iwarp(mutant):
        tests = [str(p.with_suffix("")) for p in sorted(pathlib.Path(IWARP, "tests").glob("*_test.c"))]
    return {t: [f"{BUILD}/{t}"] for t in tests}


def explore_runs(mutant):
    """Many schedules: for mistakes that show only when threads, interrupts and device overtake each other."""
    program = checked_program()
    return {s: [str(program), "explore", s, "--schedules", str(SCHEDULES), "-j", "1", "-o", "out.schedule"] for s in mutant.said["explore"].split()}


def scenarios_in(folders):
    """Those of this device, in these folders of testbench/scenarios or in all; not the benchmarks, which do for long what others do, too."""
    paths = sorted(pathlib.Path("testbench/scenarios").glob("*/*.c"))
    names = scenarios_of(p for p in paths if p.parent.name != "iwarp" and (not folders or p.parent.name in folders))
    return [name for name in names if not name.startswith("bench_")]


def scenarios_of(paths):
    return [name for p in paths for name in re.findall(r"^SCENARIO\((\w+)", p.read_text(), re.M)]


def reached_make(scenario, kept):
    """Asks the unchanged driver once which of its functions a scenario reaches."""
    out = kept / f"{scenario}.run"
    argv = [str(checked_program()), "run", scenario, "--reached", "--trace", "none", "-o", str(out)]
    try:
        subprocess.run(argv, capture_output=True, timeout=RUN_SECONDS)
        (out / "reached.txt").replace(kept / scenario)
    except (OSError, subprocess.TimeoutExpired):
        pass  # not known
    shutil.rmtree(out, ignore_errors=True)


def reached_by(scenarios, jobs, folder):
    """{scenario: the functions that it reaches}, in the order in which they are tried: what does least is quick, and says most clearly what is wrong.
    Kept as long as the program is the same. Scenarios of which it is not known are not in it."""
    kept = folder / "reached" / hashlib.sha256(checked_program().read_bytes()).hexdigest()[:16]
    kept.mkdir(parents=True, exist_ok=True)
    todo = [s for s in scenarios if not (kept / s).exists()]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for n, _ in enumerate(pool.map(lambda s: reached_make(s, kept), todo), 1):
            if n % 20 == 0 or n == len(todo):
                print(f"which functions do scenarios reach? {n}/{len(todo)}", flush=True)
    silent = [s for s in scenarios if not (kept / s).exists()]
    if silent:
        print(f"{len(silent)} scenarios did not say what they reach, and are not tried: {' '.join(silent)}", flush=True)
    reached = {s: set((kept / s).read_text().split()) for s in scenarios if s not in silent}
    return dict(sorted(reached.items(), key=lambda item: len(item[1])))


@functools.cache
def scenarios_all():
    text = "".join(f.read_text() for f in pathlib.Path("testbench/scenarios").glob("*/*.c"))
    return set(re.findall(r"^\w*SCENARIO\w*\(\s*(\w+),", text, re.M))


def has_scenario(name):
    return name in scenarios_all()


CONFIGURATIONS = [
    Configuration("scenario", scenario_runs),
    Configuration("unit test", unit_runs),
    Configuration("schedules", explore_runs, EXPLORE_SECONDS),
]


# --- a copy of the tree that a job works in


RUNNING = set()  # children: in sessions of their own, or Ctrl-C would make their runs fail and look like findings


def child_start(argv, folder):
    process = subprocess.Popen(argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    RUNNING.add(process)
    return process


def child_end(process, timeout=None):
    """What it printed. Raises TimeoutExpired."""
    said = process.communicate(timeout=timeout)[0]
    RUNNING.discard(process)
    return said


class Workspace:
    OBJECTS = ["obj/host_driver", "obj/checked/host_driver"]  # those of mutated sources
    ALL_OBJECTS = ["obj"]  # a header has more users than the driver

    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        (folder / BUILD).mkdir(parents=True)
        for name in TREE + [BUILD / part for part in ("obj", "gen", "fw", "flags.stamp", "deps.stamp")]:
            subprocess.run(["cp", "-a", name, folder / name], check=True)

    def enter(self, mutant):
        path = pathlib.Path(mutant.said["file"])
        os.unlink(self.folder / path)
        (self.folder / path).write_text(mutant.apply(path.read_text()))

    def leave(self, mutant):
        """The file as it was; and the objects, or make would take those of the mutant for new."""
        shutil.copy2(mutant.said["file"], self.folder / mutant.said["file"])
        for name in self.ALL_OBJECTS if mutant.said["file"].endswith(".h") else self.OBJECTS:
            if (BUILD / name).exists():
                subprocess.run(["cp", "-a", BUILD / name, self.folder / BUILD / os.path.dirname(name)], check=True)

    def make(self, programs):
        """Variables of the make that calls this script come with MAKEFLAGS, so that the copied objects fit."""
        process = child_start(["make", "-s", *programs], self.folder)
        said = child_end(process)
        if process.returncode:
            raise Wrong(f"does not build: {next((line for line in said.splitlines() if 'rror' in line), 'make')}")

    def run(self, argv, seconds):
        """(whether it ended by itself, whether it failed and said so, what it printed)"""
        process = child_start(argv, self.folder)
        try:
            said = child_end(process, seconds)
            if process.returncode == 2 and "run" in argv:
                raise Wrong(f"{' '.join(argv)}: {said.strip()}")
            return True, process.returncode != 0, said
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
        try:
            said = child_end(process, TELL_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            said = child_end(process)
        return False, "failed" in said or "guest error" in said, said


# --- the verdict


def judge(mutant, functions, said):
    """Whether the first lines name it, and the first of them that tells what failed."""
    lines = [line for line in said.splitlines() if line.strip()][:FIRST_LINES]
    first = "\n".join(lines)
    rules = [r for r in mutant.said["rule"].split() if re.search(rf"\b{r}\b", first)]
    places = [f for f in functions if re.search(rf"\b{f}\b", first)]
    return bool(rules and places), " ".join(rules + places) or (lines[0].strip() if lines else "nothing")


def configuration_try(mutant, functions, configuration, workspace):
    """The verdict of the first run that fails."""
    runs, hangs = configuration.runs(mutant), []
    if runs:
        workspace.make(sorted({argv[0] for argv in runs.values()}))
    for name, argv in runs.items():
        ended, failed, said = workspace.run(argv, configuration.seconds)
        if failed:
            named, words = judge(mutant, functions, said)
            return "named" if named else "misnamed", f"{configuration.name} {name}", words, said
        if not ended:
            hangs.append(name)
        if len(hangs) == HANGS_MAX:
            break
    return "missed", "", f"hangs without a word: {' '.join(hangs)}" if hangs else "", ""


def try_out(mutant, workspace):
    """The best verdict of all configurations, by whom, and what was said."""
    functions = mutant.functions(pathlib.Path(mutant.said["file"]).read_text())
    verdicts = []
    for configuration in CONFIGURATIONS:
        verdicts.append(configuration_try(mutant, functions, configuration, workspace))
        if verdicts[-1][0] == "named":
            break
    return min(verdicts, key=lambda v: VERDICTS.index(v[0]))


def digest(mutant):
    """What a result depends on."""
    state = hashlib.sha256(json.dumps([mutant.said, mutant.hunks]).encode())
    unit_tests = [pathlib.Path(f"{test}.c") for test in unit_runs(mutant)]
    for path in [checked_program(), pathlib.Path(mutant.said["file"]), pathlib.Path(__file__), *unit_tests]:
        state.update(path.read_bytes())
    return state.hexdigest()


def result_of(mutant, folder):
    """The kept result, if it is not old."""
    try:
        kept = json.loads((folder / "results" / mutant.name).read_text())
        return kept if kept["digest"] == digest(mutant) else None
    except (OSError, ValueError, KeyError):
        return None


def result_make(mutant, workspace, folder):
    try:
        workspace.enter(mutant)
        verdict, by, words, said = try_out(mutant, workspace)
    except Wrong as e:
        verdict, by, words, said = "unbuilt", "", str(e), ""
    finally:
        workspace.leave(mutant)
    result = {"digest": digest(mutant), "verdict": verdict, "by": by, "words": words}
    (folder / "said" / mutant.name).write_text(said)
    part = folder / "results" / (mutant.name + ".part")
    part.write_text(json.dumps(result))
    part.replace(folder / "results" / mutant.name)
    return result


def results_make(mutants, jobs, folder):
    """{name: result} of all; the ones that are kept are not made again."""
    for name in ("results", "said"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    results = {m.name: result_of(m, folder) for m in mutants}
    todo = [m for m in mutants if not results[m.name]]
    workspaces = queue.Queue()
    for n in range(min(jobs, len(todo))):
        workspaces.put(Workspace(folder / f"job{n}"))

    def one(mutant):
        workspace = workspaces.get()
        try:
            return mutant, result_make(mutant, workspace, folder)
        finally:
            workspaces.put(workspace)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            for n, done in enumerate(concurrent.futures.as_completed([pool.submit(one, m) for m in todo]), 1):
                mutant, result = done.result()
                results[mutant.name] = result
                print(f"{n}/{len(todo)} {line_of(mutant, result)}", flush=True)
        except KeyboardInterrupt:
            for process in RUNNING:
                process.kill()
            os._exit(130)
    return results


# --- what is printed


def line_of(mutant, result):
    text = f"{mutant.kind}/{mutant.name}: {result['verdict']}"
    if result["by"]:
        text += f" by {result['by']}: {result['words'][:110]}"
    elif result["words"]:
        text += f": {result['words']}"
    return text + (" (equivalent)" if mutant.said["equivalent"] else "")


def report(mutants, results):
    """Those not named, a table by kind, and the last line. Equivalent mutants do not count."""
    counted = [m for m in mutants if not m.said["equivalent"]]
    verdict = {m.name: results[m.name]["verdict"] for m in mutants}
    wrong = [m for m in mutants if verdict[m.name] == "unbuilt" or m.said["equivalent"] and verdict[m.name] != "missed"]

    print()
    for m in [m for m in counted if verdict[m.name] != "named"] + [m for m in wrong if m not in counted]:
        print(line_of(m, results[m.name]))
    print(f"\n{'kind':16} {'mutants':>8}" + "".join(f"{v:>10}" for v in VERDICTS) + f"{'equivalent':>12}")
    for kind in dict.fromkeys(m.kind for m in mutants):
        these = [verdict[m.name] for m in counted if m.kind == kind]
        same = sum(1 for m in mutants if m.kind == kind and m.said["equivalent"])
        print(f"{kind:16} {len(these):8}" + "".join(f"{these.count(v):10}" for v in VERDICTS) + f"{same:12}")
    named, misnamed = (sum(verdict[m.name] == v for m in counted) for v in VERDICTS[:2])
    print(f"found {named + misnamed} of {len(counted)}, named {named}")
    return 1 if wrong else 0


# --- drawn mistakes


@functools.cache
def compile_line(path):
    """How make compiles a file: to assembler without line numbers, and with the file's text from the standard input."""
    name = BUILD / "obj" / path.with_suffix(".o")
    said = subprocess.run(["make", "-s", "-n", "-W", str(path), str(name), "V=1"], check=True, capture_output=True, text=True).stdout
    line = next(line for line in said.splitlines() if f" -c -o {name}" in line)
    return line.replace(f" -c -o {name} {path}", f" -g0 -x c -iquote {path.parent} -S -o - -").replace(" -MMD -MP", "").split()


def code_of(path, text):
    """What the compiler makes of it; None if it has anything to say."""
    done = subprocess.run(compile_line(path), input=text.encode(), capture_output=True)
    return None if done.returncode or done.stderr else done.stdout


def open_minded(row):
    """Nobody knows yet what should find this row: any rule names it."""
    row.said["rule"] = row.said["rule"] or " ".join(rules_all())


def scenarios_choose(rows, asked):
    """The scenarios that reach the function with the mistake run. All do where that is not known: not in a function, or in one
    that accesses no memory."""
    rows = [row for row in rows if not is_software(row)]  # what reaches the drivers of the others is not asked
    scenarios_reach([row for row in rows if is_iwarp(row)], iwarp_scenarios(), asked)
    scenarios_reach([row for row in rows if not is_iwarp(row)], scenarios_in(folders_of(asked)), asked)


def scenarios_reach(rows, names, asked):
    if not rows:
        return
    reached = reached_by(names, max(1, asked.jobs), asked.dir)
    for row in rows:
        functions = row.functions(pathlib.Path(row.said["file"]).read_text())
        row.chosen = [s for s, of in reached.items() if of.intersection(functions)] or names


def folders_of(asked):
    return asked.folders.split(",") if asked.folders else ()


def rows_drawn(paths, seed):
    """Endless, for `islice`: rows of drawn mistakes."""
    for n, (path, operator, function, what, hunk) in enumerate(mutants_draw.draw(paths, seed)):
        row = Mutant(f"s{seed}_{n:04}_{operator}", f"drawn_{seed}", f"seed {seed}")
        row.hunks = [hunk]
        row.said.update(file=path, what=f"{function} {what}", function=function)
        open_minded(row)
        yield row


def rows_built(drawn, count):
    """The first rows that compile without a warning, and to other code than the file as it is."""
    rows, right = [], functools.cache(lambda path: code_of(path, path.read_text()))
    for row in drawn:
        path = pathlib.Path(row.said["file"])
        if code_of(path, row.apply(path.read_text())) not in (None, right(path)):
            rows.append(row)
        if len(rows) == count:
            return rows
    raise Wrong(f"only {len(rows)} mistakes can be made in these files")


def row_text(row):
    """As in a file of rows, for those who want to keep it."""
    return "\n".join([f"mutant {row.name}", f"file {row.said['file']}", f"what {row.said['what']}", f"function {row.said['function']}", *row.hunks[0], ""])


def drawn_check():
    """Whether a few drawn mistakes fit the driver, as check() does for rows."""
    for row in itertools.islice(rows_drawn(sorted(pathlib.Path("host_driver/mlx4").glob("*.c")), 1), 20):
        yield from check([row])


def generate(asked):
    paths = sorted(p for glob in asked.file.split(",") for p in pathlib.Path().glob(glob))
    if not paths:
        raise Wrong(f"no file fits {asked.file}")
    rows = rows_built(rows_drawn(paths, asked.seed), asked.count)
    asked.dir.mkdir(parents=True, exist_ok=True)
    (asked.dir / f"drawn_{asked.seed}.mutants").write_text("\n".join(row_text(row) for row in rows))
    scenarios_choose(rows, asked)
    return report(rows, results_make(rows, max(1, asked.jobs), asked.dir))


def sample_judge(mutants, results):
    """Each must be judged at least as well as its row says."""
    wrong = 0
    for m in mutants:
        got = results[m.name]["verdict"]
        if got != "named" and (m.said["sample"], got) != ("found", "misnamed"):
            print(f"{m.place}: {m.name}: expected {m.said['sample']}, got {got}")
            wrong += 1
    return 1 if wrong else 0


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("command", choices=["run", "sample", "check", "generate"])
    arguments.add_argument("--only", default="", help="names or kinds, or how they begin, with commas between")
    arguments.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments.add_argument("--dir", type=pathlib.Path, default=BUILD / "mutants")
    arguments.add_argument("--rows", type=pathlib.Path, help="a file of rows that nobody has chosen rules and scenarios for")
    arguments.add_argument("--file", default="host_driver/mlx4/*.c", help="files to make mistakes in, with commas between")
    arguments.add_argument("--folders", default="", help="of testbench/scenarios, with commas between: drawn mistakes and --rows run scenarios of these, not of all")
    arguments.add_argument("--count", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=1)
    asked = arguments.parse_args()
    if asked.command == "generate":
        return generate(asked)

    mutants = rows_read([asked.rows] if asked.rows else sorted(ROWS.glob("*.mutants")))
    if asked.rows:
        for row in mutants:
            open_minded(row)
    wrong = list(check(mutants)) + list(drawn_check())
    for line in wrong:
        print(line)
    if wrong or asked.command == "check":
        return 1 if wrong else 0
    words = tuple(w for w in asked.only.split(",") if w)
    if words:
        mutants = [m for m in mutants if m.name.startswith(words) or m.kind.startswith(words)]
    if asked.command == "sample":
        mutants = [m for m in mutants if m.said["sample"]]
    if not mutants:
        raise Wrong(f"no mutant or kind begins with {' or '.join(words)}")
    if asked.rows:
        scenarios_choose(mutants, asked)
    results = results_make(mutants, max(1, asked.jobs), asked.dir)
    return (sample_judge if asked.command == "sample" else report)(mutants, results)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as e:
        sys.exit(f"mutants.py: {e}")
