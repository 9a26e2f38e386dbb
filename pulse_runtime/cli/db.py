"""`pulse-runtime db`: migrations."""

import click

from pulse_runtime.cli.output import output_option, write_rows

_PATIENCE_S = 15.0


@click.group()
def db() -> None:
    """Migrate a database, or say where it stands.

    All objects of Pulse live in the schema `pulse`. An embedded database migrates itself; another one is never
    touched without this command or a --migrate.
    """


@db.command("migrate")
@click.pass_obj
def migrate_command(dsn: str | None) -> None:
    """Apply the migrations that the database lacks, each in a transaction.

    \b
    Example:
      pulse-runtime --dsn postgresql://app@db/app db migrate
    """
    from pulse_runtime.cli.database import database, talk, tell_migrate

    with database(dsn, prepare=False) as connection:
        done = tell_migrate(connection)
    talk(f"{len(done)} applied" if done else "nothing to do: the database is up to date")


@db.command("status")
@output_option
@click.pass_obj
def status_command(dsn: str | None, output: str) -> int:
    """List the migrations: applied, pending, edited, unknown or newer.

    Exit code 0 if the schema is exactly what this version needs, else 6.
    """
    from pulse_runtime.cli.database import database
    from pulse_runtime.store.deadlines import within
    from pulse_runtime.store.history import status

    with database(dsn, prepare=False) as connection, within(connection, _PATIENCE_S, asked="list its migrations"):
        steps = status(connection)
    columns = ("number", "name", "state", "applied_at")
    write_rows([{name: getattr(step, name) for name in columns} for step in steps], output)
    return 0 if all(step.state == "applied" for step in steps) else 6


@db.command("sql")
@click.option(
    "--from", "first", type=click.IntRange(min=1), default=1, show_default=True, help="First migration to print."
)
def sql_command(first: int) -> None:
    """Print the SQL of the migrations, for people whose DBA applies it.

    It does what `db migrate` does, the record of what was applied included.

    \b
    Example:
      pulse-runtime db sql | psql -v ON_ERROR_STOP=1 -d app
    """
    from pulse_runtime.store.migrate import script

    click.echo(script(start=first), nl=False)


@db.command("grants")
def grants_command() -> None:
    """Print the roles of Pulse and what each may do, for a DBA to apply (again after every migration).

    \b
    Roles: pulse_producer (enqueue only), pulse_planner (schedules), pulse_viewer, pulse_runtime, pulse_admin.

    \b
    Example:
      pulse-runtime db grants | psql -v ON_ERROR_STOP=1 -d app
      psql -d app -c 'grant pulse_producer to webapp'
    """
    from pulse_sql import grants

    click.echo(grants(), nl=False)


@db.command("rebase")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_obj
def rebase_command(dsn: str | None, yes: bool) -> int:
    """Make a database that was restored from a dump fit for runtimes again.

    Rows of the log carry the transaction ids of the server that wrote them. Restored to another server they may lie in
    its future; runtimes then refuse to start. This gives every unfinished job a new delivery, in the old order. Jobs
    that were running run again (not charged). Completed ones stay completed, without the history of their deliveries.

    Stop every runtime first. It is one transaction: done, or nothing is.

    \b
    Example:
      pg_restore -d app app.dump && pulse-runtime --dsn postgresql://app@db/app db rebase --yes
    """
    from pulse_runtime.cli.database import database, talk
    from pulse_runtime.store.rebase import foreign_lanes, rebase

    with database(dsn, prepare=True) as connection:
        lanes = foreign_lanes(connection)
        if not lanes:
            talk("nothing to do: all transaction ids are this server's own")
            return 0
        talk(f"{lanes} lanes carry transaction ids of another server")
        if not yes:
            click.confirm("Rebase now? Every runtime must be stopped.", abort=True, err=True)
        done = rebase(connection)
    talk(f"{done.pending} jobs wait again, {done.running} of which were running; {done.completed} are completed")
    return 0


@db.command("audit")
@output_option
@click.pass_obj
def audit_command(dsn: str | None, output: str) -> int:
    """Look for what must not exist: an overdue schedule, an occurrence without its job, a lease without its claim …

    Nothing is repaired. Exit code 0 if nothing was found, else 6. A runtime does the same once a day.
    """
    from pulse_runtime.cli.database import database, talk
    from pulse_runtime.store import execute
    from pulse_runtime.store.deadlines import within
    from pulse_runtime.store.schedule_views import audit, findings_of

    with database(dsn, prepare=True) as connection, within(connection, 600, asked="audit itself"):
        findings = findings_of(execute.ask(connection, audit()))
    write_rows(findings, output)
    talk(f"{len(findings)} findings" if findings else "nothing was found")
    return 6 if findings else 0
