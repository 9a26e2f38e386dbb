"""As whom Postgres runs. It refuses to be root, and we would rather not ask for an account, a chown or a chmod.

First choice for root is a user namespace, in which root is called 65534: the files stay root's, and nothing on the
machine changes. Where that is forbidden (Docker's default profile does), Postgres runs as `postgres` or `nobody`, who
then owns the data folder. PULSE_PG_ROOT=setuid asks for the second way.
"""

import os
import pwd
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pulse_runtime.embedded.errors import PostgresDidNotStart

NOBODY = 65534
ACCOUNTS = ("postgres", "nobody")
_LAUNCH = Path(__file__).with_name("launch.py")


@dataclass(frozen=True)
class Identity:
    """Who the server is. `uid` and `gid` are what Postgres sees of itself."""

    mode: Literal["same", "namespace", "setuid"]
    uid: int
    gid: int

    def command(self, program: Path, *arguments: str | Path, death_signal: signal.Signals | None = None) -> list[str]:
        """The command that runs `program` as this identity; it gets `death_signal` when its parent thread ends."""
        numbers = (self.uid, self.gid, int(death_signal or 0))
        return [str(part) for part in (*_python(), _LAUNCH, self.mode, *numbers, program, *arguments)]

    def give(self, path: Path) -> None:
        """Let the server own `path` and all that is in it."""
        if self.mode == "setuid" and path.stat().st_uid != self.uid:
            # The folder itself comes last: if we are killed half-way, the next start sees that it is not done.
            for each in (*path.rglob("*"), path):
                os.chown(each, self.uid, self.gid, follow_symlinks=False)

    def open_way(self, home: Path) -> None:
        """Let the server pass through `home`. Folders above it are not ours to open."""
        if self.mode == "setuid":
            home.chmod(home.stat().st_mode | 0o011)

    @property
    def hint(self) -> str:
        """What to look at when the server could not be started under this identity."""
        if self.mode != "setuid":
            return ""
        return (
            f"\nPostgres cannot run as root and user namespaces are not available, so it runs as uid {self.uid}, "
            "which must be able to reach the data folder and the binaries. If it was refused, set PULSE_HOME to a "
            "folder whose parents everybody may pass through, e.g. /var/lib/pulse."
        )


def choose_identity(*, data: Path) -> Identity:
    """Who can run a server on `data`, which need not exist yet. Data that belongs to someone is run by its owner."""
    uid, gid = os.geteuid(), os.getegid()
    if uid != 0:
        if _has_account(uid):
            return Identity("same", uid, gid)
        # initdb insists on an account for its uid, which arbitrary uids in containers do not have.
        return Identity("namespace", NOBODY, NOBODY)
    if data.exists() and (owner := data.stat()).st_uid != 0:
        return Identity("setuid", owner.st_uid, owner.st_gid)
    namespace = Identity("namespace", NOBODY, NOBODY)
    if os.environ.get("PULSE_PG_ROOT") != "setuid" and _works(namespace):
        return namespace
    return _account()


def run_python(script: Path, *arguments: str | Path) -> list[str]:
    """The command that runs one of our scripts in a bare interpreter: no site packages, no PYTHON* variables."""
    return [str(part) for part in (*_python(), script, *arguments)]


def clean_environment(*, without: Sequence[str] = ("PG", "LC_", "LANG")) -> dict[str, str]:
    """Our environment without what would change Postgres's mind: PGDATA, PGPORT, PGOPTIONS and the locale."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(tuple(without))}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def _python() -> tuple[str, str]:
    return sys.executable, "-IS"


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _works(identity: Identity) -> bool:
    """Tried rather than guessed: kernels, seccomp profiles and AppArmor each have their own way to say no. 30 ms."""
    command = identity.command(Path(sys.executable), "-ISc", "pass")
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0  # noqa: S603


def _account() -> Identity:
    for name in ACCOUNTS:
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        return Identity("setuid", account.pw_uid, account.pw_gid)
    raise PostgresDidNotStart(
        "Postgres cannot run as root, user namespaces are not available here, and there is no account "
        f"{' or '.join(ACCOUNTS)} to switch to. Run Pulse as an ordinary user, or give --dsn or PULSE_DSN."
    )
