"""Processes and wires. Knows nothing of jobs."""
