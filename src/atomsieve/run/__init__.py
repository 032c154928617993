"""Runs: the only loop, when it ends, what it shows, what it returns; and paths of runs."""
