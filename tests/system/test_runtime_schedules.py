"""Schedules in a running runtime: real processes, real time."""

from embedded_kit import ask, eventually, tell
from runtime_kit import Flags, Runtime
from scene_kit import BOOT_S, Scene

EACH_SECOND = (
    """select pulse.add_schedule('tick', 'every', '1s', 'work', '{"ms": 1}', missed => 'all', lookahead_s => 0)::text"""
)
DONE = "select count(*) from pulse.jobs where schedule_id is not null and status = 'COMPLETED'"
LATE_S = """select max(extract(epoch from c.at - o.due_at))::float8 from pulse.claim c, unnest(c.ids) i
  join pulse.occurrence o on o.job_id = i"""
GAPS = """select count(*) from (
  select occurrence - lag(occurrence) over (order by occurrence) as gap from pulse.occurrence) g where gap <> '1 s'"""
TWICE = (
    "select count(*) - count(distinct schedule_id || ' ' || occurrence) from pulse.jobs where schedule_id is not null"
)


def test_each_occurrence_fires_in_time_and_none_is_lost_when_actors_are_killed(scene: Scene) -> None:
    with scene.runtime(executors=1) as runtime:
        runtime.wait_for("tree up", within_s=BOOT_S)
        ask(scene.dsn, EACH_SECOND)
        assert eventually(lambda: scene.ask(DONE) >= 2, within_s=8)
        assert scene.ask(LATE_S) < 1.0
        runtime.kill("scheduler-1")
        assert eventually(lambda: scene.ask(DONE) >= 4, within_s=10)
        runtime.kill("reporter-1")
        runtime.kill("claimer-1")
        assert eventually(lambda: scene.ask(DONE) >= 7, within_s=15)
        assert runtime.stop() == 0
    assert scene.ask(GAPS) == 0
    assert scene.ask(TWICE) == 0
    assert scene.ask("select count(*) from pulse.audit()") == 0


# As another zone database would have had it: an hour off.
OF_ANOTHER_ZONE = """select pulse.add_schedule('old', 'cron', '0 9 1 1 *', 'k', tz => 'Europe/Berlin',
  zone_version => 'old', first_at => date_trunc('year', now(), 'UTC') + interval '1 year 9 hours')::text"""
RECKONED_AGAIN = """select zone_version <> 'old' and extract(hour from next_run_at at time zone 'UTC') = 8
  from pulse.schedule where name = 'old'"""


def test_declared_schedules_are_applied_at_the_start_or_refuse_it(dsn: str) -> None:
    ask(dsn, OF_ANOTHER_ZONE)
    tell(dsn, "update pulse.schedule set look_at = next_run_at")
    flags = Flags(handlers="apps.scheduled_jobs")
    with Runtime(dsn, flags=flags, args=["--schedules=strict"]) as strict:
        assert strict.wait(within_s=15) == 4
        assert "+ each_second: every 1s" in strict.log.tail()
    with Runtime(dsn, flags=flags) as sync:
        sync.wait_for("schedule declared", within_s=BOOT_S, change="+ each_second: every 1s")
        assert eventually(lambda: ask(dsn, DONE) >= 1, within_s=BOOT_S)
        assert eventually(lambda: ask(dsn, RECKONED_AGAIN) is True, within_s=5), "when a runtime starts"
        assert sync.stop() == 0
