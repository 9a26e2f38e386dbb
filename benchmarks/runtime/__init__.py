"""What the runtime's rows share."""
