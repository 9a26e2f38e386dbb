"""The embedded server as its users see it: start, use the DSN, stop."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from pulse_runtime.embedded.binaries import find_binaries
from pulse_runtime.embedded.cluster import binaries_for, make_cluster, newest_data
from pulse_runtime.embedded.errors import PostgresDidNotStart
from pulse_runtime.embedded.locks import Deadline, is_free, take, taken
from pulse_runtime.embedded.postmaster import Postmaster, is_up, log_file
from pulse_runtime.embedded.root import choose_identity
from pulse_runtime.embedded.socket_folder import PORT, socket_folder

# initdb and the command line own these; letting them through would lose the server or open it to others.
_NOT_SETTINGS = frozenset({"data_directory", "hba_file", "listen_addresses", "port", "unix_socket_directories"})
_DURABILITY = ("fsync", "synchronous_commit", "full_page_writes")


class Server:
    """One Postgres for everybody who uses the folder `home`; its superuser and its database are called `pulse`.

    `durable=False` is for clusters that are thrown away: a machine crash may destroy them, a killed process does not.
    Whoever starts the server decides `settings` and `durable`; those of later users have no effect while it runs.

    A started Server is a share in the server, which runs until the last share is gone, however its holder ended.
    Processes made by fork inherit the share and keep the server up if they outlive the parent; a child that should not
    calls `forget`. Programs made by exec (subprocess, multiprocessing's spawn) do not inherit it.
    """

    def __init__(self, home: Path, *, settings: Mapping[str, str] | None = None, durable: bool = True) -> None:
        if refused := sorted(_NOT_SETTINGS.intersection(settings or {})):
            raise ValueError(f"an embedded server decides {', '.join(refused)} itself")
        # Resolved, so that two ways to name a folder are one server.
        self._home = Path(home).expanduser().resolve()
        switches = dict.fromkeys(_DURABILITY, "on" if durable else "off")
        self._settings = {"log_destination": "stderr", "logging_collector": "off", **switches, **(settings or {})}
        self._durable = durable
        self._share: int | None = None

    def start(self, timeout_s: float = 60.0) -> str:
        """Return the DSN once the server answers, making the cluster the first time. Start again after it died: fine.

        Raises PostgresNotFound or PostgresDidNotStart.
        """
        deadline = Deadline(timeout_s)
        try:
            self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
            with taken(self._home / "start.lock", exclusive=True, deadline=deadline) as ours:
                if not ours:
                    raise PostgresDidNotStart(
                        f"another process has been starting the server in {self._home} all the time"
                    )
                self._start(deadline)
        except OSError as error:
            problem = f"the folder {self._home} cannot be used: {error}. Set PULSE_HOME to one that you may write to"
            raise PostgresDidNotStart(problem) from error
        return self.dsn

    def stop(self, wait_s: float = 0.0) -> None:
        """Give up our share; the server goes when nobody has one. Again is fine.

        With `wait_s`, return only when the server is gone or has another user, or when the time is up.
        """
        self.forget()
        deadline = Deadline(wait_s)
        while wait_s and self._home.exists() and not self._settled() and deadline.pause():
            pass

    def forget(self) -> None:
        """In a forked child: drop the inherited share. The parent's stays, because only the last copy counts."""
        # Closed and never unlocked: unlocking one copy would take the share from every process that has one.
        if self._share is not None:
            os.close(self._share)
            self._share = None

    @property
    def dsn(self) -> str:
        """A libpq keyword string; it does not change from one start to the next. Nothing in it needs quoting."""
        return f"host={socket_folder(self._home)} port={PORT} user=pulse dbname=pulse"

    @property
    def data(self) -> Path:
        """Postgres's data folder, in which it will be if it is not there yet."""
        return newest_data(self._home) or self._home / f"pg{find_binaries().major}"

    @property
    def log_file(self) -> Path:
        """Where the server writes; the end of it is part of PostgresDidNotStart."""
        return log_file(self._home)

    @property
    def postmaster_pid(self) -> int | None:
        """The server's process, or None when none runs."""
        data = newest_data(self._home)
        if data is None or is_free(self._home / "server.lock", exclusive=True):
            return None
        with contextlib.suppress(FileNotFoundError, ValueError):
            return int((data / "postmaster.pid").read_text(errors="replace").split("\n", 1)[0])
        return None

    def __enter__(self) -> str:
        return self.start()

    def __exit__(self, *_: object) -> None:
        """Waits, so that the folder may be removed afterwards."""
        self.stop(wait_s=10.0)

    def _start(self, deadline: Deadline) -> None:
        newcomer = self._share is None
        if newcomer:
            # A shutdown under way holds this lock; we come after it.
            self._share = take(self._home / "users.lock", exclusive=False, deadline=deadline)
        if self._share is None:
            raise PostgresDidNotStart(f"the server in {self._home} has been shutting down all the time")
        try:
            existing = newest_data(self._home)
            # Joining a server that runs takes 2 ms, and no binaries.
            if existing is None or not is_up(self._home, existing):
                self._postmaster(existing, deadline).bring_up(deadline)
        except BaseException:
            if newcomer:
                self.forget()
            raise

    def _postmaster(self, existing: Path | None, deadline: Deadline) -> Postmaster:
        binaries = binaries_for(existing)
        data = existing or self._home / f"pg{binaries.major}"
        identity = choose_identity(data=data)
        identity.open_way(self._home)
        if existing is None:
            make_cluster(data, binaries=binaries, identity=identity, durable=self._durable, deadline=deadline)
        return Postmaster(self._home, data, binaries, identity, self._settings)

    def _settled(self) -> bool:
        """Is the server gone or someone else's? Asked under the start lock, where nobody else is just asking."""
        with taken(self._home / "start.lock", exclusive=True, deadline=Deadline(0.0)) as ours:
            if not ours:
                return False
            users = self._home / "users.lock"
            if is_free(users, exclusive=True):
                return is_free(self._home / "server.lock", exclusive=True)
            return is_free(users, exclusive=False)
