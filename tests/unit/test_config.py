"""Settings come from the strongest source that makes them, and say which one that was."""

from pathlib import Path

import pytest

from pulse_runtime.config import EMBEDDED, load
from pulse_runtime.errors import ConfigError

FLAG, PULSE, DATABASE, FILE = (f"host={name}" for name in ("flag", "pulse", "database", "file"))


def write(folder: Path, name: str, *lines: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text("\n".join(lines))
    return folder / name


def refusal(folder: Path) -> ConfigError:
    with pytest.raises(ConfigError) as refused:
        load(environ={}, folder=folder)
    assert refused.value.exit_code == 78
    return refused.value


def test_the_dsn_is_taken_from_flag_then_variables_then_file(tmp_path: Path) -> None:
    write(tmp_path, "pulse.toml", f'dsn = "{FILE}"')
    env = {"PULSE_DSN": PULSE, "DATABASE_URL": DATABASE}
    seen = [
        load(dsn=FLAG, environ=env, folder=tmp_path).dsn,
        load(environ=env, folder=tmp_path).dsn,
        load(environ={"PULSE_DSN": "", "DATABASE_URL": DATABASE}, folder=tmp_path).dsn,
        load(environ={}, folder=tmp_path).dsn,
    ]
    assert [(each.value, each.source) for each in seen] == [
        (FLAG, "--dsn"), (PULSE, "PULSE_DSN"), (DATABASE, "DATABASE_URL"), (FILE, f"{tmp_path}/pulse.toml, line 1"),
    ]  # fmt: skip


def test_without_any_dsn_it_is_the_embedded_one(tmp_path: Path) -> None:
    settings = load(environ={}, folder=tmp_path)
    assert settings.dsn.value is None
    assert settings.shown()["dsn"].value == EMBEDDED
    assert settings.shown()["dsn"].source == "default"


def test_the_nearest_file_counts_and_a_pyproject_without_our_table_does_not(tmp_path: Path) -> None:
    write(tmp_path, "pulse.toml", 'dsn = "host=far"')
    near = write(tmp_path / "a", "pyproject.toml", "[project]", 'name = "x"', "[tool.pulse]", 'dsn = "host=near"')
    write(tmp_path / "a" / "b", "pyproject.toml", "[project]", 'name = "y"')
    found = load(environ={}, folder=tmp_path / "a" / "b").dsn
    assert (found.value, found.source) == ("host=near", f"{near}, line 4")


def test_in_one_folder_pulse_toml_goes_before_pyproject(tmp_path: Path) -> None:
    write(tmp_path, "pulse.toml", 'dsn = "host=ours"')
    write(tmp_path, "pyproject.toml", "[tool.pulse]", 'dsn = "host=theirs"')
    assert load(environ={}, folder=tmp_path).dsn.value == "host=ours"


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path, "pulse.toml", "# fine", 'dsn "host=x"')
    assert refusal(tmp_path).source == f"{file}, line 2"


def test_a_broken_pyproject_of_someone_else_is_no_concern_of_ours(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[project")
    assert load(environ={}, folder=tmp_path).dsn.value is None


def test_an_unknown_key_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    file = write(tmp_path, "pyproject.toml", "[tool.other]", "dns = 1", "[tool.pulse]", 'dns = "host=hunter2"')
    refused = refusal(tmp_path)
    assert "did you mean 'dsn'" in refused.problem
    assert refused.source == f"{file}, line 4"
    assert "hunter2" not in str(refused)


@pytest.mark.parametrize("value", ["5432", '""', "[]"])
def test_a_value_of_the_wrong_type_is_refused(tmp_path: Path, value: str) -> None:
    write(tmp_path, "pulse.toml", f"dsn = {value}")
    assert "text in quotes" in refusal(tmp_path).problem


def test_a_broken_file_is_an_error_even_when_a_flag_overrides_it(tmp_path: Path) -> None:
    write(tmp_path, "pulse.toml", "dsn =")
    with pytest.raises(ConfigError):
        load(dsn=FLAG, environ={}, folder=tmp_path)


def test_a_database_url_of_another_database_says_how_to_go_around_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"mysql URL.*Set PULSE_DSN") as refused:
        load(environ={"DATABASE_URL": "mysql://u:hunter2@h/db"}, folder=tmp_path)
    assert "hunter2" not in str(refused.value)


def test_a_home_in_a_file_is_meant_from_the_folder_of_the_file(tmp_path: Path) -> None:
    write(tmp_path, "pulse.toml", 'home = "data"')
    (tmp_path / "below").mkdir()
    assert load(environ={}, folder=tmp_path / "below").home.value == tmp_path / "data"
    assert load(environ={"PULSE_HOME": "/elsewhere"}, folder=tmp_path).home.value == Path("/elsewhere")


def test_what_is_shown_has_no_password(tmp_path: Path) -> None:
    shown = load(dsn="postgres://u:hunter2@h/db", environ={}, folder=tmp_path).shown()
    assert shown["dsn"].value == "postgresql://u:***@h/db"
