"""The recorded row and its file. A row stands alone: target, samples and environment are all in it."""

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.environment import Environment
from benchmarks.scenario import Measured, Sample
from benchmarks.target import Target
from benchmarks.verdict import Number, Verdict, judge, reduce

Samples = list[int | float | dict[str, int | float]]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a "must reach" table, as measured."""

    scenario: str
    value: float | None
    unit: str
    target: Target
    holds: bool
    spread: float | None
    note: str
    rounds_done: int
    rounds_planned: int
    error: str
    quick: bool
    command: str
    details: dict[str, str]
    samples: Samples
    environment: Environment

    def judged_again(self) -> Verdict:
        """What the samples in this row say, whatever the row itself claims."""
        return judge(
            self.target,
            self.samples,
            rounds_done=self.rounds_done,
            rounds_planned=self.rounds_planned,
            error=self.error,
        )


def recorded(target: Target, sample: Sample) -> Samples:
    """The part of one round's sample that `target` is judged by, in the form that the file keeps."""
    measured = _of(sample, target.key)
    if target.kind == "alike":
        if not isinstance(measured, Mapping):
            raise TypeError(f"{target.key!r} must be a mapping of cases, got {type(measured).__name__}")
        return [{case: _one(target, number) for case, number in measured.items()}]
    if target.baseline is not None:
        return [{"value": _one(target, measured), "baseline": _one(target, _of(sample, target.baseline))}]
    return list(_numbers(target.key, measured))


def write(path: Path, rows: Sequence[Row]) -> None:
    """Replace `path` as a whole or not at all. One field a line: a long list of samples is one line of a diff."""
    text = "[\n" + ",\n".join(_block(row) for row in rows) + "\n]\n"
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def read(path: Path) -> list[Row]:
    """The rows of a file; msgspec.DecodeError says where it is not one."""
    return msgspec.json.decode(path.read_bytes(), type=list[Row])


def _block(row: Row) -> str:
    fields = msgspec.to_builtins(row)
    lines = (f'  "{name}": {json.dumps(value, ensure_ascii=False, allow_nan=False)}' for name, value in fields.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def _one(target: Target, measured: Measured) -> Number:
    numbers = _numbers(target.key, measured)
    return numbers[0] if len(numbers) == 1 else _trimmed(target.key, reduce(target.stat, numbers))


def _numbers(key: str, measured: Measured) -> list[Number]:
    if isinstance(measured, Mapping):
        raise TypeError(f"{key!r} is a mapping of cases, which only `Alike` can judge")
    return [_trimmed(key, each) for each in (measured if isinstance(measured, Sequence) else [measured])]


def _of(sample: Sample, key: str) -> Measured:
    if key not in sample:
        raise KeyError(f"the sample has no {key!r}, only {sorted(sample)}")
    return sample[key]


def _trimmed(key: str, number: object) -> Number:
    """Six digits are more than any clock here is good for, and half the file. Counts stay exact."""
    if not isinstance(number, int | float) or isinstance(number, bool) or not math.isfinite(number):
        raise TypeError(f"{key!r} must be finite numbers, got {number!r}")
    return number if isinstance(number, int) else float(f"{number:.6g}")
