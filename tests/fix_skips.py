"""A skipped test proves nothing, so CI accepts only the skips that are named here.

An xfail is a skip with another name, and is never accepted.
"""

import os
from fnmatch import fnmatchcase

import pytest

# (test id, reason), both as globs. Only what cannot be had on every machine belongs here.
ALLOWED = (
    ("tests/db/test_pgbouncer.py::*", "cannot run here: pgbouncer is not installed"),
    ("tests/system/test_embedded_accounts.py::*", "cannot run here: only root can become someone else"),
    ("tests/system/test_embedded_accounts.py::*", "cannot run here: there is no Python that an ordinary user may *"),
    ("tests/system/test_embedded_accounts.py::*", "cannot run here: user namespaces are not available"),
    ("tests/unit/test_model.py::*", "cannot run here: spin *"),
)


class Skips:
    """What was skipped without being on the list."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def look(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if hasattr(report, "wasxfail"):
            self.refused.append(f"{report.nodeid}: xfail, {report.wasxfail or 'no reason'}")
        elif report.skipped:
            reason = _reason(report)
            if not is_allowed(report.nodeid, reason):
                self.refused.append(f"{report.nodeid}: {reason}")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.look(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.look(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.refused and in_ci():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.refused:
            verdict = "and CI fails on them" if in_ci() else "CI would fail on them"
            terminalreporter.section(f"skips that tests/fix_skips.py does not allow; {verdict}")
            for line in self.refused:
                terminalreporter.line(line)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Skips(), "pulse-skips")


def in_ci() -> bool:
    return any(os.environ.get(name, "") not in {"", "0", "false"} for name in ("CI", "PULSE_CI"))


def is_allowed(test: str, reason: str) -> bool:
    return any(fnmatchcase(test, glob) and fnmatchcase(reason, why) for glob, why in ALLOWED)


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    # pytest gives (file, line, "Skipped: reason").
    told = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return told.removeprefix("Skipped: ")
