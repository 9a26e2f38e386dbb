"""What the rows of `make bench ARGS=store` share: databases, both stores' statements, processes and meters."""
