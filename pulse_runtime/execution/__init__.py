"""Inside an executor: from a delivery to an outcome, and what outlives the process."""
