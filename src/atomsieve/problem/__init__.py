"""Data and pieces make a problem; a state and one pass over the data make a point."""

from atomsieve.problem.point import Point
from atomsieve.problem.problem import Problem
from atomsieve.problem.state import State

__all__ = ["Point", "Problem", "State"]
