"""What becomes of a report that the database refuses: its jobs one by one, and the bad one as a failure."""

from collections import defaultdict

import msgspec

from pulse_runtime.messages import Ending, Report

_decode = msgspec.json.Decoder(list[tuple[int, int, msgspec.Raw]]).decode


def parts_of(report: Report) -> list[Report]:
    """The same in parts that can be stored by themselves: one with what cannot be at fault, then each job that may be.

    Each has the report's number. One part: there is nothing to divide.
    """
    successes = _successes(report)
    took_us = dict.fromkeys(successes, "0") | dict(zip(successes, report.took_us.split(","), strict=False))
    results, follow_ups = _by_position(report.results), _by_position(report.follow_ups)
    risky = [position for position in successes if position in results or position in follow_ups]
    plain = [position for position in successes if position not in set(risky)]
    parts = [_part(report, plain, took_us)] if plain else []
    parts += [_part(report, [each], took_us, results.get(each, ""), follow_ups.get(each, "")) for each in risky]
    parts += [Report(report.number, report.claim, report.token, "", "", [each]) for each in report.endings]
    return parts


def milder_than(report: Report, why: str) -> Report | None:
    """What to store in the place of a report that was refused: failures; then failures in words that every encoding
    has; then nothing."""
    if report.mask or report.results or any(each.follow_ups for each in report.endings):
        return as_failures(report, why)
    endings = [
        Ending(
            each.position,
            each.ending,
            each.delay_ms,
            (each.error or "").encode("ascii", "backslashreplace").decode(),
            0,
        )
        for each in report.endings
    ]
    plain = Report(report.number, report.claim, report.token, "", "", endings)
    return None if plain == report else plain


def as_failures(report: Report, why: str) -> Report:
    """The same jobs, failed: what they wanted to store cannot be."""
    error = f"its outcome could not be stored: {why}"
    failed = [Ending(position, "fail", None, error, 0) for position in _successes(report)]
    ended = [
        Ending(each.position, "fail", None, error, each.took_us) if each.follow_ups else each for each in report.endings
    ]
    return Report(report.number, report.claim, report.token, "", "", [*ended, *failed])


def _successes(report: Report) -> list[int]:
    return [position for position, bit in enumerate(report.mask) if bit == "1"]


def _by_position(entries: str) -> dict[int, str]:
    """Results or follow-ups, as they were written."""
    found: defaultdict[int, list[str]] = defaultdict(list)
    for claim, position, value in _decode(f"[{entries}]"):
        found[position].append(f"[{claim},{position},{bytes(value).decode()}]")
    return {position: ",".join(each) for position, each in found.items()}


def _part(
    report: Report, positions: list[int], took_us: dict[int, str], results: str = "", follow_ups: str = ""
) -> Report:
    chosen = set(positions)
    mask = "".join("1" if position in chosen else "0" for position in range(len(report.mask)))
    told = ",".join(took_us[position] for position in positions)
    return Report(report.number, report.claim, report.token, mask, told, [], results, follow_ups)
