"""Rows of `make bench ARGS=schedules`, in the order of the table they prove."""

from benchmarks.scenarios import schedules_next

ROWS = (schedules_next.next_occurrence,)
