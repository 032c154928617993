"""Hostile and random calls of one build of the core, for a sanitizer or valgrind to watch.

    python core_fuzz.py path/to/_plain.so first-seed number-of-seeds

A call must return or raise one of a few exceptions. Everything else ends the process.
"""

import sys
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))

from twins import KINDS, SPLITS, load, make

REFUSED = (TypeError, ValueError, BufferError, OverflowError)
ODD = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-320, 1e308, -1e308, 5e-324]
WHERE = {  # arrays among the arguments of `restricted`, and whether they are whole numbers
    (1, 0): False, (1, 1): True, (1, 2): True, (1, 3): True, (1, 4): True, (2,): True, (3, 0): True, (3, 1): False,
    (3, 2): False, (3, 3): False, (3, 4): False, (3, 5): False, (3, 6): True, (3, 7, 0): False, (3, 7, 1): False,
    (5, 0): False, (5, 1): False, (5, 2): False, (5, 3): False, (6, 0): False, (6, 1): False, (6, 2): False,
    (6, 3): False,
}  # fmt: skip


def at(arguments, place):
    """Return what is at a place, if there is one."""
    for step in place:
        arguments = None if arguments is None else arguments[step]
    return arguments


def put(arguments, place, value):
    """Return arguments with another value at a place."""
    changed = list(arguments)
    changed[place[0]] = value if len(place) == 1 else tuple(put(changed[place[0]], place[1:], value))
    return changed


def strided(array):
    """Return the same numbers, two places apart."""
    wide = np.zeros(2 * len(array), dtype=array.dtype)
    wide[::2] = array
    return wide[::2]


def misaligned(array):
    """Return the same numbers, one byte beside where they should be."""
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)[1:]
    raw[:] = array.view(np.uint8)
    return raw.view(array.dtype)


def frozen(array):
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def with_odd_numbers(rng, array, whole):
    copy = array.copy()
    if copy.size:
        for _ in range(int(rng.integers(1, 3))):
            value = rng.choice([-1, 0, 1, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**63)]) if whole else rng.choice(ODD)
            copy[rng.integers(copy.size)] = np.int64(value).astype(copy.dtype) if whole else value
    return copy


def plain_ways(array):
    """Return ways to spoil an array that leave nothing to chance."""
    return {
        "shorter": array[:-1].copy,
        "longer": lambda: np.append(array, array[-1:] if array.size else np.zeros(1, array.dtype)),
        "empty": array[:0].copy,
        "strided": lambda: strided(array),
        "backwards": lambda: array[::-1],
        "misaligned": lambda: misaligned(array),
        "float32": lambda: array.astype(np.float32),
        "complex": lambda: array.astype(complex),
        "swapped": lambda: array.astype(array.dtype.newbyteorder()),
        "frozen": lambda: frozen(array),
        "a list": array.tolist,
        "None": lambda: None,
        "a number": lambda: np.float64(1.0),
        "scalar array": lambda: np.array(1.0),
        "matrix": lambda: array[:, None],
    }


MANGLED = [*plain_ways(np.zeros(1)), "numbers", "other integers", "random"]
"""All ways to spoil an array."""


def mangle(rng, how, array, whole):
    """Return a spoilt array; `whole` says whether it holds whole numbers."""
    if how == "numbers":
        return with_odd_numbers(rng, array, whole)
    if how == "other integers":
        return array.astype(rng.choice([np.int16, np.uint64, np.int32, np.int64]))
    if how == "random":
        return rng.integers(-2, array.size + 2, array.size).astype(array.dtype)
    return plain_ways(array)[how]()


def mangled(rng, arguments, place=None, how=None):
    """Return arguments with one array spoilt, or with an odd number."""
    if place is None and rng.random() < 0.2:
        which = rng.choice(["line", "loss", "delta", "target", "caution", "seconds", "store"])
        odd = float(rng.choice(ODD))
        return {
            "line": lambda: put(arguments, (7, int(rng.integers(2))), odd),
            "loss": lambda: put(arguments, (4, 0), int(rng.choice([-1, 5, 2**40, -(2**31)]))),
            "delta": lambda: put(arguments, (4, 1), odd),
            "target": lambda: put(arguments, (8,), odd),
            "caution": lambda: put(arguments, (9,), odd),
            "seconds": lambda: put(arguments, (10,), float(rng.choice([0.0, -1.0, -np.inf, 1e-3]))),
            "store": lambda: put(arguments, (0,), None),
        }[which]()
    place = place or list(WHERE)[rng.integers(len(WHERE))]
    array = at(arguments, place)
    if array is None:
        return arguments
    return put(arguments, place, mangle(rng, how or str(rng.choice(MANGLED)), array, WHERE[place]))


def options(rng):
    """Return the parts of a random problem, most of them small."""
    return {
        "seed": int(rng.integers(2**32)),
        "loss": int(rng.integers(5)),
        "n": int(rng.choice([1, 2, 5, 20, 300])),
        "m": int(rng.choice([1, 2, 7, 12, 70])),
        "kind": str(rng.choice(KINDS)),
        "blocks": str(rng.choice(["single", "one", "several", "mixed"])),
        "line": str(rng.choice(["linear", "square", "both"])),
        "share": float(rng.choice([2.0, 0.1, 1e-3])),
        "free": int(rng.integers(3)),
        "weights": str(rng.choice(["equal", "random", "zeros", "decades"])),
        "offset": bool(rng.integers(2)),
        "signs": str(rng.choice(["both", "positive", "mixed"])),
        "sparse": bool(rng.integers(2)),
        "decades": float(rng.choice([0.0, 3.0, 150.0])),
        "size": float(rng.choice([1.0, 1e-100, 1e100])),
        "start": str(rng.choice(["zero", "some", "full"])),
        "split": str(rng.choice(SPLITS)),
        "limits": bool(rng.integers(2)),
    }


def attempt(function, arguments):
    """Return whether a call was accepted."""
    try:
        function(*arguments)
    except REFUSED:
        return False
    return True


def along_arguments(rng, case, arguments):
    """Return arguments of `along`, for a few lines with ridges, from those of `restricted`."""
    (n, m), k, count = case.A.shape, case.Q.shape[1], int(rng.integers(0, 5))
    lines = np.sort(rng.random((count, 2)), axis=0)[::-1] * case.line
    ridges = rng.random((count, len(case.ends))) * rng.integers(0, 2)
    trail = np.empty((count, m)), np.empty((count, k)), np.empty((count, n))
    return [*arguments[:7], np.ascontiguousarray(lines), ridges, arguments[8], arguments[9], arguments[10], trail]


def spoilt_trail(rng, arguments):
    """Return arguments of `along` of which one that `restricted` has not is spoilt, or one that it has."""
    if rng.random() < 0.5:
        return mangled(rng, arguments, list(WHERE)[rng.integers(len(WHERE))])
    place = [(7,), (8,), (12, 0), (12, 1), (12, 2)][rng.integers(5)]
    return put(arguments, place, mangle(rng, str(rng.choice(MANGLED)), at(arguments, place).ravel(), False))


def quadratic_arguments(rng, case):
    m = case.A.shape[1]
    H = case.A.T @ (case.w[:, None] * case.A) if np.abs(case.A).max() < 1e100 else np.eye(m)
    x = rng.standard_normal(m) * rng.integers(0, 2, m)
    return [np.ascontiguousarray(H), rng.standard_normal(m), x, case.blocks(), case.line, 1.0, 1e-9, 2.0, True]


def spoilt(rng, arguments):
    """Return arguments of `quadratic` of which one is spoilt."""
    places = [(0,), (1,), (2,), *((3, part) for part in range(7)), *(((3, 7, 0), (3, 7, 1)) if arguments[3][7] else ())]
    place = places[rng.integers(len(places))]
    array = np.asarray(at(arguments, place))
    shape = array.shape
    value = mangle(rng, str(rng.choice(MANGLED)), array.ravel(), place in ((3, 0), (3, 6)))
    if isinstance(value, np.ndarray) and value.size == array.size and rng.random() < 0.5:
        value = value.reshape(shape)
    return put(arguments, place, value)


def choices(core, rng):
    count = int(rng.integers(0, 60))
    scores = np.where(
        rng.random(count) < 0.3, rng.choice([np.inf, -np.inf, 0.0, np.nan, 5e-324], count), rng.random(count)
    )
    scores = scores - rng.integers(0, 2)
    marks = np.empty(count, dtype=bool)
    most = int(rng.integers(-1, 70))
    blocks = np.sort(rng.integers(-1, 62, int(rng.integers(0, 9))))
    attempt(core.best, (scores, blocks, most, np.empty(max(min(most, count), 0), dtype=np.int64)))
    attempt(core.best, (scores, blocks[:0], most, np.empty(max(min(most, count), 0), dtype=np.int64)))
    attempt(core.best, (scores, blocks[:0], 3, np.empty(count + 1, dtype=np.int64)))
    attempt(core.outside, (scores, blocks))
    attempt(core.kept, (scores, scores[::-1].copy(), np.abs(scores), float(rng.choice(ODD)), 0.1, 0.3, marks))


def enclosures(core, rng):
    """Numbers with error bounds: lengths that fit and others, what is no array, what may not be written to."""
    parts = [np.where(rng.random(n) < 0.3, rng.choice(ODD, n), rng.standard_normal(n)) for n in rng.integers(0, 20, 5)]
    parts += [parts[0].copy(), parts[0][:1], np.ones((3, 2))[:, 0], parts[0].astype(np.float32), 1.0, None, b"12345678"]
    for _ in range(6):
        mid, rad, other, last = (parts[k] for k in rng.integers(0, len(parts), 4))
        out = np.empty(2 * rng.choice([len(parts[0]), len(parts[1]), 1]))
        attempt(core.combine, (int(rng.integers(-1, 6)), mid, rad, other, last, out if rng.random() < 0.8 else None))
        attempt(
            core.combine, (int(rng.integers(5)), parts[0], parts[5], parts[5], parts[0], np.empty(2 * len(parts[0])))
        )
        attempt(core.ends, (int(rng.integers(-1, 4)), mid, rad, out if rng.random() < 0.8 else None))
        attempt(core.hulls, (mid, rad, out))
        attempt(core.total, (mid, rad))
        attempt(core.sizes, (mid, rad, out))
        attempt(core.sizes, (parts[0], parts[5], np.empty(2 * len(parts[0]))))
        attempt(core.logistic, (int(rng.integers(-1, 5)), mid, rad, other, out))
        attempt(core.logistic, (int(rng.integers(4)), parts[0], parts[5], parts[5], np.empty(2 * len(parts[0]))))


def inverses(core, rng):
    """Matrices with odd numbers and without, of one piece and of several, and arrays that do not fit."""
    k = int(rng.integers(250, 270)) if rng.random() < 0.02 else int(rng.integers(0, 12))
    columns = rng.standard_normal((k + int(rng.integers(-1, 9)) if k else 1, k))
    gram, blurs, ridge = columns.T @ columns, rng.random(k) * 1e-20, rng.random(k) * (rng.random() < 0.5)
    if k and rng.random() < 0.3:
        part = (gram, blurs, ridge)[rng.integers(3)]
        part.ravel()[rng.integers(part.size)] = rng.choice(ODD)
    arguments = [len(columns), gram, blurs, ridge, np.empty((k, k)), np.empty((2, k)), float(rng.choice([9.0, -1.0]))]
    attempt(core.inverse, arguments)
    place = int(rng.integers(6))
    arguments[place] = (-1, gram.astype(np.float32), blurs[:-1], None, np.empty((k, k))[:-1], np.empty(k))[place]
    attempt(core.inverse, arguments)


def fuzz(core, first, count):
    """Make some calls for each seed."""
    stores = [core.store() for _ in range(3)]
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        with np.errstate(all="ignore"):
            case = make(**options(rng))
            store = stores[rng.integers(3)] if rng.random() < 0.7 else core.store()
            arguments = case.arguments(store, target=1e-10 * case.scale(), respond=bool(rng.integers(2)), seconds=0.2)
            attempt(core.restricted, arguments)
            part = case.part(np.sort(rng.permutation(len(case.ends))[: rng.integers(1, len(case.ends) + 1)]))
            again = part.arguments(store, target=1e-10 * case.scale(), respond=True, seconds=0.2)
            attempt(core.restricted, again)
            for _ in range(3):
                attempt(core.restricted, mangled(rng, arguments))
            attempt(core.along, along_arguments(rng, part, again))
            attempt(core.along, spoilt_trail(rng, along_arguments(rng, case, arguments)))
            model = quadratic_arguments(rng, case)
            attempt(core.quadratic, model)
            attempt(core.quadratic, spoilt(rng, model))
            choices(core, rng)
            enclosures(core, rng)
            inverses(core, rng)


if __name__ == "__main__":
    fuzz(load(Path(sys.argv[1]).name.split(".")[0], sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write("all calls ended\n")
