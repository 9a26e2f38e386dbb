"""Check the model of the ledger with spin: as it is (must hold), and with each known mistake (must not).

Run by `make model`; `python tests/model/run.py NO_LATE` runs only what is named. Exit code 0: all as expected;
1: not; 2: spin or a C compiler is missing, or a name is unknown.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

MODEL = Path(__file__).with_name("ledger.pml")
COMPILERS = ("cc", "gcc", "clang")
SECONDS = 170
MEGABYTES = 6000
DEPTH = 100_000

# What an assertion of the model, as spin prints it, says. Any other one is an error of the model itself.
BROKEN = {
    "((claimed>>s)&1)": "a job is lost",
    "!((claimed&batch))": "a row is claimed twice",
    "!(((done>>job[s])&1))": "a settled job runs again",
    "!((late&given))": "a settle counts after the reap",
    "!((((ended>>1)&1)&&leased[1]))": "an ended executor keeps a job",
}


@dataclass(frozen=True)
class Case:
    """One search: the model with these macros, and what must come of it."""

    name: str
    macros: str
    expected: str = ""  # the property that must break; none: all must hold


FLOOR = "ENQUEUERS=3 ROWS=3 CLAIMERS=1 TRIES=2"
LATE = "ENQUEUERS=2 ROWS=3 CLAIMERS=1 TRIES=2"
PAIR = "ENQUEUERS=2 ROWS=2 CLAIMERS=2 TRIES=1"

CASES = (
    Case("one claimer", "ENQUEUERS=3 ROWS=4 CLAIMERS=1 TRIES=3"),
    Case("one claimer, several lanes", "ENQUEUERS=3 ROWS=3 CLAIMERS=1 TRIES=2 EARLY_XID"),
    Case("one claimer, pass_open", "ENQUEUERS=3 ROWS=3 CLAIMERS=1 TRIES=2 PASS_OPEN"),
    Case("two claimers", "ENQUEUERS=3 ROWS=3 CLAIMERS=2 TRIES=1"),
    Case("two claimers, two claims each", "ENQUEUERS=2 ROWS=3 CLAIMERS=2 TRIES=2"),
    Case("two claimers, unique key alone", "ENQUEUERS=2 ROWS=3 CLAIMERS=2 TRIES=1 KEY_ALONE"),
    Case("one claimer, reaped", "ENQUEUERS=2 ROWS=3 CLAIMERS=1 TRIES=2 REAPER"),
    Case("two claimers, one reaped", f"{PAIR} REAPER"),
    Case("NO_LATE", f"{FLOOR} NO_LATE", "a job is lost"),
    Case("NO_LANE_LOCK", f"{PAIR} NO_LANE_LOCK", "a row is claimed twice"),
    Case("WRONG_XMAX", f"{FLOOR} WRONG_XMAX", "a job is lost"),
    Case("XID_FIRST", f"{FLOOR} XID_FIRST", "a job is lost"),
    Case("TORN_SEQ", f"{FLOOR} TORN_SEQ", "a job is lost"),
    Case("TWO_STATEMENTS", f"{FLOOR} TWO_STATEMENTS", "a job is lost"),
    Case("NO_FENCE", f"{PAIR} REAPER NO_FENCE SEND_ONCE", "a settle counts after the reap"),
    Case("NO_FENCE, sent twice", f"{PAIR} REAPER NO_FENCE", "a settled job runs again"),
    Case("STALE_REAP", f"{PAIR} REAPER STALE_REAP", "an ended executor keeps a job"),
    Case("NO_RECHECK", f"{PAIR} REAPER NO_RECHECK", "a settled job runs again"),
    Case("NO_SUB_CURSOR", f"{LATE} NO_SUB_CURSOR", "a row is claimed twice"),
    Case("CUT_FORGETS", f"{LATE} CUT_FORGETS", "a job is lost"),
    Case("LATE_AT_NEXT", f"{FLOOR} LATE_AT_NEXT", "a job is lost"),
    Case("PASS_ALL", f"{FLOOR} PASS_OPEN PASS_ALL", "a job is lost"),
)


@dataclass(frozen=True)
class Result:
    case: Case
    found: str  # what broke, "" for nothing, "error: …" if the search says nothing
    states: int
    steps: int  # the length of the longest path
    seconds: float

    @property
    def is_right(self) -> bool:
        return self.found == self.case.expected


def missing() -> str:
    """What has to be installed before anything can be run, or nothing."""
    if shutil.which("spin") is None:
        return "spin is not installed; on Debian and Ubuntu: apt-get install spin"
    if compiler() is None:
        return "spin needs a C compiler (cc, gcc or clang); on Debian and Ubuntu: apt-get install gcc libc6-dev"
    return ""


def compiler() -> str | None:
    return next((path for path in map(shutil.which, COMPILERS) if path), None)


def check(case: Case) -> Result:
    """Search all states of one case, in a folder of its own that is gone afterwards."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pulse-model-") as folder:
        shutil.copy(MODEL, folder)
        macros = [f"-D{macro}" for macro in case.macros.split()]
        # spin counts "Error:" lines only on its output, not in its exit code.
        made = _run(folder, "spin", "-a", *macros, MODEL.name)
        if "Error" in made or not Path(folder, "pan.c").exists():
            return Result(case, f"error: spin: {made.strip()[:300]}", 0, 0, 0)
        # A mistake is found so soon that compiling well takes longer than searching.
        flags = ["-O0" if case.expected else "-O2", "-w", "-DSAFETY", f"-DMEMLIM={MEGABYTES}"]
        told = _run(folder, compiler() or "cc", *flags, "-o", "pan", "pan.c")
        if not Path(folder, "pan").exists():
            return Result(case, f"error: the compiler: {told.strip()[:300]}", 0, 0, 0)
        told = _run(folder, "./pan", f"-m{DEPTH}", "-w24")
    states = re.search(r"([\d.e+]+) states, stored", told)
    steps = re.search(r"depth reached (\d+)", told)
    return Result(
        case,
        verdict(told),
        int(float(states[1])) if states else 0,
        int(steps[1]) if steps else 0,
        time.monotonic() - start,
    )


def verdict(told: str) -> str:
    """What spin's verifier found: a property that broke, nothing after a complete search, or an error."""
    broken = re.search(r"^pan:\d+: (.*?) \(at depth \d+\)", told, re.MULTILINE)
    if broken:
        text = re.sub(r"^assertion violated\s*", "", broken[1])
        return BROKEN.get(re.sub(r"\s", "", text), f"error: {broken[1]}")
    if "errors: 0" not in told or "Search not completed" in told or "search depth too small" in told:
        return f"error: the search was not completed: {' '.join(told.split())[-200:] or 'out of time'}"
    return ""


def _run(folder: str, *command: str) -> str:
    try:
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def line(result: Result) -> str:
    found = result.found or "holds, all states searched"
    mark = "ok" if result.is_right else f"WRONG, expected: {result.case.expected or 'it holds'}"
    return f"{result.case.name:31} {found:31} {result.states:>10,} {result.steps:>6} {result.seconds:>6.1f}  {mark}"


def main(names: Sequence[str]) -> int:
    unknown = set(names) - {case.name for case in CASES}
    if unknown:
        print(
            f"no such case: {', '.join(sorted(unknown))}; there are: {', '.join(c.name for c in CASES)}",
            file=sys.stderr,
        )
        return 2
    if lacking := missing():
        print(f"the model cannot be checked: {lacking}", file=sys.stderr)
        return 2
    chosen = [case for case in CASES if not names or case.name in names]
    print(f"{'case':31} {'found':31} {'states':>10} {'steps':>6} {'s':>6}")
    wrong = 0
    with ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:  # a search takes up to 2 GB
        for result in pool.map(check, chosen):
            print(line(result), flush=True)
            wrong += not result.is_right
    print(f"{len(chosen) - wrong} of {len(chosen)} as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
