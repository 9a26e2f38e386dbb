"""What the migrations make, as text: sql/pulse_sql/schema.sql, which is read and compared, and never applied.

`python -m pulse_runtime.store.snapshot` writes it, from a Postgres of its own that is gone afterwards. The text is the
same on every supported version and machine: owners, object ids and the order of creation are not in it.
"""

import sys
import tempfile
from pathlib import Path

import pulse_sql
from pulse_runtime.embedded import Server
from pulse_runtime.store import catalogue
from pulse_runtime.store.connect import Connection, connect
from pulse_runtime.store.migrate import migrate

COMMAND = "make snapshot"
_HEAD = f"""-- What the migrations make, read from the catalogues. Not to be applied: see migrations/.
-- Written by `{COMMAND}`; a test fails when it is stale. A function is given by the md5 of its body.
"""


def render(connection: Connection) -> str:
    """Everything in schema pulse, in the order of kind and name."""
    parts = [_HEAD]
    with connection.transaction():
        # Names are written in full. A role called pulse has the schema pulse in its path, and would leave it out.
        connection.execute("select pg_catalog.set_config('search_path', '', true)")
        for title, query in catalogue.KINDS:
            if rows := [row[0] for row in connection.execute(query.encode())]:
                parts.append("\n".join((f"-- {title}", "", *rows, "")))
    return "\n".join(parts)


def write(file: Path) -> None:
    """Make a database, migrate it, and write down what came of it."""
    # Postgres under another account has to reach the folder, and some machines close their temporary one.
    with tempfile.TemporaryDirectory(prefix="pulse-snapshot-") as folder:
        Path(folder).chmod(0o755)
        with Server(Path(folder) / "home", durable=False) as dsn, connect(dsn, actor="snapshot") as connection:
            migrate(connection)
            file.write_text(render(connection), "utf-8")


if __name__ == "__main__":
    target = Path(pulse_sql.__file__).with_name("schema.sql")
    write(target)
    print(f"wrote {target}", file=sys.stderr)
