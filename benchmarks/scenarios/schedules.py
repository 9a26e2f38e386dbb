"""Rows of `make bench ARGS=schedules`, in the order of the table they prove."""

from benchmarks.scenarios import schedules_fire, schedules_next
from benchmarks.store.cluster import running

prepare = running

ROWS = (schedules_fire.steady, schedules_fire.idle, schedules_fire.herd, schedules_next.next_occurrence)
