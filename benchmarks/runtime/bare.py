"""The least that a consumer can do: LISTEN, claim, commit, and look at the clock."""

import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.store.cluster import connected
from pulse_loadgen.stamps import Stamps

LISTEN = "listen pulse"
PARK = "select pulse.park('{default}')"
CLAIM = "select claim, jobs from pulse.claim(%s, %s, '{default}', '{1}', 100)"
DESCRIBED = f"one connection and nothing else: {LISTEN}; {PARK}; then on every notification {CLAIM}. It settles nothing"
POLL_S = 0.5


def consume(dsn: str, path: str, jobs: int) -> Iterator[None]:
    """A member of a crew. A job starts when the answer of the claim that has it, which has committed, is read."""
    noted = Stamps(Path(path))
    with connected(dsn) as connection:
        executor = connection.execute("select pulse.register_executor('bare', 'here', 'boot', 1)").fetchall()[0][0]
        connection.execute(LISTEN)
        connection.execute(PARK)
        taken = request = 0
        yield
        while taken < jobs:
            for _ in connection.notifies(timeout=POLL_S, stop_after=1):
                pass
            request += 1
            rows = connection.execute(CLAIM, (executor, request)).fetchall()
            found = [job for _, batch in rows if batch for job in json.loads(batch)]
            for job in found:
                noted.start(job[2]["n"])
            taken += len(found)
            if not found and not taken:
                connection.execute("select pulse.discover()")
