"""The systems that can be compared, by name.

In: a name and settings. Out: a `System`.
Not known here: what it is asked, how it is scored.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from app.settings import Settings
from app.whole import open_assistant
from evals.errors import NoSuchSystem
from evals.recipe import open_recipe
from evals.system import System


def _product(settings: Settings, share: float | None) -> System:
    return open_assistant(settings, share=share)


# What each changes against the product, whose fusion weighs its legs by the question.
SYSTEMS: Mapping[str, Callable[[Settings], System]] = {
    "paperchat": partial(_product, share=None),
    "bm25": partial(_product, share=0.0),
    "dense": partial(_product, share=1.0),
    "hybrid": partial(_product, share=0.5),
    "recipe": open_recipe,
}


def open_system(name: str, settings: Settings) -> System:
    """The system of that name over the settings' index.

    Raises NoSuchSystem, PackageMissing, or what opening an index does.
    """
    demand_known([name])
    return SYSTEMS[name](settings)


def demand_known(names: Iterable[str]) -> None:
    """Raises NoSuchSystem for the first that is none."""
    for name in names:
        if name not in SYSTEMS:
            raise NoSuchSystem(name, list(SYSTEMS))
