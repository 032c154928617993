"""Properties that are computed once, without a lock."""

import functools
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 -- the name of the standard library
        """A property that is computed when it is first needed, and then stored with the object.

        That of Python 3.11 holds a lock while it computes, one for all objects of a class: threads that solve different
        problems would wait for each other. Later versions have none.

        >>> class Square:
        ...     @cached_property
        ...     def area(self):
        ...         print("computed")
        ...         return 4.0
        >>> square = Square()
        >>> square.area, square.area
        computed
        (4.0, 4.0)
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
