"""A connection that is kept for the next question, and closed when nobody has it any more."""

import contextlib
import os
import select
from typing import Any

import psycopg


class Held:
    """A connection that is closed with its holder: a thread, or an event loop. `connection` is psycopg's."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.pid = os.getpid()

    def is_usable(self) -> bool:
        """Whether it is this process's, and alive. One that is busy is: its user will hear otherwise."""
        if self.pid != os.getpid():
            return False
        return not self.connection.closed and (self.connection.lock.locked() or not _is_dead(self.connection))

    def drop(self) -> None:
        """Close it; in a forked child without a word to the server, which would end the parent's session."""
        if self.connection.closed:
            return
        if self.pid != os.getpid():
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, self.connection.pgconn.socket)
            os.close(nowhere)
        self.connection.pgconn.finish()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the interpreter's end anything may be gone
            self.drop()


def _is_dead(connection: Any) -> bool:
    """Whether an idle connection was ended by the other side. It may have said why before, so all of it is read."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    while poll.poll(0):
        try:
            connection.pgconn.consume_input()
        except psycopg.OperationalError:
            return True
    return False
