"""Load for Pulse, and what it did under it."""
