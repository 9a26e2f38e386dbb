"""Those who claim, settle, fail, forget and are reaped."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import psycopg
from stress.line import Line
from stress.record import BLANK, FENCE, REFUSED, TWICE, Seen, require

from pulse_runtime.ids import uuid7

FollowUps = Sequence[tuple[int, int, dict[str, str]]]
NOBODY = UUID(int=0)
QUEUES, SHARES = ["mail", "billing"], [1, 2]
ENDINGS = ("crash", "fail", "fail", "dead", "cancel", "release", "lost", "snooze", "suspect", "put_off")
CLAIM = "select claim, token, n, jobs from pulse.claim(%s, %s, %s, %s, %s, %s)"
SETTLE = "select settled from pulse.settle(%s, %s, %s::bit varying[], %s, null, %s::json)"
CLOSE = "pulse.close(%s, %s, %s::int[], %s, %s::bigint[], %s, %s::bigint[])"
LEDGER = "select seqs, low_x is not null, coalesce(retrying, 0) from pulse.claim where id = %s"
REGISTER = "select pulse.register_executor(%s, 'here', 'boot', 1)"
ENDED = "select ended_at is not null from pulse.executor where id = %s"
REAP_ANY = (
    "select pulse.reap(e.id, 0) from (select * from pulse.executor where ended_at is null and runtime = 'quick'"
    " order by random() limit 1) e"
)
# Who claims holds this lock. It is seen and waited for in one statement, so that the claim is still under way.
REAP_CLAIMING = (
    "select pulse.reap(l.objid::bigint, 0) from (select p.objid from pg_locks p, pg_database d, pulse.executor e"
    " where p.locktype = 'advisory' and p.classid = 1886745444 and p.granted and e.id = p.objid and e.runtime = 'quick'"
    " and d.oid = p.database and d.datname = current_database() limit 1) l"
)


@dataclass(frozen=True)
class Batch:
    """What one lane gave to one claim: its jobs as executors read them, and their numbers in the log."""

    claim: int
    token: UUID
    jobs: list[Any]
    seqs: list[int]
    retrying: int
    """The row that they waited in together, or 0."""

    def __len__(self) -> int:
        return len(self.jobs)


class Claimer:
    """One executor after the other. The first claimer is slow: its leases outlast partitions, and nobody reaps it."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, number: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen
        self._slow = number == 0
        self._forgotten: list[Batch] = []
        self._register()

    def step(self) -> None:
        slots, most_bytes = self._dice.choice([1, 3, 10, 100]), self._dice.choice([10, 60, 4_194_304, 4_194_304])
        try:
            batches = self.claim(slots, most_bytes)
            if batches and self._dice.random() < 0.05:
                batches = self._ask_again(batches, slots, most_bytes)
        except psycopg.errors.ObjectNotInPrerequisiteState:  # reaped
            self._settle_late()
            self._register()
            return
        self._seen.count("polls")
        if not batches:
            self._seen.count("empty polls")
            self._seen.stop.wait(0.001)
        elif self._dice.random() < 0.03:
            self._forgotten += batches  # until this executor is reaped, and then settled all the same
        else:
            self._seen.stop.wait(self._dice.random() * 2.0 * self._slow)
            self._work(batches)

    def finish(self) -> None:
        self._line.read("select pulse.reap(%s, 0)", self.executor)
        self._settle_late()

    def claim(self, slots: int, most_bytes: int) -> list[Batch]:
        """A lost reply is asked for again: the same request gives the same batches."""
        self._request += 1
        batches = self._batches(slots, most_bytes)
        with self._seen.lock:
            self._seen.deliveries.update((seq, batch.retrying) for batch in batches for seq in batch.seqs)
        return batches

    def settle(self, batches: list[Batch], masks: list[str], follow_ups: FollowUps = ()) -> None:
        """Settle in one call; all of it counts or, because this executor was reaped, nothing."""
        values = self._settle_values(batches, masks, follow_ups)
        settled = int(self._line.tell(f"({SETTLE})", *values) or 0)
        if not self._was_done(settled, "".join(masks).count("1"), "settle"):
            return
        with self._seen.lock:
            for batch, mask in zip(batches, masks, strict=True):
                for job, seq, bit in zip(batch.jobs, batch.seqs, mask, strict=True):
                    if bit == "1":
                        self._seen.settled[job[0]] += 1
                        self._seen.last_seq[job[0]] = seq
        self._seen.send([job["id"] for _, _, job in follow_ups])
        self._seen.count("follow-ups", len(follow_ups))

    def _register(self) -> None:
        self.executor: int = self._line.ask(REGISTER, "slow" if self._slow else "quick")
        self._request = 0

    def _ask_again(self, batches: list[Batch], slots: int, most_bytes: int) -> list[Batch]:
        """The same batches under new tokens; the old ones mean nothing any more."""
        again = self._batches(slots, most_bytes)
        same = [replace(each, token=NOBODY) for each in again] == [replace(each, token=NOBODY) for each in batches]
        require(same, TWICE, "the same request, another batch")
        self._settle_in_vain(batches, "by a token that was replaced")
        self._seen.count("requests repeated")
        return again

    def _batches(self, slots: int, most_bytes: int) -> list[Batch]:
        rows = self._line.read(CLAIM, self.executor, self._request, QUEUES, SHARES, slots, most_bytes)
        return [self._batch(*row) for row in rows if row[0] is not None]  # else busy

    def _batch(self, claim: int, token: UUID, count: int, text: str | None) -> Batch:
        text = text or self._line.ask("select pulse.fetch(%s, %s)", claim, token)
        if text is None:
            require(self._line.ask(ENDED, self.executor), BLANK, f"the jobs of claim {claim}, which is ours")
            raise psycopg.errors.ObjectNotInPrerequisiteState("reaped before its jobs were fetched")
        jobs = json.loads(text)
        seqs, was_late, retrying = self._line.read(LEDGER, claim)[0]
        require(None not in jobs, BLANK, f"a job of claim {claim}")
        require(count == len(jobs) == len(seqs), BLANK, f"claim {claim} has {count}, {len(jobs)}, {len(seqs)} jobs")
        self._seen.count("claims of late jobs", was_late)
        self._seen.count("retried together", count * bool(retrying))
        return Batch(claim, token, jobs, seqs, retrying)

    def _work(self, batches: list[Batch]) -> None:
        together = self._dice.random() < 0.08  # a storm: what they all need is away
        bad = [[self._dice.random() < (0.7 if together else 0.06) for _ in batch.jobs] for batch in batches]
        masks = ["".join("0" if each else "1" for each in flags) for flags in bad]
        follow_ups = self._follow_ups(batches, masks)
        self.settle(batches, masks, follow_ups)
        if self._dice.random() < 0.1:
            self._settle_in_vain(batches, "for the second time", masks, follow_ups)
            self._seen.count("repeated settles")
        for batch, flags in zip(batches, bad, strict=True):
            if positions := [position for position, each in enumerate(flags) if each]:
                self._close(batch, positions, together=together)

    def _close(self, batch: Batch, positions: list[int], *, together: bool) -> None:
        size = len(positions)
        # One crash for each life of a job: the third is its end whatever the budget, and needs a count of its own.
        endings = [
            "fail" if together else self._dice.choice(ENDINGS[batch.jobs[position][6] :]) for position in positions
        ]
        delays = [self._dice.choice([5, 5, 50] if together else [0, 5, 50]) for _ in positions]
        values = ([batch.claim] * size, [batch.token] * size, positions, endings, delays, ["x"] * size, [1] * size)
        if not self._was_done(int(self._line.tell(CLOSE, *values) or 0), size, "close"):
            return
        with self._seen.lock:
            for position, ending in zip(positions, endings, strict=True):
                self._seen.did[f"closed: {ending}"] += 1
                job, _, _, _, charged, most = batch.jobs[position][:6]
                self._seen.crashed[job] += ending == "crash"
                spent = charged + 1 >= most or (ending == "crash" and self._seen.crashed[job] >= 3)
                if ending == "cancel":
                    self._seen.canceled.add(job)
                elif ending == "dead" or (ending in ("fail", "crash") and spent):
                    self._seen.dead[job] += 1

    def _was_done(self, done: int, wanted: int, what: str) -> bool:
        if wanted == 0 or done == wanted:
            return True
        require(done == 0, REFUSED if done < wanted else FENCE, f"{what} of {wanted} did {done}")
        require(self._line.ask(ENDED, self.executor), REFUSED, f"{what} by an executor that has not ended")
        self._seen.count("stale reports")
        return False

    def _settle_late(self) -> None:
        for batch in self._forgotten:
            self._settle_in_vain([batch], "after the reap")
            self._seen.count("stale reports")
        self._forgotten = []

    def _settle_in_vain(
        self, batches: list[Batch], why: str, masks: list[str] | None = None, follow_ups: FollowUps = ()
    ) -> None:
        masks = masks or ["1" * len(batch) for batch in batches]
        settled = self._line.ask(SETTLE, *self._settle_values(batches, masks, follow_ups))
        require(settled == 0, FENCE, f"a settle {why} took effect for {settled} jobs")

    def _follow_ups(self, batches: list[Batch], masks: list[str]) -> FollowUps:
        """For a few of those that succeed."""
        return [
            (batch.claim, position, {"id": str(uuid7()), "kind": "k", "queue": self._dice.choice(QUEUES)})
            for batch, mask in zip(batches, masks, strict=True)
            for position, bit in enumerate(mask)
            if bit == "1" and self._dice.random() < 0.02
        ]

    def _settle_values(self, batches: list[Batch], masks: list[str], follow_ups: FollowUps) -> tuple[object, ...]:
        """At times with each claim named twice: once for the even positions, once for the odd ones."""
        parts = list(zip(batches, masks, strict=True))
        if self._dice.random() < 0.1:
            parts = [(batch, _every_other(mask, first)) for first in (0, 1) for batch, mask in parts]
            self._seen.count("claims named twice")
        claims, tokens = [batch.claim for batch, _ in parts], [batch.token for batch, _ in parts]
        bits = "".join(masks).count("1")
        return claims, tokens, [mask for _, mask in parts], [5] * bits, json.dumps(follow_ups) if follow_ups else None


class Reaper:
    """Reaps executors in the middle of their work, every other one in the middle of a claim."""

    def __init__(self, line: Line, dice: random.Random, seen: Seen, _: int) -> None:
        self._line, self._dice, self._seen = line, dice, seen

    def step(self) -> None:
        self._seen.stop.wait(0.03)
        rows = self._line.read(REAP_CLAIMING if self._dice.random() < 0.5 else REAP_ANY)
        self._seen.count("reaps", sum(given_back is not None for (given_back,) in rows))
        self._seen.count("deliveries lost with their executor", sum(given_back or 0 for (given_back,) in rows))


def _every_other(mask: str, first: int) -> str:
    return "".join(bit if position % 2 == first else "0" for position, bit in enumerate(mask))
