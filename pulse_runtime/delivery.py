"""A delivery as an executor reads it: what `pulse.wire` wrote."""

from typing import Any

import msgspec


class Delivery(msgspec.Struct, array_like=True, gc=False):
    """One job of a batch. `rare` has what most jobs lack; `meta` is the producer's own."""

    id: str
    kind: str
    args: msgspec.Raw
    attempt: int
    charged: int
    max_attempts: int
    suspect: int
    rare: dict[str, Any] | None = None
    meta: msgspec.Raw = msgspec.Raw(b"null")

    @property
    def options(self) -> dict[str, Any]:
        found = (self.rare or {}).get("options")
        return found if isinstance(found, dict) else {}


decode = msgspec.json.Decoder(list[Delivery | None]).decode
