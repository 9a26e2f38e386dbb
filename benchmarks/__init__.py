"""The benchmark runner: `python -m benchmarks NAME`. These are the names a scenario module needs."""

from benchmarks.scenario import Bench, Sample, Scenario, Setup, scenario
from benchmarks.target import Alike, AtLeast, AtMost, Target

__all__ = ["Alike", "AtLeast", "AtMost", "Bench", "Sample", "Scenario", "Setup", "Target", "scenario"]
