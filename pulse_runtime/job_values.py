"""Hostile values, refused before they are sent: what JSON or Postgres would refuse, or keep as something else."""

import math
import re
from typing import Any

import msgspec

from pulse_runtime.errors import PulseError

DEEPEST = 100
_INT64 = range(-(2**63), 2**63)
_BAD_TEXT = re.compile("[\x00\ud800-\udfff]")


class BadJob(PulseError, ValueError):  # noqa: N818
    """A job that cannot be enqueued. Nothing was sent.

    `field` is the place, for instance `args.to[2]`; `index` is that of the job in `enqueue_many`.
    """

    exit_code = 2

    def __init__(self, field: str, problem: str, *, index: int | None = None) -> None:
        where = field if index is None else f"job {index}: {field}"
        super().__init__(f"{where}: {problem}")
        self.field = field
        self.problem = problem
        self.index = index


def check_text(field: str, value: object, *, most: int, least: int = 1) -> None:
    """Refuse what is not text of `least` to `most` bytes of UTF-8 that Postgres can hold."""
    if not isinstance(value, str):
        raise BadJob(field, f"it must be text, not {type(value).__name__}")
    _check_characters(field, value)
    size = len(value.encode())
    if not least <= size <= most:
        raise BadJob(field, f"it must have {least} to {most} bytes and has {size}" if size else "it is empty")


def check_int(field: str, value: object, *, least: int, most: int) -> None:
    """Refuse what is not a whole number from `least` to `most`; True and False are not numbers."""
    if type(value) is not int:
        raise BadJob(field, f"it must be a whole number, not {type(value).__name__}")
    if not least <= value <= most:
        raise BadJob(field, f"it must be from {least} to {most}")


def encode(field: str, value: object, *, most: int) -> str:
    """An object as JSON of at most `most` bytes that every reader reads as the same thing."""
    if not isinstance(value, dict):
        raise BadJob(field, f"it must be a dict of names and values, not {type(value).__name__}")
    return encode_any(field, value, most=most)


def encode_any(field: str, value: object, *, most: int) -> str:
    """The same for a value of any kind."""
    try:
        tree = plain(value)
        text = _written(tree)
        if len(text) > most:  # before each value of it is looked at, which takes a while
            raise BadJob(
                field, f"it has {len(text)} bytes as JSON and may have {most}. Store it elsewhere and send its name"
            )
        _check_tree(field, tree, depth=1)
        return (text or msgspec.json.encode(tree)).decode()
    except RecursionError:
        raise BadJob(field, f"it is nested deeper than {DEEPEST} levels") from None
    except BadJob:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise BadJob(field, f"it cannot be written as JSON: {error}") from error


def _written(tree: object) -> bytes:
    """Nothing, if it cannot be: looking at each value tells which one is wrong."""
    try:
        return msgspec.json.encode(tree)
    except (TypeError, ValueError, OverflowError):
        return b""


def plain(value: object) -> Any:
    """What JSON has, from what msgspec knows: dataclasses, Structs, enums, datetimes, UUIDs and so on."""
    return msgspec.to_builtins(value, str_keys=True, enc_hook=_without_subclass)


def _without_subclass(value: object) -> object:
    """Text and numbers of classes derived from them, such as Django's SafeString and numpy's float64."""
    for base in (str, int, float):
        if isinstance(value, base):
            return base(value)
    raise TypeError(f"{type(value).__name__} is unknown to it")


def _check_tree(field: str, value: Any, *, depth: int) -> None:
    if isinstance(value, str):
        _check_characters(field, value)
    elif isinstance(value, dict | list | tuple):
        if depth > DEEPEST:
            raise BadJob(field.split(".")[0].split("[")[0], f"it is nested deeper than {DEEPEST} levels")
        if isinstance(value, dict):
            for key, item in value.items():
                _check_key(field, key)
                _check_tree(f"{field}.{key}", item, depth=depth + 1)
        else:
            for index, item in enumerate(value):
                _check_tree(f"{field}[{index}]", item, depth=depth + 1)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise BadJob(field, f"{value} is not a number in JSON. Send None, or text")
    elif isinstance(value, int) and value not in _INT64:
        raise BadJob(field, "the integer does not fit 64 bits. Send it as text")


def _check_key(field: str, key: object) -> None:
    if not isinstance(key, str):
        raise BadJob(field, f"its names must be text, not {type(key).__name__}")
    _check_characters(f"{field} (a name in it)", key)


def _check_characters(field: str, text: str) -> None:
    bad = _BAD_TEXT.search(text)
    if bad:
        what = "a NUL character" if bad.group() == "\0" else "half of a surrogate pair, which is not UTF-8"
        raise BadJob(field, f"it has {what} at position {bad.start()}. Remove it, or send bytes as base64")
