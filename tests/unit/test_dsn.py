"""Connection strings: SQLAlchemy's are understood, and no secret is ever printed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pulse_runtime.dsn import for_libpq, redacted

SECRET = "hunter2"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg", "postgresql+asyncpg", "PostgreSQL"])
def test_any_postgres_url_becomes_one_that_libpq_reads(scheme: str) -> None:
    assert conninfo_to_dict(for_libpq(f"{scheme}://u:p@h:5433/db")) == {
        "user": "u", "password": "p", "host": "h", "port": "5433", "dbname": "db",
    }  # fmt: skip


@pytest.mark.parametrize("dsn", ["mysql://u:hunter2@h/db", "u:hunter2@h/db", "hunter2", ""])
def test_what_is_not_postgres_is_refused_without_being_repeated(dsn: str) -> None:
    with pytest.raises(ValueError, match="URL") as refused:
        for_libpq(dsn)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("dsn", "shown"),
    [
        ("postgresql://u:hunter2@h:5433/db", "postgresql://u:***@h:5433/db"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
        ("postgresql://h1:1,[::1]:2/db", "postgresql://h1:1,[::1]:2/db"),
        ("postgresql:///db?host=/tmp&sslmode=require", "postgresql:///db?host=/tmp&sslmode=require"),
        ("postgresql://h/db?user=u&password=hunter2", "postgresql://h/db?user=u&password=***"),
        ("postgresql://h/db?pasword=hunter2", "postgresql://h/db?pasword=***"),
        ("postgresql+psycopg://u:hunter2@h/db", "postgresql+psycopg://u:***@h/db"),
        ("host=h password='a hunter2\\'' dbname=d", "host=h password=*** dbname=d"),
        ("host=h sslpassword = hunter2 passfile=/x/.password", "host=h sslpassword=*** passfile=/x/.password"),
    ],
)
def test_what_is_no_secret_stays_readable(dsn: str, shown: str) -> None:
    assert redacted(dsn) == shown


@pytest.mark.parametrize(
    "dsn",
    [
        "hunter2", "u:hunter2@h/db", "postgresql://u:hunter2", "postgresql://u:a@b?c=hunter2@h/db",
        "postgresql://u:1?host=hunter2@h",
        "password=two hunter2 words host=h", "password='hunter2", "password='a'hunter2' host=h",
        "host= password=hunter2",
        "password=a\\ hunter2 host=h", "PASSWORD=hunter2", "postgresql://h/db?hunter2", "postgresql://u:a@h:hunter2/db",
    ],
)  # fmt: skip
def test_a_malformed_dsn_does_not_give_its_password_away(dsn: str) -> None:
    assert SECRET not in redacted(dsn)


@given(st.text(), st.text())
def test_no_password_in_a_url_is_shown_however_badly_it_is_escaped(before: str, after: str) -> None:
    assert SECRET not in redacted(f"postgresql://u:{before}{SECRET}{after}@h/db")


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_no_password_in_a_keyword_string_is_shown(around: str) -> None:
    dsn = make_conninfo(host="h", password=f"{around}{SECRET}{around}", dbname="d")
    assert redacted(dsn) == "host=h password=*** dbname=d"


@given(st.text())
def test_any_text_can_be_redacted(text: str) -> None:
    redacted(text)
    redacted(f"postgresql://{text}")
    redacted(f"host={text}")
