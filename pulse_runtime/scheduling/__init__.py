"""Schedules behind their face (`pulse_runtime.schedules`): what they may be told, what becomes of them."""
