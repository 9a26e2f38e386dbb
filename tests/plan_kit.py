"""What the statements inside a function really did: auto_explain tells of every one and of its plan."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fix_cluster import Connection
from psycopg.errors import Diagnostic

SETTINGS = {
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_buffers": "on",
    "auto_explain.log_timing": "off",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
}


@dataclass
class Work:
    """What was read, by table; those of the log by partition."""

    rows: dict[str, int] = field(default_factory=dict)
    sequential: set[str] = field(default_factory=set)  # tables that were read from one end to the other

    @property
    def log_rows(self) -> int:
        return sum(count for table, count in self.rows.items() if _is_log(table))

    @property
    def partitions(self) -> set[str]:
        """Those of the log that were opened."""
        return {table for table in self.rows if _is_log(table)}

    def add(self, plan: dict[str, Any]) -> None:
        """A node and all that is below it. One that never ran has read nothing."""
        if (table := plan.get("Relation Name")) and plan["Actual Loops"] and "Scan" in plan["Node Type"]:
            passed_over = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
            read = round((plan["Actual Rows"] + passed_over) * plan["Actual Loops"])
            self.rows[table] = self.rows.get(table, 0) + read
            if plan["Node Type"] == "Seq Scan":
                self.sequential.add(table)
        for below in plan.get("Plans", ()):
            self.add(below)


@contextmanager
def watched(connection: Connection) -> Iterator[Work]:
    """Everything that the connection executes meanwhile."""
    connection.execute("load 'auto_explain'")
    for name, value in SETTINGS.items():
        connection.execute(f"set {name} = '{value}'".encode())
    work = Work()

    def hear(told: Diagnostic) -> None:
        _, found, text = (told.message_primary or "").partition("plan:\n")
        if found:
            work.add(json.loads(text)["Plan"])

    connection.add_notice_handler(hear)
    try:
        yield work
    finally:
        connection.remove_notice_handler(hear)
        connection.execute("set auto_explain.log_min_duration = '-1'")


def buffers_of(connection: Connection, question: str, *values: object) -> int:
    """Pages that a call looked at, all that it did inside included: its cost, on however busy a machine.

    Asked without auto_explain, which looks at the catalogue for each plan that it tells.
    """
    row = connection.execute(f"explain (analyze, buffers, format json) {question}".encode(), values).fetchone()
    assert row
    plan = row[0][0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def _is_log(table: str) -> bool:
    return table == "log" or table.startswith("log_")
