"""A database that lasts as long as a block."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pulse_runtime.errors import Refused
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.migrate import migrate


class MayNotCreate(Refused):
    """The role of the DSN may not make a database."""

    def __init__(self, *, user: str, otherwise: str) -> None:
        super().__init__(f"the role {user} may not create a database. Let it (alter role {user} createdb), {otherwise}")
        self.user = user


@contextmanager
def scratch(dsn: str, *, prefix: str, otherwise: str) -> Iterator[str]:
    """The DSN of a new database with our schema, on the server of `dsn`; dropped at the end, whoever is connected.

    Raises MayNotCreate, whose message ends with `otherwise`: what can be done without it.
    """
    name = f"{prefix}_{os.urandom(6).hex()}"
    with connect(dsn, actor="loadgen") as admin:
        _create(admin, name, otherwise)
    try:
        there = make_conninfo(dsn, dbname=name)
        with connect(there, actor="loadgen") as connection:
            migrate(connection)
        yield there
    finally:
        with connect(dsn, actor="loadgen") as admin:
            admin.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


def _create(admin: Connection, name: str, otherwise: str) -> None:
    try:
        admin.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    except psycopg.errors.InsufficientPrivilege:
        raise MayNotCreate(user=admin.info.user, otherwise=otherwise) from None
