"""Where a proxy listens and where it connects to: unix sockets, and TCP on loopback."""

import os
import shutil
import socket
import tempfile
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

LOOPBACK = "127.0.0.1"
PORT = 5432  # only a part of the name of a unix socket


class Upstream:
    """The server of a DSN."""

    def __init__(self, dsn: str) -> None:
        given = conninfo_to_dict(dsn)
        host, port = str(given.get("hostaddr") or given["host"]), int(given.get("port") or PORT)
        self.is_tcp = not host.startswith("/")
        self.address: Any = f"{host}/.s.PGSQL.{port}"
        self.family = socket.AF_UNIX
        if self.is_tcp:
            self.family, *_, self.address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]

    def socket(self) -> socket.socket:
        return _socket(self.family)


class Door:
    """A place to listen at. Shut, it refuses: nobody listens, but the place stays ours."""

    def __init__(self, *, tcp: bool) -> None:
        self._folder = None if tcp else Path(tempfile.mkdtemp(prefix="pulse-proxy-", dir="/tmp"))
        # Bound and never listening, so that nobody else gets the port while the door is shut.
        self._holder = _socket(socket.AF_INET) if tcp else None
        if self._holder:
            self._holder.bind((LOOPBACK, 0))
        self.listener: socket.socket | None = None

    def open(self) -> socket.socket:
        if not self.listener:
            self.listener = _socket(socket.AF_INET if self._holder else socket.AF_UNIX)
            if self._folder:
                Path(self._address).unlink(missing_ok=True)
            self.listener.bind(self._address)
            self.listener.listen(100)
        return self.listener

    def shut(self) -> None:
        if self.listener:
            self.listener.close()
            self.listener = None

    def remove(self) -> None:
        self.shut()
        if self._holder:
            self._holder.close()
        if self._folder:
            shutil.rmtree(self._folder)

    def dsn(self, dsn: str) -> str:
        """`dsn`, but through this door."""
        given = {name: value for name, value in conninfo_to_dict(dsn).items() if name != "hostaddr"}
        if self._holder:
            return make_conninfo("", **{**given, "host": LOOPBACK, "port": self._holder.getsockname()[1]})
        return make_conninfo("", **{**given, "host": os.fspath(self._folder or ""), "port": PORT})

    @property
    def _address(self) -> Any:
        return self._holder.getsockname() if self._holder else f"{self._folder}/.s.PGSQL.{PORT}"


def _socket(family: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setblocking(False)
    if family != socket.AF_UNIX:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made
