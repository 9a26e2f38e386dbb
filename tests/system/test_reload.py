"""`--reload`: the handlers' new code runs, and code that cannot be imported replaces nobody."""

from pathlib import Path

import psycopg
import pytest
from embedded_kit import eventually
from runtime_kit import Flags, Runtime

BOOT_S = 20.0
CODE = """
from pathlib import Path
from pulse_runtime import job
from words import WORD

@job
def say() -> None:
    with (Path(__file__).parent / "said").open("a") as file:
        file.write(WORD + " ")
    print("it says", WORD)
"""


def say(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("select pulse.enqueue(kind => 'say')")


def test_new_code_runs_and_broken_code_leaves_the_old_running(
    dsn: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my_jobs.py").write_text(CODE)
    words, said = tmp_path / "words.py", tmp_path / "said"

    def says(*expected: str) -> bool:
        say(dsn)
        return eventually(lambda: said.exists() and said.read_text().split() == [*expected], within_s=10)

    words.write_text("WORD = 'one'\n")
    flags = Flags(handlers="my_jobs", executors=1)
    env = {"PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": ""}
    with Runtime(dsn, flags=flags, args=["--reload"], env=env) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        assert says("one")
        assert eventually(lambda: "it says one\n" in capfd.readouterr().out, within_s=5), "and not in a buffer"
        before, mark = runtime.pid_of("executor-1"), runtime.log.mark()
        words.write_text("WORD = 'two'\n")
        runtime.wait_for("reloading", within_s=10, after=mark)
        after = runtime.pid_of("executor-1", other_than=before)
        assert says("one", "two")
        words.write_text("WORD = \n")
        assert "SyntaxError" in runtime.wait_for("reload failed", within_s=10, after=mark)["why"]
        assert says("one", "two", "two")
        assert runtime.pid_of("executor-1") == after
        words.write_text("WORD = 'three'\n")
        runtime.pid_of("executor-1", other_than=after, within_s=10.0)
        assert says("one", "two", "two", "three")
        assert runtime.stop() == 0
