"""Are these penalties more stable in their hyper-parameter? Bootstrap resamples of real data, and what is carried over.

All penalty shapes share one path, so on one resample they offer the same models in the same order. What can differ is
where cross-validation stops on the way, and which model the same hyper-parameter means on other data.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils.parallel import Parallel, delayed

from atomsieve.paper.cache import Cache
from atomsieve.paper.carrying import CANDIDATES, RATIO, TOL, Resample, Track, carry, choose, follow
from atomsieve.paper.comparisons import compare
from atomsieve.paper.experiment import Finding, Progress, Section, Settings, Tables
from atomsieve.paper.pictures import picture
from atomsieve.paper.stability_report import paint, text, verdicts
from atomsieve.paper.tasks import available, load


@dataclass(frozen=True)
class Stability:
    """The experiment."""

    name: str = "stability"
    title: str = "Stability: sensitivity to the hyper-parameter"

    def settings(self, quick: bool) -> Settings:
        """Return 50 resamples of all data sets at hand, or four of four small ones."""
        fixed = {"ratio": RATIO, "candidates": CANDIDATES, "tol": TOL}
        if quick:
            small = ["diabetes", "breast cancer", "wine", "digits 1/8"]
            return {"sets": small, "resamples": 4, "folds": 3, "knots": 16} | fixed
        return {"sets": available(), "resamples": 50, "folds": 5, "knots": 60} | fixed

    def run(self, settings: Settings, cache: Cache, progress: Progress) -> Tables:
        """Choose on every resample of every set, then use every choice on every resample."""
        choices, carried = [], []
        workers = Workers(settings, cache, progress)
        for name in settings["sets"]:
            chosen = workers.all(name, "choice", _choice)
            choices.append(chosen.assign(set=name))
            carried.append(workers.all(name, "carried", partial(_carried, choices=chosen)).assign(set=name))
        chosen, brought = (pd.concat(frames, ignore_index=True) for frames in (choices, carried))
        work = [
            frame.groupby(["set", key])["solves"].first() for frame, key in ((chosen, "resample"), (brought, "target"))
        ]
        return {
            "choices": chosen,
            "carried": brought,
            "compared": compare(chosen, brought),
            "work": pd.concat([steps.groupby("set", sort=False).sum() for steps in work]).reset_index(),
        }

    def draw(self, tables: Tables, folder: Path) -> list[str]:
        """Draw what the choices do, one row of panels for each data set."""
        height = 1.0 + 2.1 * tables["choices"]["set"].nunique()
        return picture(folder, self.name, (8.2, height), lambda canvas: paint(canvas, tables))

    def section(self, tables: Tables) -> Section:
        """Say whether the claim holds, and why."""
        return Section(self.title, text(tables, f"{self.name}.png"))

    def verdicts(self, tables: Tables) -> list[Finding]:
        """Judge the claims of the abstract and of the conclusion."""
        return verdicts(tables)


Step = Callable[[str, int, Settings, Cache], pd.DataFrame]


@dataclass
class Workers:
    """Steps for all resamples of a data set, in several processes where there are many."""

    settings: Settings
    cache: Cache
    progress: Progress
    done: int = 0

    def all(self, name: str, kind: str, step: Step) -> pd.DataFrame:
        """Return the tables of a step for all resamples, one under the other."""
        count, total = self.settings["resamples"], 2 * self.settings["resamples"] * len(self.settings["sets"])
        many = count >= 20
        calls = (delayed(step)(name, seed, self.settings, self.cache) for seed in range(count))
        tables: list[pd.DataFrame] = []
        for table in Parallel(n_jobs=-1 if many else 1, return_as="generator")(calls):
            tables.append(table)
            self.done += 1
            self.progress(self.done, total, f"{name}: {kind} {len(tables)} of {count}")
        return pd.concat(tables, ignore_index=True)


def _choice(name: str, seed: int, settings: Settings, cache: Cache) -> pd.DataFrame:
    given = _given(name, settings, "folds", "knots", "ratio", "candidates", "tol") | {"seed": seed}
    return cache.step(f"stability {name} choice {seed}", given, partial(_chosen, name, seed, settings, cache))


def _chosen(name: str, seed: int, settings: Settings, cache: Cache) -> pd.DataFrame:
    return choose(_resample(name, seed, settings), _reference(name, settings, cache))


def _carried(name: str, seed: int, settings: Settings, cache: Cache, *, choices: pd.DataFrame) -> pd.DataFrame:
    given = _given(name, settings, "resamples", "folds", "knots", "ratio", "candidates", "tol") | {"seed": seed}
    return cache.step(f"stability {name} carried {seed}", given, partial(_brought, name, seed, settings, choices))


def _brought(name: str, seed: int, settings: Settings, choices: pd.DataFrame) -> pd.DataFrame:
    return carry(_resample(name, seed, settings), choices)


def _reference(name: str, settings: Settings, cache: Cache) -> Track:
    """Return the track of the full sample."""
    given = _given(name, settings, "knots", "ratio", "tol")
    table = cache.step(f"stability {name} reference", given, partial(_full, name, settings))
    return Track(table["slope"].to_numpy(), table["size"].to_numpy())


def _full(name: str, settings: Settings) -> pd.DataFrame:
    task = load(name)
    found = follow(task.problem(np.ones(len(task.y))), settings["knots"])
    return pd.DataFrame({"slope": found.slopes, "size": found.sizes})


def _given(name: str, settings: Settings, *keys: str) -> Settings:
    """Return what a step depends on."""
    return {"set": name} | {key: settings[key] for key in keys}


def _resample(name: str, seed: int, settings: Settings) -> Resample:
    return Resample.draw(load(name), seed, folds=settings["folds"], knots=settings["knots"])


experiment = Stability()
