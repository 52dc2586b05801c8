"""The made streams are what their papers describe."""

import numpy as np
import pytest
from papers.skewed import by_first_sight, log_normal, zipf


@pytest.mark.parametrize(
    ("mu", "sigma", "share"), [(1.789, 2.366, 0.1471), (2.245, 1.133, 0.0701)], ids=["LN1", "LN2"]
)
def test_log_normal_has_the_first_key_of_the_papers_table(
    mu: float, sigma: float, share: float
) -> None:
    keys = log_normal(mu, sigma, 300_000, seed=1)
    assert np.bincount(keys).max() / len(keys) == pytest.approx(share, abs=0.003)
    assert np.array_equal(keys, log_normal(mu, sigma, 300_000, seed=1))


def test_zipf_shares() -> None:
    rows = np.bincount(zipf(1.0, 1_000, 200_000, seed=2), minlength=1_000)
    assert rows[0] / rows[9] == pytest.approx(10, rel=0.1)
    assert (rows > 0).sum() > 990


def test_names_by_first_sight() -> None:
    assert by_first_sight(np.array([7, 2, 7, 9, 2])).tolist() == [0, 1, 0, 2, 1]
