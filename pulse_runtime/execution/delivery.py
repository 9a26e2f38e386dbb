"""A delivery as an executor reads it: what `pulse.wire` wrote."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec


class Rare(msgspec.Struct, gc=False):
    """What most jobs lack. `options` may be anything: any language enqueues, and a bad job must not sink the others."""

    tenant: str | None = None
    project: str | None = None
    key: str | None = None
    schedule_id: str | None = None
    occurrence: str | None = None
    options: Any = None
    trace: str | None = None


class Delivery(msgspec.Struct, array_like=True, gc=False):
    """One job of a batch. `rare` has what most jobs lack; `meta` is the producer's own."""

    id: str
    kind: str
    args: msgspec.Raw
    attempt: int
    charged: int
    max_attempts: int
    suspect: int
    rare: Rare | None = None
    meta: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def options(self) -> dict[str, Any]:
        """What was said of it when it was enqueued."""
        return self.rare.options if self.rare is not None and isinstance(self.rare.options, dict) else {}

    def about(self) -> dict[str, Any]:
        """What a handler may know besides, as `Context` takes it."""
        rare = self.rare
        if rare is None:
            return {}
        return {
            "tenant": rare.tenant,
            "project": rare.project,
            "key": rare.key,
            "schedule_id": None if rare.schedule_id is None else UUID(rare.schedule_id),
            "occurrence": None if rare.occurrence is None else datetime.fromisoformat(rare.occurrence),
            "trace": rare.trace,
            "metadata": msgspec.json.decode(self.meta),
        }


@dataclass(frozen=True)
class Unreadable:
    """A delivery that cannot be read, and why; the others of its batch can be."""

    why: str


_decode = msgspec.json.Decoder(list[Delivery | None]).decode
_decode_one = msgspec.json.Decoder(Delivery | None).decode
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{},]')


def decode(jobs: bytes) -> list[Delivery | Unreadable | None]:
    """The jobs of a claim by their positions. None: its row is gone."""
    try:
        return list(_decode(jobs))
    except (ValueError, RecursionError):
        return [_read(each) for each in _split(jobs)]


def _read(job: bytes) -> Delivery | Unreadable | None:
    try:
        found: Delivery | None = _decode_one(job)
    except (ValueError, RecursionError) as error:
        return Unreadable(f"{type(error).__name__}: {error}")
    return found


def _split(jobs: bytes) -> list[bytes]:
    """The elements of an array, however deep or odd each is. Slow, and rarely needed."""
    parts, depth, begin = [], 0, 0
    for token in _TOKEN.finditer(jobs):
        sign = token.group()
        if sign in b"[{":
            depth += 1
            begin = token.end() if depth == 1 else begin
        elif sign in b"]}":
            depth -= 1
        if depth == (sign == b",") and sign in b",]":
            parts.append(jobs[begin : token.start()])
            begin = token.end()
    return parts if parts[0].strip() else []
