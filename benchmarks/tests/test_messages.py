"""The groupings of messages against implementations that do nothing clever."""

import numpy as np
import pytest
from baselines import messages
from baselines.choices import choice

KEYS = np.random.default_rng(3).zipf(1.3, 5_000) % 400


@pytest.fixture(params=["as it is", "Python alone"], autouse=True)
def loops(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With numba where it is installed, and without."""
    monkeypatch.setattr(messages, "_CHUNK", 900)
    if request.param == "Python alone":
        monkeypatch.setattr(messages, "_COMPILED", {})


class Source:
    """PKG §III, one message at a time."""

    def __init__(self, workers: int) -> None:
        self.sent = dict.fromkeys(range(workers), 0)

    def send(self, candidates: tuple[int, int]) -> int:
        one, other = candidates
        to = other if self.sent[other] < self.sent[one] else one
        self.sent[to] += 1
        return to


@pytest.mark.parametrize("workers", [2, 5, 50])
@pytest.mark.parametrize(("sources", "probe"), [(1, 0), (3, 0), (5, 0), (5, 700), (4, 1)])
def test_pkg_is_the_straightforward_one(workers: int, sources: int, probe: int) -> None:
    h1, h2 = (choice(np.arange(KEYS.max() + 1), seed, workers).tolist() for seed in (0, 1))
    senders = [Source(workers) for _ in range(sources)]
    loads = [0] * workers
    expected = []
    for i, key in enumerate(KEYS.tolist()):
        if probe and i and i % probe == 0:
            for sender in senders:
                sender.sent = dict(enumerate(loads))
        to = senders[i % sources].send((h1[key], h2[key]))
        loads[to] += 1
        expected.append(to)
    got = messages.partial_key_grouping(KEYS, workers, sources, probe)
    assert got.tolist() == expected


def test_pkg_uses_two_workers_for_each_key() -> None:
    got = messages.partial_key_grouping(KEYS, 20)
    used = {key: set(got[key == KEYS].tolist()) for key in np.unique(KEYS).tolist()}
    assert max(map(len, used.values())) == 2


@pytest.mark.parametrize("name", ["static_potc", "on_greedy"])
def test_keys_get_the_least_loaded_candidate_when_they_first_come(name: str) -> None:
    workers = 7
    h = [choice(np.arange(KEYS.max() + 1), seed, workers).tolist() for seed in (0, 1)]
    loads, at, expected = [0] * workers, {}, []
    for key in KEYS.tolist():
        if key not in at:
            allowed = [h[0][key], h[1][key]] if name == "static_potc" else list(range(workers))
            least = min(loads[w] for w in allowed)
            at[key] = next(w for w in allowed if loads[w] == least)
        loads[at[key]] += 1
        expected.append(at[key])
    assert getattr(messages, name)(KEYS, workers).tolist() == expected


def test_off_greedy_is_the_longest_first() -> None:
    keys = np.repeat([0, 1, 2, 3], [5, 9, 4, 8])
    at = {k: int(messages.off_greedy(keys, 2)[keys == k][0]) for k in range(4)}
    assert at[1] == at[2] != at[3] == at[0]


def test_imbalance_is_the_most_loaded_above_the_mean() -> None:
    chosen = np.array([0, 0, 1, 0, 1, 1, 1, 1], np.int32)
    assert messages.imbalance_at(chosen, 2, 4).tolist() == [1.0, 1.0, 0.0, 1.0]


def test_hash_functions_are_independent() -> None:
    keys = np.arange(40_000)
    both = choice(keys, 0, 10) * 10 + choice(keys, 1, 10)
    assert np.bincount(both, minlength=100).min() > 320
