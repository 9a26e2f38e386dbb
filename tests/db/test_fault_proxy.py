"""The fault proxy: each fault as a client sees it, and that nothing else is one."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from embedded_kit import ask, eventually
from faults.proxy import COMMIT, FaultProxy
from fix_cluster import Connection

SHORT_S = 0.2  # long enough for a reply that is going to come
LONG_S = 5.0


@pytest.fixture(params=["unix", "tcp"])
def proxy(dsn: str, request: pytest.FixtureRequest) -> Iterator[FaultProxy]:
    """Postgres at its unix socket, the proxy at another or on loopback."""
    with FaultProxy(dsn, seed=1, tcp=request.param == "tcp") as proxy:
        yield proxy


@pytest.fixture
def client(proxy: FaultProxy) -> Iterator[Connection]:
    with closing(psycopg.connect(proxy.dsn, autocommit=True)) as client:  # a plain end whatever state it is in
        client.execute("create table public.row (n int)")
        yield client


def rows(dsn: str) -> object:
    return ask(dsn, "select count(*) from public.row")


def send(client: Connection, statement: str) -> None:
    """Without waiting for a reply."""
    client.pgconn.send_query(statement.encode())
    client.pgconn.flush()


def hears(client: Connection, *, within_s: float = SHORT_S) -> bool:
    """Does a whole reply come?"""

    def is_there() -> bool:
        client.pgconn.consume_input()
        return not client.pgconn.is_busy()

    return eventually(is_there, within_s=within_s)


def test_with_nothing_wrong_it_passes_on_everything(client: Connection, proxy: FaultProxy) -> None:
    large = "x" * 3_000_000
    assert client.execute("select %s::text", (large,)).fetchone() == (large,)
    with client.pipeline():
        answers = [client.execute("select %s::int", (n,), prepare=True) for n in range(50)]
    assert [each.fetchone() for each in answers] == [(n,) for n in range(50)]
    assert str(proxy.did) == "{'connections': 1}"


def test_proxies_can_be_chained_over_tcp(dsn: str) -> None:
    with FaultProxy(dsn, tcp=True) as near, FaultProxy(near.dsn) as far:
        assert "127.0.0.1" in far.dsn
        assert ask(far.dsn, "select 1") == 1
        assert near.did["connections"] == 1


def test_a_delay_holds_up_both_directions(client: Connection, proxy: FaultProxy) -> None:
    proxy.delay(60, jitter_ms=10)
    send(client, "select 1")
    assert not hears(client, within_s=0.09)
    assert hears(client, within_s=LONG_S)
    assert proxy.did["delayed"] == 2


def test_a_black_hole_keeps_everything_and_lets_it_go_on_when_healed(client: Connection, proxy: FaultProxy) -> None:
    proxy.black_hole()
    send(client, "select 1")
    proxy.did.wait_for("held", within_s=LONG_S)
    assert not hears(client)
    proxy.heal()
    assert hears(client, within_s=LONG_S)


def test_a_black_hole_accepts_new_connections_and_says_nothing(proxy: FaultProxy) -> None:
    proxy.black_hole()
    with pytest.raises(psycopg.errors.ConnectionTimeout):
        psycopg.connect(proxy.dsn, connect_timeout=2)
    assert proxy.did["connections"] == 1


def test_half_open_the_servers_words_are_lost_and_the_clients_are_not(
    client: Connection, proxy: FaultProxy, dsn: str
) -> None:
    proxy.half_open()
    send(client, "insert into public.row values (1)")
    assert proxy.did.wait_for("lost replies", within_s=LONG_S)
    assert eventually(lambda: rows(dsn) == 1, within_s=LONG_S)
    assert not hears(client)
    proxy.heal()
    with pytest.raises(psycopg.OperationalError):
        client.pgconn.consume_input()
    assert proxy.did["cut"] == 1


def test_half_open_nobody_hears_that_the_server_is_gone(client: Connection, proxy: FaultProxy, dsn: str) -> None:
    proxy.half_open()
    ask(dsn, f"select pg_terminate_backend({client.info.backend_pid}, 5000)")
    send(client, "select 1")
    assert not hears(client)
    assert client.pgconn.status == psycopg.pq.ConnStatus.OK


def test_a_link_that_lost_nothing_while_half_open_goes_on(client: Connection, proxy: FaultProxy) -> None:
    proxy.half_open()
    proxy.heal()
    assert client.execute("select 1").fetchone() == (1,)
    assert proxy.did["cut"] == 0


def test_a_reset_ends_connections_and_new_ones_are_welcome(client: Connection, proxy: FaultProxy) -> None:
    proxy.reset()
    with pytest.raises(psycopg.OperationalError):
        client.execute("select 1")
    assert proxy.did["cut"] == 1
    assert ask(proxy.dsn, "select 1") == 1


def test_a_share_of_connections_is_drawn_by_the_seed(dsn: str) -> None:
    cut = []
    for _ in range(2):
        with FaultProxy(dsn, seed=7) as proxy:
            clients = [psycopg.connect(proxy.dsn, autocommit=True) for _ in range(8)]
            proxy.reset(share=0.5)
            cut.append([_is_dead(each) for each in clients])
            for each in clients:
                each.close()
    assert cut[0] == cut[1]
    assert 0 < sum(cut[0]) < 8


def test_refusing_leaves_those_that_are_there_alone(client: Connection, proxy: FaultProxy) -> None:
    proxy.refuse()
    with pytest.raises(psycopg.OperationalError, match="refused"):
        psycopg.connect(proxy.dsn)
    assert client.execute("select 1").fetchone() == (1,)
    proxy.heal()
    assert ask(proxy.dsn, "select 1") == 1


def test_notifications_vanish_and_nothing_else_does(client: Connection, proxy: FaultProxy, dsn: str) -> None:
    client.execute("listen pulse")
    proxy.drop_listen()
    ask(dsn, "select pg_notify('pulse', 'lost')")
    proxy.did.wait_for("lost notifications", within_s=LONG_S)
    assert client.execute("select 1").fetchone() == (1,)
    proxy.heal()
    ask(dsn, "select pg_notify('pulse', 'heard')")
    assert [each.payload for each in client.notifies(timeout=LONG_S, stop_after=1)] == ["heard"]


def test_a_swallowed_commit_is_committed(client: Connection, proxy: FaultProxy, dsn: str) -> None:
    trap = proxy.swallow(COMMIT)
    with pytest.raises(psycopg.OperationalError), client.transaction():
        client.execute("insert into public.row values (1)")
    assert trap.wait(within_s=LONG_S).is_committed
    assert rows(dsn) == 1
    assert proxy.did["swallowed"] == 1


def test_a_statement_in_autocommit_is_committed_when_its_reply_is_swallowed(
    client: Connection, proxy: FaultProxy, dsn: str
) -> None:
    trap = proxy.swallow("into public.row")
    with pytest.raises(psycopg.OperationalError):
        client.execute("insert into public.row select %s from pg_sleep(0.05)", (1,))
    swallowed = trap.wait(within_s=LONG_S)
    assert swallowed.is_committed
    assert swallowed.tags == ("INSERT 0 1",)
    assert rows(dsn) == 1


def test_a_trap_springs_once_and_only_for_its_statement(client: Connection, proxy: FaultProxy) -> None:
    trap = proxy.swallow("select 2")
    assert client.execute("select 1").fetchone() == (1,)
    assert not trap.is_sprung
    with pytest.raises(psycopg.OperationalError):
        client.execute("select 2")
    assert ask(proxy.dsn, "select 2") == 2


def test_a_prepared_statement_springs_a_trap_by_its_text(client: Connection, proxy: FaultProxy, dsn: str) -> None:
    insert = "insert into public.row values (%s)"
    client.execute(insert, (1,), prepare=True)
    client.execute(insert, (2,), prepare=True)
    trap = proxy.swallow("into public.row")
    with pytest.raises(psycopg.OperationalError):
        client.execute(insert, (3,), prepare=True)
    assert trap.wait(within_s=LONG_S).is_committed
    assert rows(dsn) == 3


@pytest.mark.parametrize("extended", [False, True])
def test_after_a_copy_the_replies_are_still_told_apart(
    client: Connection, proxy: FaultProxy, dsn: str, extended: bool
) -> None:
    copy = b"copy public.row from stdin"
    client.pgconn.exec_params(copy, []) if extended else client.pgconn.exec_(copy)
    client.pgconn.put_copy_data(b"1\n")
    client.pgconn.put_copy_end()
    client.pgconn.flush()
    # Only when it is there: psycopg waits in get_result with the interpreter's lock, which the proxy needs.
    while hears(client, within_s=LONG_S) and client.pgconn.get_result():
        pass
    trap = proxy.swallow(COMMIT)
    with pytest.raises(psycopg.OperationalError), client.transaction():
        client.execute("insert into public.row values (2)")
    assert trap.wait(within_s=LONG_S).is_committed
    assert rows(dsn) == 2


def test_a_statement_that_failed_is_not_called_committed(client: Connection, proxy: FaultProxy) -> None:
    trap = proxy.swallow("no_such_table")
    with pytest.raises(psycopg.OperationalError):
        client.execute("select * from no_such_table")
    assert not trap.wait(within_s=LONG_S).is_committed


def _is_dead(client: Connection) -> bool:
    try:
        client.execute("select 1")
    except psycopg.OperationalError:
        return True
    return False
