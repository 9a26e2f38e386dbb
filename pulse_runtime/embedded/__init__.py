"""A real Postgres that nobody has to set up: kept in the user's data folder, shared by whoever needs it, and gone when
the last of them is gone, however they went.

How it hangs together: `server` takes a share of the folder and starts `guardian` (a process of its own), which starts
`launch`, which sheds root and becomes the postmaster. `locks` says who is alive; no decision is made from a pid.
"""

from pulse_runtime.embedded.binaries import Binaries, find_binaries
from pulse_runtime.embedded.errors import PostgresDidNotStart, PostgresNotFound
from pulse_runtime.embedded.home import default_home
from pulse_runtime.embedded.server import Server

__all__ = ["Binaries", "PostgresDidNotStart", "PostgresNotFound", "Server", "default_home", "find_binaries"]
