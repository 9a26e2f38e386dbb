"""What a type checker says to the users of Pulse."""

import re
import subprocess
import sys
from pathlib import Path

from embedded_kit import REPOSITORY

SNIPPET = """
from uuid import UUID

from pulse_runtime import (
    Context, Delivery, Handle, JobRecord, Retry, Status, acancel, aenqueue, aget, await_for, cancel, enqueue,
    enqueue_many, get, history, job, move, result, retry, wait,
)

@job(queue="mail", retry=Retry(attempts=8))
async def send_email(to: str, subject: str = "hi") -> None: ...

@job
def render(ctx: Context, invoice_id: int) -> str:
    return ""

handle: Handle = enqueue(send_email.call(to="a@b.c"), delay="5m", priority=3)
enqueue(send_email.call("a@b.c", subject="hi"))
enqueue("send_email", {"to": "a@b.c"}, key="k")
enqueue_many([send_email.call("a"), render.call(invoice_id=1)])
record: JobRecord = get(handle)
record = get(handle.id)
record = get(str(handle.id))
record = wait(handle, timeout="5s")
record = handle.wait(5)
status: Status = cancel(handle, reason="why")
deliveries: list[Delivery] = history(UUID(int=1))
move(handle, queue="q", priority=1)
anything: int = result(handle)

async def follow() -> None:
    mine: Handle = await aenqueue("a")
    seen: JobRecord = await await_for(mine, timeout=1.5)
    seen = await mine.aget()
    said: Status = await acancel(mine)
    seen = aget(mine)  # wrong

get(7)  # wrong
cancel(handle, on=None)  # wrong
move(handle, "q")  # wrong
record.status = Status.PENDING  # wrong
done: bool = retry(handle)  # wrong
send_email.call(to=1)  # wrong
send_email.call()  # wrong
send_email.call("a", body="b")  # wrong
render.call("1")  # wrong
render.call(None, 1)  # wrong
enqueue("send_email", to="a@b.c")  # wrong
enqueue(send_email)  # wrong
enqueue(send_email.call("a"), priority="high")  # wrong
job(queue=1)  # wrong
"""


def test_a_type_checker_refuses_wrong_arguments_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "snippet.py"
    file.write_text(SNIPPET)
    # A cache of its own: `make lint` may be writing to the other one.
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--cache-dir=.mypy_cache/typing"]
    said = subprocess.run([*command, str(file)], capture_output=True, text=True, cwd=REPOSITORY)
    refused = {int(line) for line in re.findall(r"snippet\.py:(\d+): error", said.stdout)}
    wrong = {number for number, line in enumerate(SNIPPET.splitlines(), start=1) if line.endswith("# wrong")}
    assert refused == wrong, said.stdout + said.stderr
