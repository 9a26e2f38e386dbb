"""What a client and a server say to each other, followed far enough to know which reply belongs to which statement.

A Query or a Sync ends a turn; the server answers each turn with one ReadyForQuery, when what it did is committed (or
its transaction waits for more). Turns may be sent ahead (pipelines), so replies belong to the oldest one that is open.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from faults.frames import Frame, text_at


@dataclass
class Turn:
    """What one ReadyForQuery will answer."""

    statements: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    failed: bool = False
    extended: bool = False
    status: str = ""  # I: no transaction is open any more, T: one is, E: one is and failed


class Conversation:
    """Both directions of one connection. `asked` and `answered` are fed with every message, in its order."""

    def __init__(self) -> None:
        self._prepared: dict[str, str] = {}
        self._portals: dict[str, str] = {}
        self._next = Turn()
        self._open: deque[Turn] = deque([Turn()])  # the first one is the login
        self._copying = False

    def asked(self, frame: Frame) -> Iterator[tuple[str, Turn]]:
        """The statements that this message makes the server run, with the turn that answers them."""
        match frame.letter:
            case b"Q":
                yield self._run(text_at(frame.body)[0])
                self._end_turn()
            case b"P":
                name, at = text_at(frame.body)
                self._prepared[name] = text_at(frame.body, at)[0]
            case b"B":
                portal, at = text_at(frame.body)
                self._portals[portal] = self._prepared.get(text_at(frame.body, at)[0], "")
            case b"E":
                self._next.extended = True
                yield self._run(self._portals.get(text_at(frame.body)[0], ""))
            case b"S" if self._copying:
                # The server ignored the Sync behind the COPY: this one, behind its data, ends the same turn.
                self._copying = False
            case b"S" | b"F":
                self._end_turn()

    def answered(self, frame: Frame) -> Turn | None:
        """The turn that this message of the server belongs to; none for what it says unasked."""
        if frame.letter in {b"A", b"N", b"S"}:
            return None
        turn = self._open[0] if self._open else self._next
        match frame.letter:
            case b"C":
                turn.tags.append(text_at(frame.body)[0])
            case b"E":
                turn.failed = True
            case b"G":
                self._copying = turn.extended
            case b"Z":
                turn.status = frame.body.decode()
                self._open.popleft()
        return turn

    def _run(self, statement: str) -> tuple[str, Turn]:
        self._next.statements.append(statement)
        return statement, self._next

    def _end_turn(self) -> None:
        self._open.append(self._next)
        self._next = Turn()
