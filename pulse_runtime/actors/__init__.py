"""One file, one loop, one reason to change. An actor decides in `receive` and `wake`; time is an argument."""
