"""What comes in and what goes out: arguments that are checked, files that are written at once or not at all."""
