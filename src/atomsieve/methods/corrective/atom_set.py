"""A working set of atoms, for gauges whose blocks are not l2 balls."""

from collections.abc import Sequence

import numpy as np

from atomsieve.design import ALL, ArrayDesign, DenseDesign, Design, StackDesign
from atomsieve.gauges import Atom, NonNegative
from atomsieve.gauges.found import Combination
from atomsieve.methods.corrective.part import Part
from atomsieve.numerics.namespace import array_namespace
from atomsieve.problem import Point, State
from atomsieve.problem.lifted import Lifted, Spreads
from atomsieve.typing import Array, Samples

TOGETHER = 10
"""Atoms that join a working set of atoms in one pass, at least."""


class AtomSet:
    """Atoms found by the oracle, some more at each pass, for gauges whose blocks are not l2 balls."""

    patience = 200.0
    complete = False

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.weights = np.empty(0)
        self.ids = np.empty(0, dtype=np.intp)
        self.idle = np.empty(0, dtype=np.intp)
        self.born = 0
        self.images: list[Samples] = []
        self.x: Array | None = None
        self.norms: Array | None = None
        self._rng = np.random.default_rng(0)

    def enter(self, point: Point) -> tuple[Part, Point]:
        problem, state = point.problem, point.state
        if self.x is None or not np.array_equal(self.x, state.x):
            self._restart(point)
        else:
            self._drop_idle()
        self._add(point, [(atom, 0.0) for atom in self._joining(point)])
        images = array_namespace(self.images[0]).stack(self.images, axis=-1)
        design = designed(images)
        self.problem = problem
        shape = (len(self.atoms),)
        lengths = np.array([problem.seminorm.plain_norm(image) for image in self.images])
        spreads = Spreads(lengths, lengths, float(lengths.max()))
        small = problem.over(Lifted(problem.smooth, design, NonNegative(), shape, shape, self.ids, spreads))
        every = np.arange(len(self.atoms))
        return Part(small.lifted, every, every), small.at(small.state(self.weights, state.coordinates))

    def leave(self, state: State) -> State:
        self.weights = state.x
        parts = Combination(tuple(self.atoms), state.x)
        if self.problem.core.listed:
            lifted = self.problem.combined(parts.plus(()), state.image, state.coordinates, state.drift)
        else:
            x = parts.sum(self.problem.shape)
            lifted = self.problem.inside(x, state.image, state.coordinates, state.drift)
        self.x = lifted.x
        return lifted

    def _restart(self, point: Point) -> None:
        """Begin with the atoms that x is made of, or with its blocks, each as one atom."""
        core, state = point.problem.core, point.state
        self.atoms = []
        self.images = []
        self.weights = np.empty(0)
        self.ids, self.idle = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
        if core.listed:
            self._add(point, (state.parts or Combination()).pairs)
        else:
            self._add(point, [core.part(state.x, int(block)) for block in np.flatnonzero(core.sizes(state.x))])

    def _drop_idle(self) -> None:
        """Let atoms go that had no weight twice in a row."""
        self.idle = np.where(self.weights > 0, 0, self.idle + 1)
        kept = np.flatnonzero(self.idle < 2)
        self.atoms, self.images = [self.atoms[j] for j in kept], [self.images[j] for j in kept]
        self.weights, self.ids, self.idle = self.weights[kept], self.ids[kept], self.idle[kept]

    def _joining(self, point: Point) -> list[Atom]:
        """Return the best atom, and others that may be as good at the optimum: best where z is moved within bounds."""
        core, z = point.problem.core, point.pulls
        count = max(TOGETHER, int(np.count_nonzero(self.weights)) // 2) - 1
        others = core.more(z, count)
        if others is None:
            if self.norms is None:
                self.norms = point.problem.seminorm.column_norms()
            norms = self.norms.reshape(-1, *[1] * (z.ndim - 1))
            noise = np.minimum(point.radius * norms, np.abs(z).max(initial=0.0))
            moved = (z + noise * self._rng.uniform(-1.0, 1.0, size=z.shape) for _ in range(count))
            others = [core.atom(there, point.best) for there in moved]
        known = {atom.key for atom in self.atoms}
        found = {atom.key: atom for atom in [point.atom, *others]}
        return [atom for key, atom in found.items() if key not in known]

    def _add(self, point: Point, pairs: Sequence[tuple[Atom, float]]) -> None:
        count = len(pairs)
        self.ids = np.append(self.ids, np.arange(self.born, self.born + count))
        self.idle = np.append(self.idle, np.zeros(count, dtype=np.intp))
        self.born += count
        self.images += images_of([atom for atom, _ in pairs], point.problem.design)
        self.atoms += [atom for atom, _ in pairs]
        self.weights = np.append(self.weights, [weight for _, weight in pairs])


def designed(images: Samples) -> Design:
    """Return the images of atoms as columns, where they are."""
    if type(images) is not np.ndarray:
        return ArrayDesign(images)
    return DenseDesign(images) if images.ndim == 2 else StackDesign(images)


def images_of(atoms: Sequence[Atom], design: Design) -> list[Samples]:
    """Return the image of each atom; those with entries in all columns share one pass over the data."""
    whole = [j for j, atom in enumerate(atoms) if isinstance(atom.columns, slice) and atom.values.ndim == 1]
    whole = [j for j in whole if atoms[j].columns == ALL]
    images: list[Samples] = [None] * len(atoms)
    if whole:
        together = design.matvec(np.stack([atoms[j].values for j in whole], axis=1))
        for place, j in enumerate(whole):
            images[j] = together[:, place]
    return [atom.image(design) if image is None else image for atom, image in zip(atoms, images, strict=True)]
