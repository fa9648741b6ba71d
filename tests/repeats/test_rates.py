"""Rates of a handful of runs: against what the definitions say, counted out."""

from __future__ import annotations

import itertools
import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenttrace.repeats import interval, pass_at_k, pass_hat_k, pass_rate

counts = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.floats(0.5, 0.999))
def test_an_interval_holds_the_rate_and_stays_within_0_and_1(count, confidence):
    found = interval(*count, confidence=confidence)

    if not count[1]:
        assert found is None
    else:
        low, high = found
        assert 0 <= low <= count[0] / count[1] <= high <= 1


@given(counts.filter(lambda count: count[1] > 0))
def test_the_ends_of_an_interval_are_the_rates_that_the_score_test_just_rejects(count):
    passed, runs = count
    z = NormalDist().inv_cdf(0.975)

    for end in interval(passed, runs):
        if 0 < end < 1:
            score = abs(passed / runs - end) / math.sqrt(end * (1 - end) / runs)
            assert score == pytest.approx(z, rel=1e-6)


@given(counts)
def test_an_interval_is_that_of_the_failures_mirrored(count):
    passed, runs = count
    found, mirrored = interval(passed, runs), interval(runs - passed, runs)

    if found is not None:
        assert found[0] == pytest.approx(1 - mirrored[1])


@pytest.mark.parametrize(
    ("passed", "runs", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (3, 10, 0.1078, 0.6032), (1, 1, 0.2065, 1.0)],
)
def test_intervals_are_those_of_the_published_formula(passed, runs, low, high):
    assert interval(passed, runs) == pytest.approx((low, high), abs=5e-5)


@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(st.lists(st.booleans(), min_size=n, max_size=n), st.integers(1, n))
    )
)
def test_pass_hat_and_pass_at_are_shares_of_all_choices_of_k_runs(given_runs):
    results, k = given_runs
    choices = list(itertools.combinations(results, k))
    passed, runs = sum(results), len(results)

    assert pass_hat_k(passed, runs, k) == pytest.approx(sum(map(all, choices)) / len(choices))
    assert pass_at_k(passed, runs, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_what_no_run_says_is_none():
    assert (pass_rate(0, 0), interval(0, 0)) == (None, None)
    assert (pass_hat_k(2, 2, 3), pass_at_k(2, 2, 3)) == (None, None)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: pass_rate(2, 1),
        lambda: interval(-1, 3),
        lambda: interval(1, 3, confidence=1.0),
        lambda: pass_hat_k(1, 2, 0),
        lambda: pass_at_k(3, 2, 1),
    ],
)
def test_counts_that_cannot_be_are_refused(asked):
    with pytest.raises(ValueError, match=r"cannot have passed|confidence lies|at least 1"):
        asked()


@pytest.mark.parametrize("confidence", [0.9999999999999999, 1e-300])
def test_every_confidence_between_0_and_1_has_an_interval(confidence):
    found = interval(3, 4, confidence=confidence)

    assert found is not None
    assert 0 < found[0] <= 0.75 <= found[1] < 1
