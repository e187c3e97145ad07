"""JSON with long arrays reads as Python's own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytsp.utils import json_text
from pytsp.utils.json_text import json_object


@given(st.data(), st.sampled_from([0, 1, 9, 10, 99, 10**9 - 1, 10**9, 2**31, 2**32, 10**18, 2**63 - 1]))
def test_numbers_read_back(data: st.DataObject, most: int) -> None:
    numbers = data.draw(st.lists(st.integers(0, most), min_size=1, max_size=40))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "_MANY", 0)
        patch.setattr(json_text, "_BLOCK", 7)
        assert json.loads(json_object({"numbers": np.array(numbers, dtype=np.int64)})) == {"numbers": numbers}


@pytest.mark.parametrize("count", [0, 1, json_text._MANY - 1, json_text._MANY, json_text._MANY + json_text._BLOCK + 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
@pytest.mark.parametrize("sign", [1, -1])
def test_arrays_of_any_kind_read_back(count: int, dtype: type, sign: int) -> None:
    numbers = (sign * np.arange(count, dtype=np.int64) * 21_401 % 1_000_003).astype(dtype)
    reported = {"a": "ü\n", "numbers": numbers, "none": None, "nested": {"x": [1, 2.5]}}
    assert json.loads(json_object(reported)) == {**reported, "numbers": numbers.tolist()}


def test_what_json_does_not_know_is_refused() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        json_object({"numbers": {1, 2}})
