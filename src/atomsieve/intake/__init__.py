"""Input and output: arguments are checked; a file is written completely or not at all."""
