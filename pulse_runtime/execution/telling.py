"""Errors in words, as they are kept with a job: what was raised, then where, without our own frames."""

import traceback
from pathlib import Path
from types import TracebackType

MOST_ERROR = 8000
_WORDS = 2000
_OURS = str(Path(__file__).parent)


def told(error: BaseException, besides: str = "") -> str:
    """Class and words of the error first, then the traceback: its end, if it is long. Never raises."""
    first = clean(f"{type(error).__name__}: {_words(error)}".rstrip(": "))[:_WORDS] + besides
    try:
        trace = clean("".join(traceback.format_exception(type(error), error, _theirs(error.__traceback__))))
    except BaseException as broken:  # an error whose own words raise
        trace = f"(its traceback cannot be written: {type(broken).__name__})"
    left = MOST_ERROR - len(first) - 10
    return f"{first}\n\n{trace if len(trace) <= left else '…' + trace[-left:]}"


def clean(text: str) -> str:
    """What UTF-8 and Postgres can hold of it."""
    return text.encode(errors="replace").decode().replace("\0", "�")


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:
        return "(its words raise)"


def _theirs(trace: TracebackType | None) -> TracebackType | None:
    """From the first frame that is not ours; all of it, if there is none."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename.startswith(_OURS):
        found = found.tb_next
    return trace if found is None else found
