"""What only a checkout has: tests of it are skipped where pytsp was installed from elsewhere."""

from __future__ import annotations

import pytest
from paths import ROOT


def needs_checkout(*folders: str) -> None:
    """Skip a test, or a whole module, where one of these folders is not there."""
    for folder in folders:
        if not (ROOT / folder).is_dir():
            pytest.skip(f"{folder}/ is not there: no checkout", allow_module_level=True)
