"""A problem consists of data and pieces; a point is a state and what one pass over the data shows there."""

from atomsieve.problem.point import Point
from atomsieve.problem.problem import Problem
from atomsieve.problem.state import State

__all__ = ["Point", "Problem", "State"]
