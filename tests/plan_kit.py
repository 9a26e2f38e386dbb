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
    buffers: int = 0
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
    work, outermost = Work(), []

    def hear(told: Diagnostic) -> None:
        _, found, text = (told.message_primary or "").partition("plan:\n")
        if found:
            plan = json.loads(text)["Plan"]
            work.add(plan)
            outermost.append(plan)

    connection.add_notice_handler(hear)
    try:
        yield work
    finally:
        connection.remove_notice_handler(hear)
        connection.execute("set auto_explain.log_min_duration = '-1'")
    # The last to end of a call is the call itself, and its buffers are those of all that it did.
    work.buffers = outermost[-1]["Shared Hit Blocks"] + outermost[-1]["Shared Read Blocks"] if outermost else 0


def _is_log(table: str) -> bool:
    return table == "log" or table.startswith("log_")
