"""Numerical tools without knowledge of the problem: namespaces, rounding, enclosures, roots, bases, clock, threads."""
