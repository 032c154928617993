"""Walks in stages that the cache keeps: an interrupted run goes on with the stage that it was in."""

import time
from functools import partial

import numpy as np
import pandas as pd

from atomsieve.paper.cache import Cache
from atomsieve.paper.experiment import Progress, Settings
from atomsieve.paper.grids import Digits, penalty_of, points_of
from atomsieve.paper.walks import Standing, Walks


def stages_of(settings: Settings) -> list[int]:
    """Return the iterations at which stages end: every look, and so often between them."""
    looks, often = settings["looks"], settings["stage"]
    return sorted({*looks, *range(often, looks[-1], often)})


def walk(settings: Settings, digits: Digits, cache: Cache, progress: Progress) -> list[pd.DataFrame]:
    """Return where all walks stand at every look: x, what is open and the gap, one line for each coefficient.

    `seconds` is the time since the walks began, without breaks.
    """
    points, stages = points_of(settings["grids"]), stages_of(settings)
    walks = Walks(digits.X, digits.y, [penalty_of(*point) for point in points])
    standing = None
    seconds = 0.0
    seen = []
    for done, t in enumerate(stages):
        progress(done, len(stages), f"{len(points)} penalties, iteration {t} of {stages[-1]}")
        facts = {"data": settings["data"], "points": points, "stages": stages[: done + 1]}
        frame = cache.step(f"fig4 t={t}", facts, partial(stage, walks, standing, t))
        standing, seconds = from_frame(frame, len(points)), seconds + frame.seconds[0]
        if t in settings["looks"]:
            seen.append(frame.assign(seconds=seconds))
    progress(len(stages), len(stages), "all iterations")
    return seen


def stage(walks: Walks, standing: Standing | None, t: int) -> pd.DataFrame:
    """Walk from one stage to the next, from x = 0 at first."""
    begun = time.perf_counter()
    reached = walks.advance(walks.begin() if standing is None else standing, t)
    return as_frame(reached, time.perf_counter() - begun)


def as_frame(standing: Standing, seconds: float) -> pd.DataFrame:
    """Return a standing as a table, one line for each coefficient of each walk."""
    walks, features = standing.x.shape
    return pd.DataFrame(
        {
            "t": standing.t,
            "walk": np.repeat(np.arange(walks), features),
            "x": standing.x.ravel(),
            "alive": standing.alive.ravel().astype(int),
            "gap": np.repeat(standing.gap, features),
            "least": np.repeat(standing.least, features),
            "seconds": seconds,
        }
    )


def from_frame(frame: pd.DataFrame, walks: int) -> Standing:
    """Return the standing that a table holds."""
    x, alive, gap, least = (frame[name].to_numpy().reshape(walks, -1) for name in ("x", "alive", "gap", "least"))
    return Standing(int(frame["t"].iloc[0]), x.astype(float), alive == 1, gap[:, 0], least[:, 0])
