"""How often a case passes, with what a handful of runs can and cannot say about that.

Runs are taken as independent tries of one thing. An inconclusive run is no try: it is left out of
every figure here and counted apart.
"""

from __future__ import annotations

from math import comb, sqrt
from statistics import NormalDist


def pass_rate(passed: int, runs: int) -> float | None:
    """Share of runs that passed; None where there is none.

    Raises:
        ValueError: Not 0 <= passed <= runs.
    """
    _check(passed, runs)
    return passed / runs if runs else None


def interval(passed: int, runs: int, *, confidence: float = 0.95) -> tuple[float, float] | None:
    """The Wilson score interval of a pass rate; None where there is no run.

    It holds the rates that a score test at this confidence does not reject. Unlike the textbook
    interval around the mean it stays within 0 and 1, and is wide after few runs even where all of
    them passed. Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", J. Am. Stat. Assoc. 22 (1927) 209-212; advised for few runs by L. D. Brown,
    T. T. Cai and A. DasGupta, "Interval estimation for a binomial proportion", Statistical Science
    16 (2001) 101-133.

    Args:
        confidence: Above 0 and below 1.

    Raises:
        ValueError: Not 0 <= passed <= runs, or a confidence that is none.

    Example:
        >>> [round(end, 3) for end in interval(4, 4)]
        [0.51, 1.0]
    """
    _check(passed, runs)
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
    if not runs:
        return None
    # Taken from the lower tail, which is above 0 also where the upper one rounds to 1.
    z = -NormalDist().inv_cdf((1 - confidence) / 2)
    rate = passed / runs
    middle = rate + z * z / (2 * runs)
    reach = z * sqrt(rate * (1 - rate) / runs + z * z / (4 * runs * runs))
    scale = 1 + z * z / runs
    # The two ends that are exact numbers are said exactly.
    low = 0.0 if passed == 0 else (middle - reach) / scale
    high = 1.0 if passed == runs else (middle + reach) / scale
    return low, high


def pass_hat_k(passed: int, runs: int, k: int) -> float | None:
    """Pass^k: the chance that `k` runs all pass; None where there are fewer than `k` runs.

    The share of all choices of `k` of the runs in which every run passed, which is an unbiased
    estimate. Source: S. Yao et al., "tau-bench: a benchmark for tool-agent-user interaction in
    real-world domains", arXiv:2406.12045 (2024).

    Raises:
        ValueError: Not 0 <= passed <= runs, or `k` below 1.

    Example:
        >>> pass_hat_k(3, 4, 2)
        0.5
    """
    _check(passed, runs, k)
    return None if runs < k else comb(passed, k) / comb(runs, k)


def pass_at_k(passed: int, runs: int, k: int) -> float | None:
    """Pass@k: the chance that one of `k` runs passes; None where there are fewer than `k` runs.

    Source: M. Chen et al., "Evaluating large language models trained on code", arXiv:2107.03374
    (2021).

    Raises:
        ValueError: Not 0 <= passed <= runs, or `k` below 1.

    Example:
        >>> pass_at_k(1, 4, 2)
        0.5
    """
    _check(passed, runs, k)
    return None if runs < k else 1 - comb(runs - passed, k) / comb(runs, k)


def _check(passed: int, runs: int, k: int = 1) -> None:
    if not 0 <= passed <= runs:
        raise ValueError(f"{passed} of {runs} runs cannot have passed")
    if k < 1:
        raise ValueError(f"k is the number of runs, at least 1, not {k}")
