"""Where the server's unix socket is, and whether a server answers there."""

import contextlib
import os
import re
import socket
from hashlib import sha256
from pathlib import Path

from pulse_runtime.embedded.errors import PostgresDidNotStart
from pulse_runtime.embedded.root import Identity

PORT = 5432
SOCKET = f".s.PGSQL.{PORT}"
# A socket's path has room for 108 bytes on Linux and 104 on macOS, of which Postgres needs 15 for the name.
LONGEST_HOME_BYTES = 80
# Starting up, shutting down, ended by an administrator. Any other refusal (too many clients) is from a live server.
_NOT_NOW = (b"C57P03\0", b"C57P01\0")


def socket_folder(home: Path) -> Path:
    """The socket's folder for this home: inside it when its path is short and plain, else a hashed one in /tmp.

    Plain, because commas, spaces and quotes have a meaning in unix_socket_directories and in a DSN's host. /tmp and not
    TMPDIR, because two processes that share a server may differ in it.
    """
    if len(os.fsencode(home)) <= LONGEST_HOME_BYTES and re.fullmatch(r"[\w/.+-]+", str(home), re.ASCII):
        return home / "s"
    digest = sha256(os.fsencode(home)).hexdigest()[:16]
    return Path("/tmp") / f"pulse-{os.geteuid()}-{digest}"  # noqa: S108 (make_ours refuses one that is not ours)


def make_ours(folder: Path, *, identity: Identity) -> None:
    """Create the folder, closed to everybody else: who can reach the socket is superuser of the server."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or found.st_uid not in {os.geteuid(), identity.uid}:
        raise PostgresDidNotStart(f"{folder} should be our socket's folder but belongs to someone else; remove it")
    folder.chmod(0o700)
    identity.give(folder)


def answers(folder: Path) -> bool:
    """Does a server accept a session of `pulse` here, now? Asked in its protocol: an open socket proves nothing."""
    body = b"\0\3\0\0user\0pulse\0database\0pulse\0\0"
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2.0)
            connection.connect(str(folder / SOCKET))
            connection.sendall((len(body) + 4).to_bytes(4, "big") + body)
            ready = _says_ready(connection)
            with contextlib.suppress(OSError):
                connection.sendall(b"X\0\0\0\4")
            return ready
    except OSError:
        return False


def _says_ready(connection: socket.socket) -> bool:
    with connection.makefile("rb") as stream:
        while header := stream.read(5):
            body = stream.read(int.from_bytes(header[1:], "big") - 4)
            if header[:1] == b"Z":
                return True
            if header[:1] == b"E":
                return not any(code in body for code in _NOT_NOW)
    return False
