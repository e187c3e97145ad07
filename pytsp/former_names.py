"""The names that modules had up to version 0.1, when all lay in one folder: `pytsp.tsplib`, `pytsp.tours`, …"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MODULES = {
    "annealing": "pytsp.solvers.annealing",
    "ants": "pytsp.solvers.ants",
    "asymmetric": "pytsp.problem.asymmetric",
    "compare": "pytsp.api.compare",
    "distances": "pytsp.problem.metrics",
    "eax": "pytsp.solvers.eax",
    "forms": "pytsp.problem.kernel_input",
    "history": "pytsp.run.monitor",
    "ils": "pytsp.solvers.ils.solver",
    "inputs": "pytsp.io.convert",
    "instance": "pytsp.problem.instance",
    "large": "pytsp.solvers.large.solver",
    "many": "pytsp.api.many",
    "optima": "pytsp.problem.optima",
    "outputs": "pytsp.io.results",
    "paths": "pytsp.problem.open_paths",
    "plots": "pytsp.plotting.figures",
    "result": "pytsp.run.result",
    "search": "pytsp.solvers.restarts.solver",
    "tours": "pytsp.problem.tours",
    "tsplib": "pytsp.io.tsplib",
    "two_opt": "pytsp.solvers.two_opt",
}


class FormerNames(MetaPathFinder, Loader):
    """Have `import pytsp.tsplib` give the module that is `pytsp.io.tsplib` now."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        package, _, module = name.partition(".")
        return ModuleSpec(name, self) if package == "pytsp" and module in MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(MODULES[spec.name.partition(".")[2]])
        # The import system is about to replace it.
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec
