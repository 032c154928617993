"""One trip to the workers of dask and back: a task for each chunk, and a tree of sums.

An expression of dask costs a millisecond for each operation before anything is computed, and each collection that is
built costs as much. So graphs are written here task by task: chunks as they lie on the workers, formulas over them, and
what comes back is small. `Traffic` says how small.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol
from uuid import uuid4

import numpy as np

from atomsieve.numerics.enclosures import Enclosure

FAN_IN = 8
"""Partial results that one task joins."""

INLINE = 1 << 14
"""Bytes of what a formula brings along up to which each task has a copy of its own; more is sent once."""

AT_ONCE = 1 << 12
"""Samples of a chunk that a formula gets at one time. What it makes on the way then stays in the cache, and is smaller
than what a worker of dask gives back to the system at once, to ask for it again: 11 ms became 2 for 125,000 samples
(6 and 2 in a process with other settings). A fit with 8192 or 2048 at a time had twice as many page faults."""

PART = "atomsieve-part-"
"""How names of arrays begin whose chunks are made anew by whoever reads them."""


@dataclass
class Traffic:
    """What passed between the client and the scheduler in results and formulas, in bytes."""

    trips: int = 0
    received: int = 0
    sent: int = 0
    most_received: int = 0
    """In one trip."""
    most_sent: int = 0

    def back(self, size: int) -> None:
        """Count what came to the client."""
        self.received += size
        self.most_received = max(self.most_received, size)

    def out(self, size: int) -> None:
        """Count what a trip brings to the workers."""
        self.trips += 1
        self.sent += size
        self.most_sent = max(self.most_sent, size)


_watching: list[Traffic] = []


@contextmanager
def watched() -> Iterator[Traffic]:
    """Count the trips that are made meanwhile, and their bytes."""
    traffic = Traffic()
    _watching.append(traffic)
    try:
        yield traffic
    finally:
        _watching.remove(traffic)


def sent(size: int) -> None:
    """Count a message to the workers."""
    for traffic in _watching:
        traffic.out(size)


def back(value: Any) -> Any:
    """Count what came from the workers, and return it with arrays that the core can read."""
    if _watching:
        size = bytes_of(value)
        for traffic in _watching:
            traffic.back(size)
    return received(value)


def bytes_of(value: Any) -> int:
    """Return about how many bytes a message with a value has."""
    if isinstance(value, (np.ndarray, np.generic)):
        return int(value.nbytes)
    if isinstance(value, (tuple, list)):
        return sum(map(bytes_of, value))
    if isinstance(value, Enclosure):
        return bytes_of((value.mid, value.rad))
    if isinstance(value, partial):
        return bytes_of((*value.args, *value.keywords.values()))
    return len(pickle.dumps(value))


def received(value: Any) -> Any:
    """Return what came from another process with arrays that the core can read: messages may begin at any byte."""
    if isinstance(value, Later):
        return value.whole()
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=("ALIGNED",))
    if isinstance(value, Enclosure):
        return Enclosure(received(value.mid), received(value.rad))
    if isinstance(value, partial):
        return partial(value.func, *map(received, value.args), **{k: received(v) for k, v in value.keywords.items()})
    if isinstance(value, tuple):
        parts = map(received, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


def rows_of(value: Any) -> Any:
    """Return the same for what is read by rows, some at a time."""
    return value if isinstance(value, Later) else received(value)


@dataclass(eq=False)
class Trip:
    """The tasks of one trip; each is written as a node of a graph of dask."""

    graph: dict[Any, Any] = field(default_factory=dict)
    size: int = 0

    def chunks(self, array: Any) -> list[Any]:
        """Return nodes for the chunks of an array of dask, each with all its columns."""
        from dask._task_spec import TaskRef  # noqa: PLC0415 -- who has an array of dask has dask

        whole = array.rechunk({1: -1}) if array.ndim > 1 and len(array.chunks[1]) > 1 else array
        layers, keys = whole.dask.layers, [key if whole.ndim == 1 else key[0] for key in whole.__dask_keys__()]
        if whole.name.startswith(PART):
            own = layers[whole.name]
            nodes = [own[key] for key in keys]
            self.graph.update((key, node) for key, node in own.items() if key[0] != whole.name)
            return [_unnamed(node) for node in nodes]
        own = whole.dask if len(layers) == 1 else whole.__dask_optimize__(whole.dask, whole.__dask_keys__())
        self.graph.update(own)
        return [TaskRef(key) for key in keys]

    def each(self, task: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """Return nodes for what a task makes of each chunk."""
        from dask._task_spec import Task, TaskRef  # noqa: PLC0415

        name = f"{_name(task)}-{uuid4().hex}"
        rows = list(zip(*columns, strict=True))
        size = bytes_of(task) if isinstance(task, partial) else 0
        apart = size > INLINE
        self.size += size if apart else size * len(rows)
        first = (_call, self.shared(task)) if apart else (task,)
        for k, row in enumerate(rows):
            self.graph[name, k] = Task((name, k), *first, *row)
        return [TaskRef((name, k)) for k in range(len(rows))]

    def task(self, run: Callable[..., Any], *given: Any) -> Any:
        """Return a node for what a function makes of other nodes, and of values that are small."""
        from dask._task_spec import Task, TaskRef  # noqa: PLC0415

        key = f"{_name(run)}-{uuid4().hex}"
        self.graph[key] = Task(key, run, *given)
        return TaskRef(key)

    def shared(self, value: Any) -> Any:
        """Return a node for something that several tasks read; it is sent once."""
        from dask._task_spec import DataNode, TaskRef  # noqa: PLC0415

        key = f"atomsieve-shared-{uuid4().hex}"
        self.graph[key] = DataNode(key, value)
        return TaskRef(key)

    def joined(self, nodes: list[Any], join: Callable[[list[Any]], Any]) -> Any:
        """Return a node that joins what many nodes make, in a tree."""
        from dask._task_spec import List, Task, TaskRef  # noqa: PLC0415

        name, level = f"{_name(join)}-{uuid4().hex}", 0
        while len(nodes) > 1 or level == 0:
            groups = [nodes[start : start + FAN_IN] for start in range(0, len(nodes), FAN_IN)]
            for k, group in enumerate(groups):
                self.graph[name, level, k] = Task((name, level, k), join, List(*group))
            nodes = [TaskRef((name, level, k)) for k in range(len(groups))]
            level += 1
        return nodes[0]

    def fetch(self, nodes: list[Any], kept: Sequence[Any] = ()) -> tuple[list[Any], list[Any]]:
        """Return what some nodes make, on the client, and nodes for others that stay on the workers."""
        import dask  # noqa: PLC0415
        from dask.delayed import Delayed  # noqa: PLC0415

        sent(self.size)
        wanted = [Delayed(node.key, self.graph) for node in nodes]
        if not kept:
            return [back(value) for value in dask.compute(*wanted, optimize_graph=False)], []
        held = dask.persist(*(Delayed(node.key, self.graph) for node in kept), *wanted, optimize_graph=False)
        there = [dict(part.dask)[part.key] for part in held]
        found = [value.result() if hasattr(value, "result") else value for value in there[len(kept) :]]
        return [back(value) for value in found], there[: len(kept)]


class Errand(Protocol):
    """Something that is likely to be asked for soon, and that a trip made for something else may bring along."""

    found: Any
    """What came back; None before that."""

    def start(self, trip: Trip) -> Any:
        """Add the tasks to a trip, and return the node of what they make."""


def in_parts(kept: Sequence[Any], part: Callable[[Any], Any], heights: Sequence[int], width: tuple[int, ...]) -> Any:
    """Return an array of dask whose chunks are parts of what is kept on the workers."""
    from dask._task_spec import DataNode, Task, TaskRef  # noqa: PLC0415

    made, tail = f"atomsieve-made-{uuid4().hex}", (0,) * len(width)
    graph: dict[Any, Any] = {}
    for k, value in enumerate(kept):
        there = hasattr(value, "result")  # a future has a key of its own
        key = value.key if there else (made, k)
        graph[key] = value if there else DataNode(key, value)
    keys, name = list(graph), PART + uuid4().hex
    graph.update({(name, k, *tail): Task((name, k, *tail), part, TaskRef(key)) for k, key in enumerate(keys)})
    return array_of(name, graph, heights, width)


class Later:
    """Rows that a formula makes of arrays as they are read: nothing as long as a chunk is in memory for them."""

    def __init__(self, formula: Callable[..., Any], *parts: Any) -> None:
        self.formula, self.parts = received(formula), tuple(map(rows_of, parts))

    def __len__(self) -> int:
        return len(self.parts[0])

    def __getitem__(self, rows: slice) -> Any:
        with np.errstate(all="ignore"):
            return np.asarray(self.formula(*(part[rows] for part in self.parts)))

    def whole(self) -> Any:
        """Return all rows."""
        blocks = [self[start : start + AT_ONCE] for start in range(0, max(len(self), 1), AT_ONCE)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


def made_anew(formula: Callable[..., Any], arrays: Sequence[Any], width: tuple[int, ...] = ()) -> Any:
    """Return an array of dask that whoever reads it makes anew from others: nothing of it is stored."""
    from dask._task_spec import Task  # noqa: PLC0415

    trip, tail = Trip(), (0,) * len(width)
    rows = zip(*map(trip.chunks, arrays), strict=True)
    name = PART + uuid4().hex
    trip.graph.update({(name, k, *tail): Task((name, k, *tail), _whole, formula, *row) for k, row in enumerate(rows)})
    return array_of(name, trip.graph, arrays[0].chunks[0], width)


def _whole(formula: Callable[..., Any], *parts: Any) -> Any:
    return Later(formula, *parts).whole()


def array_of(name: str, graph: dict[Any, Any], heights: Sequence[int], width: tuple[int, ...]) -> Any:
    """Return an array of doubles for a graph with its chunks."""
    import dask.array as da  # noqa: PLC0415

    chunks = (tuple(heights), *((k,) for k in width))
    return da.Array(graph, name, chunks, meta=np.empty((0,) * len(chunks)))


def _unnamed(task: Any) -> Any:
    """Return a task that is a part of another one, which reads rows as it needs them."""
    from dask._task_spec import Task  # noqa: PLC0415

    return Task(None, Later if task.func is _whole else task.func, *task.args)


def _call(task: Callable[..., Any], *parts: Any) -> Any:
    return task(*parts)


def _name(task: Any) -> str:
    """Return what the dashboard calls a task: the innermost formula."""
    while isinstance(task, partial):
        inner = [part for part in (*task.args, *task.keywords.values()) if callable(part)]
        task = inner[0] if inner else task.func
    return str(getattr(task, "__name__", type(task).__name__)).strip("_")
