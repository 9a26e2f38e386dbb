"""Postgres restarted, away, unreachable, out of connections or an hour ahead: nobody exits, nothing runs twice."""

import contextlib
import time
from collections.abc import Iterator

import psycopg
import pytest
from cluster_kit import Cluster
from embedded_kit import ask, eventually, tell
from faults.proxy import FaultProxy
from runtime_kit import Runtime
from scene_kit import BOOT_S, SHORT, Scene, said


@contextlib.contextmanager
def undisturbed(scene: Scene, *runtimes: Runtime) -> Iterator[None]:
    """Whatever happens in the block: nobody exits, everything is finished, and nothing ran again because of it."""
    before = [runtime.pids() for runtime in runtimes]
    yield
    assert scene.finishes(30)
    assert scene.endings() == []
    assert [runtime.pids() for runtime in runtimes] == before
    assert [line for runtime in runtimes for line in said(runtime, "executor reaped")] == []


def test_jobs_are_run_and_only_claimer_and_reporter_hold_connections(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 1}, count=50)
        scene.producer.send("fail_then_succeed", {"times": 1}, count=3)
        assert scene.finishes(20)
        names = "select array_agg(application_name order by application_name) from pg_stat_activity"
        connected = scene.ask(f"{names} where datname = current_database() and pid <> pg_backend_pid()")
        lines = ["claimer", *(f"reporter {line}" for line in ("extend", "keep", "settle"))]
        assert connected == [f"pulse:{line} test" for line in lines]
        assert runtime.stop() == 0
    assert scene.problems() == []


@pytest.mark.parametrize("immediate", [False, True], ids=["fast", "immediate"])
def test_postgres_restarts_under_load_and_nobody_exits(scene: Scene, server: Cluster, immediate: bool) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 300}, count=60)
        with undisturbed(scene, runtime):
            assert scene.flies(10)
            server.restart(immediate=immediate)
            (after,) = scene.producer.send("work", {"ms": 1}, priority=9)
            done = f"select status from pulse.get('{after}')"
            assert eventually(lambda: scene.ask(done) == "COMPLETED", within_s=10)
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_replies_to_a_claim_and_to_a_settlement_may_be_lost(scene: Scene) -> None:
    with FaultProxy(scene.dsn) as proxy, scene.runtime(through=proxy) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        with undisturbed(scene, runtime), scene.flow(ms=30):
            for text in ("pulse.claim(", "pulse.settle(", "pulse.extend(") * 3:
                assert scene.flies(1)
                assert proxy.swallow(text).wait(within_s=10).is_committed
        assert said(runtime, "claim released") == []
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_every_backend_is_terminated_again_and_again(scene: Scene) -> None:
    with scene.runtime() as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        with undisturbed(scene, runtime), scene.flow(ms=100):
            for _ in range(3):
                assert scene.flies(5)
                assert _others_come_after_all_were_terminated(scene)
        assert runtime.stop() == 0
    assert scene.problems() == []


def _others_come_after_all_were_terminated(scene: Scene) -> bool:
    ours = "datname = current_database() and application_name like 'pulse:%'"
    ended = ask(
        scene.dsn, f"select array_agg(pid) filter (where pg_terminate_backend(pid)) from pg_stat_activity where {ours}"
    )
    assert ended
    # The terminated are listed until they have gone.
    others = f"select count(*) from pg_stat_activity where {ours} and pid <> all(array{ended})"
    return eventually(lambda: int(scene.ask(others)) >= 4, within_s=10)


def test_a_bad_network_is_waited_for(scene: Scene) -> None:
    """Half-open, a black hole, resets, and notifications that never come: one after the other."""
    with FaultProxy(scene.dsn, seed=7) as proxy, scene.runtime(through=proxy) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        with undisturbed(scene, runtime):
            for fault in (proxy.half_open, proxy.black_hole, proxy.reset, proxy.drop_listen):
                scene.producer.send("work", {"ms": 300}, count=40)
                assert scene.flies(5)
                fault()
                if fault in (proxy.half_open, proxy.black_hole):
                    time.sleep(1.0)  # that long it lasts
                    assert scene.unfinished() > 0
                    proxy.heal()
                assert scene.finishes(8), f"not within 8 s after {fault.__name__}"
            proxy.heal()
        assert proxy.did["lost replies"] > 0
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_half_open_link_that_never_heals_is_given_up_for_a_new_one(scene: Scene) -> None:
    """Those that are there stay dead; whoever connects anew gets through."""
    with FaultProxy(scene.dsn) as proxy, scene.runtime(through=proxy, lease="12s", beat="0.5s") as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        scene.producer.send("work", {"ms": 300}, count=40)
        with undisturbed(scene, runtime):
            assert scene.flies(5)
            proxy.half_open()
            assert eventually(lambda: bool(said(runtime, "database lost")), within_s=8), "a deadline of our own"
            proxy.heal()
        assert runtime.stop() == 0
    assert scene.problems() == []


def test_a_database_that_is_away_for_longer_than_the_lease_lapses_nobody(scene: Scene) -> None:
    with (
        FaultProxy(scene.dsn) as proxy,
        scene.runtime(through=proxy, name="one", executors=1, **SHORT) as one,
        scene.runtime(through=proxy, name="two", executors=1, **SHORT) as two,
    ):
        for runtime in (one, two):
            runtime.wait_for("tree up", within_s=BOOT_S)
        with undisturbed(scene, one, two):
            scene.producer.send("work", {"ms": 1500}, count=20)
            assert scene.flies(20)
            proxy.refuse()
            proxy.reset()
            time.sleep(3.0)  # the lease is 2 s; the jobs end meanwhile
            proxy.heal()
        assert (one.stop(), two.stop()) == (0, 0)
    assert scene.problems() == []


def test_a_clock_that_jumps_by_an_hour_lapses_nobody(scene: Scene) -> None:
    clock = "create or replace function pulse.now() returns timestamptz language sql volatile parallel safe return {}"
    with (
        scene.runtime(name="one", executors=1, **SHORT) as one,
        scene.runtime(name="two", executors=1, **SHORT) as two,
    ):
        for runtime in (one, two):
            runtime.wait_for("tree up", within_s=BOOT_S)
        with undisturbed(scene, one, two):
            scene.hold(20)
            assert scene.flies(20)
            tell(scene.dsn, clock.format("clock_timestamp() + interval '1 hour'"))
            time.sleep(2.2)  # longer than a lease: watchers have had their time
            assert scene.in_flight() == 20
            tell(scene.dsn, clock.format("clock_timestamp()"))
            scene.gate.touch()
        assert said(one, "claim released") == said(two, "claim released") == []
        assert (one.stop(), two.stop()) == (0, 0)
    assert scene.problems() == []


def test_when_no_connection_is_left_everyone_waits_for_one(scene: Scene, server: Cluster) -> None:
    with FaultProxy(scene.dsn) as proxy, scene.runtime(through=proxy) as runtime, contextlib.ExitStack() as takers:
        runtime.wait_for("tree up", within_s=BOOT_S)
        with undisturbed(scene, runtime):
            scene.producer.send("work", {"ms": 1500}, count=20)
            assert scene.flies(20)
            proxy.refuse()
            proxy.reset()
            mark = runtime.log.mark()
            while _take_one(server, takers):
                pass
            proxy.heal()  # from here on the server itself refuses
            runtime.wait_for("database lost", after=0, within_s=5)
            time.sleep(2.0)
            assert [line for line in runtime.log.lines[mark:] if line.get("event") == "database back"] == []
            takers.close()
            runtime.wait_for("database back", after=mark, within_s=5)
        assert runtime.stop() == 0
    assert scene.problems() == []


def _take_one(server: Cluster, takers: contextlib.ExitStack) -> bool:
    """One more connection of the server's, until there is none."""
    try:
        takers.enter_context(psycopg.connect(server.dsn))
    except psycopg.OperationalError:
        return False
    return True


def test_a_first_start_without_a_database_is_refused_and_a_later_loss_is_not(scene: Scene) -> None:
    with FaultProxy(scene.dsn) as proxy:
        proxy.refuse()
        with scene.runtime(through=proxy, executors=1) as refused:
            assert refused.wait(within_s=20) == 5
        proxy.heal()
        with scene.runtime(through=proxy, executors=1, grace="1s") as runtime:
            runtime.wait_for("tree up", within_s=BOOT_S)
            scene.producer.send("work", {"ms": 300}, count=2)
            assert scene.flies(2)
            proxy.refuse()
            proxy.reset()
            assert runtime.stop(within_s=20) == 5, "what could not be flushed is said by the exit status"
            assert said(runtime, "unflushed")
    with scene.runtime(executors=1) as again:
        assert scene.finishes(15)
        assert again.stop() == 0
    assert scene.problems() == []
