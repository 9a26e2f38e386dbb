"""Connections that notice when the other end is gone, say who they are, and survive a pooler.

PgBouncer in transaction mode gives every transaction another session. So nothing here leaves anything in one: no SET,
no prepared statement, no startup `options` (PgBouncer refuses to connect with them).
"""

import os
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from pulse_runtime.dsn import redacted
from pulse_runtime.errors import ConfigError, NoDatabase

# Idle connections notice a dead network in 2 + 3 × 1 s. What was sent and is not acknowledged is given up after 3 s:
# measured 3.2 s, and two hours without it.
_NETWORK = {
    "keepalives": "1",
    "keepalives_idle": "2",
    "keepalives_interval": "1",
    "keepalives_count": "3",
    "tcp_user_timeout": "3000",
}
_CONNECT_TIMEOUT_S = "5"
_NAME_BYTES = 63  # Postgres cuts names there


class Connection(psycopg.Connection[TupleRow]):
    """A psycopg connection that knows whose it is."""

    actor: str = "?"


class AsyncConnection(psycopg.AsyncConnection[TupleRow]):
    """A psycopg connection for asyncio that knows whose it is."""

    actor: str = "?"


def connect(dsn: str, *, actor: str, **options: Any) -> Connection:
    """A connection in autocommit that pg_stat_activity lists as `pulse:<actor>`. `options` are psycopg's own.

    What the DSN says goes before our defaults. Raises NoDatabase, or ConfigError when the DSN cannot be read.
    """
    parameters = parameters_of(dsn, actor=actor)
    try:
        connection = Connection.connect("", **{**_session(), **options, **parameters})
    except psycopg.OperationalError as error:
        raise _no_database(parameters, error) from None
    connection.actor = actor
    return connection


async def aconnect(dsn: str, *, actor: str, **options: Any) -> AsyncConnection:
    """The same for asyncio."""
    parameters = parameters_of(dsn, actor=actor)
    try:
        connection = await AsyncConnection.connect("", **{**_session(), **options, **parameters})
    except psycopg.OperationalError as error:
        raise _no_database(parameters, error) from None
    connection.actor = actor
    return connection


def parameters_of(dsn: str, *, actor: str) -> dict[str, Any]:
    """What libpq is told: the DSN, completed."""
    given = _read(dsn)
    theirs = given.get("application_name") or os.environ.get("PGAPPNAME", "")
    timeout = {} if os.environ.get("PGCONNECT_TIMEOUT") else {"connect_timeout": _CONNECT_TIMEOUT_S}
    return {**_NETWORK, **timeout, **given, "application_name": _application_name(str(theirs), actor)}


def _session() -> dict[str, Any]:
    return {"autocommit": True, "prepare_threshold": None}


def _application_name(theirs: str, actor: str) -> str:
    """Ours, after the name that the user gave. Theirs is what is cut when both are too long."""
    ours = f"pulse:{actor}".encode()[:_NAME_BYTES].decode(errors="ignore")
    room = _NAME_BYTES - len(ours.encode()) - 1
    kept = theirs.encode()[: max(room, 0)].decode(errors="ignore")
    return f"{kept} {ours}" if kept else ours


def _read(dsn: str) -> dict[str, Any]:
    try:
        given = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        # What libpq says about it quotes what it did not understand, which may be the password.
        problem = f"libpq cannot read the DSN {redacted(dsn)}. In a URL, write @ : / ? of a password as %40 %3A %2F %3F"
        raise ConfigError(problem, source="dsn") from None
    ports = str(given.get("port", "")).replace(",", "")
    # These are what a password with an @ or / that nobody escaped turns into; libpq would print them.
    stray = "://" in dsn and any("@" in str(given.get(name, ""))[1:] for name in ("host", "dbname"))
    if stray or (ports and not ports.isdecimal()):
        problem = f"host, port or database of {redacted(dsn)} make no sense. In a URL, write @ : / ? of a password as "
        raise ConfigError(f"{problem}%40 %3A %2F %3F", source="dsn")
    return given


def _no_database(parameters: dict[str, Any], error: psycopg.OperationalError) -> NoDatabase:
    host = parameters.get("host") or parameters.get("hostaddr") or os.environ.get("PGHOST") or "the default socket"
    port = parameters.get("port") or os.environ.get("PGPORT") or "5432"
    user = parameters.get("user") or os.environ.get("PGUSER") or "the default user"
    dbname = parameters.get("dbname") or os.environ.get("PGDATABASE") or user
    why = " ".join(str(error).split())
    place = f"host={host} port={port} dbname={dbname} user={user}"
    return NoDatabase(f"no connection to Postgres at {place}: {why}\n{_what_to_do(why, str(dbname))}")


def _what_to_do(why: str, dbname: str) -> str:
    known = (
        ("password", "Check the user and the password in the DSN"),
        ("authentication", "Check the user in the DSN, and pg_hba.conf on the server"),
        ("pg_hba.conf", "Allow this user and host in pg_hba.conf on the server"),
        (f'database "{dbname}" does not exist', f"Make the database first: createdb {dbname}"),
        ("too many", "Raise max_connections, or connect through a pooler such as PgBouncer"),
        ("timeout", "Check host, port and firewall, or allow more time with connect_timeout in the DSN"),
    )
    hint = next(
        (hint for word, hint in known if word in why), "Check that the server runs and that host and port are right"
    )
    return f"{hint}. `pulse-runtime config show` says where the DSN comes from."
