"""Numerical tools that know nothing of the problem: namespaces, rounding, enclosures, roots, bases, clock, threads."""
