"""The questions of a reporter."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pulse_runtime.messages import Held, Progress, Report, Standing
from pulse_runtime.store.line import Question, RefusalError, Row
from pulse_runtime.store.text import array, numbers, texts

Then = Callable[[list[Row]], None]

_SETTLE = b"(select settled from pulse.settle($1, $2, $3, $4, $5, $6))"
_CLOSE = b"pulse.close($%d, $%d, $%d, $%d, $%d, $%d, $%d)"
_CLOSE_FOLLOWING = b"pulse.close_following($%d, $%d, $%d, $%d, $%d, $%d, $%d, $%d)"


@dataclass
class Burial:
    """What `pulse.bury` is told of a dead executor."""

    executor: int
    why: str
    settled: list[tuple[int, str, str]] = field(default_factory=list)
    """Claim, token, mask."""
    ended: list[tuple[int, str, int, str, str]] = field(default_factory=list)
    """Claim, token, position, ending, error."""
    rest: str = "release"


def report(reports: Sequence[Report], then: Then, otherwise: Callable[[RefusalError], None]) -> Question:
    """Settle and close what the reports say, in one transaction. Each claim may be there once."""
    parts: list[bytes] = []
    values: list[str | None] = []
    masked = [each for each in reports if "1" in each.mask]
    if masked:
        parts.append(_SETTLE)
        values += [
            array(str(each.claim) for each in masked),
            array(each.token for each in masked),
            array(each.mask for each in masked),
            array(each.took_us for each in masked if each.took_us),
            _json([each.results for each in masked]),
            _json([each.follow_ups for each in masked]),
        ]
    ended = [(each, ending) for each in reports for ending in each.endings]
    if ended:
        first = len(values) + 1
        follow_ups = _json([ending.follow_ups for _, ending in ended])
        if follow_ups is None:
            parts.append(_CLOSE % tuple(range(first, first + 7)))
        else:
            parts.append(_CLOSE_FOLLOWING % tuple(range(first, first + 8)))
        values += [
            array(str(each.claim) for each, _ in ended),
            array(each.token if ending is each.endings[0] else "null" for each, ending in ended),
            numbers(ending.position for _, ending in ended),
            texts(ending.ending for _, ending in ended),
            numbers(ending.delay_ms for _, ending in ended),
            texts(ending.error for _, ending in ended),
            numbers(ending.took_us for _, ending in ended),
            *([] if follow_ups is None else [follow_ups]),
        ]
    return Question(
        "report", b"select " + b", ".join(parts or [b"1"]), _bytes(values), then, otherwise, deadline_s=10.0
    )


def fire(decisions: bytes, then: Then, otherwise: Callable[[RefusalError], None]) -> Question:
    sql = b"select moved, fired from pulse.fire($1)"
    return Question("fire", sql, [decisions], then, otherwise, deadline_s=30.0)


def note_progress(said: Sequence[Progress], then: Then) -> Question:
    sql = b"select pulse.note_progress($1, $2, $3, $4, $5)"
    values = [
        array(each.id for each in said),
        numbers(each.attempt for each in said),
        numbers(each.done for each in said),
        numbers(each.total for each in said),
        texts(each.note for each in said),
    ]
    return Question("progress", sql, _bytes(values), then, deadline_s=5.0)


def extend(held: Sequence[Held], then: Then) -> Question:
    """Who is refused, with commas; and which claims of theirs nobody holds, as JSON pairs of claim and token."""
    sql = b"""select array_to_string(pulse.extend($1), ','), (
      select coalesce(json_agg(json_build_array(u.claim, u.token)), '[]')
        from pulse.unheld($1, $2) u)"""
    executors = numbers(each.executor for each in held)
    claims = numbers(claim for each in held for claim in each.claims)
    return Question("extend", sql, _bytes([executors, claims]), then, deadline_s=5.0)


def give_back(claims: Sequence[tuple[int, str]], then: Then) -> Question:
    values = [numbers(claim for claim, _ in claims), array(token for _, token in claims)]
    sql = b"select pulse.give_back_claims($1, $2, 'release', null)"
    return Question("give back", sql, _bytes(values), then)


def bury(burial: Burial, then: Then, otherwise: Callable[[RefusalError], None]) -> Question:
    sql = b"select settled, ended, given_back from pulse.bury($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)"
    settled, ended = burial.settled, burial.ended
    values = [
        str(burial.executor),
        burial.why,
        numbers(claim for claim, _, _ in settled),
        array(token for _, token, _ in settled),
        array(mask for _, _, mask in settled),
        numbers(each[0] for each in ended),
        array(each[1] for each in ended),
        numbers(each[2] for each in ended),
        texts(each[3] for each in ended),
        texts(each[4] for each in ended),
        burial.rest,
    ]
    return Question("bury", sql, _bytes(values), then, otherwise, deadline_s=10.0)


def standing(then: Callable[[list[Standing]], None], otherwise: Callable[[RefusalError], None]) -> Question:
    sql = b"select id, beats, ended from pulse.executors_standing()"

    def answer(rows: list[Row]) -> None:
        then([Standing(int(row[0] or 0), int(row[1] or 0), row[2] == b"t") for row in rows])

    return Question("standing", sql, [], answer, otherwise, deadline_s=5.0)


def reap(executor: int, beats: int, then: Then) -> Question:
    return Question("reap", b"select pulse.reap($1, $2)", [b"%d" % executor, b"%d" % beats], then, deadline_s=10.0)


def abandon(executor: int, then: Then) -> Question:
    """Give back what an executor left behind that has ended: its reaper died half-way."""
    sql = b"select pulse.give_back($1, 'lost', 'the executor had ended')"
    return Question("abandon", sql, [b"%d" % executor], then, deadline_s=10.0)


def keep_ahead(then: Then) -> Question:
    sql = b"select array_to_string(added, ','), burnt, starved from pulse.keep_ahead()"
    return Question("keep ahead", sql, [], then, deadline_s=60.0)


def raise_floors(then: Then) -> Question:
    return Question("raise floors", b"select pulse.raise_floors()", [], then, deadline_s=60.0)


def drop_partitions(keep_s: float, then: Then) -> Question:
    sql = b"select array_to_string(dropped, ','), starved from pulse.drop_partitions($1 * interval '1 s')"
    return Question("drop partitions", sql, [str(keep_s).encode()], then, deadline_s=60.0)


def prune(keep_s: float, keep_failures_s: float, most: int, then: Then) -> Question:
    sql = b"""select greatest(claims, places, failures, outcomes, results, keys)
      from pulse.prune($1 * interval '1 s', $2 * interval '1 s', $3)"""
    values = [str(keep_s), str(keep_failures_s), str(most)]
    return Question("prune", sql, _bytes(values), then, deadline_s=60.0)


def prune_lanes(keep_s: float, then: Then) -> Question:
    sql = b"select pulse.prune_lanes($1 * interval '1 s')"
    return Question("prune lanes", sql, [str(keep_s).encode()], then, deadline_s=60.0)


def prune_schedules(keep_s: float, most: int, then: Then) -> Question:
    sql = b"select pulse.prune_schedules($1 * interval '1 s', $2)"
    return Question("prune schedules", sql, _bytes([str(keep_s), str(most)]), then, deadline_s=60.0)


def audit(then: Then) -> Question:
    return Question("audit", b"select finding, id, detail from pulse.audit()", [], then, deadline_s=600.0)


def _json(parts: Sequence[str]) -> str | None:
    said = [part for part in parts if part]
    return f"[{','.join(said)}]" if said else None


def _bytes(values: Sequence[str | None]) -> list[bytes | None]:
    return [None if value is None else value.encode() for value in values]
