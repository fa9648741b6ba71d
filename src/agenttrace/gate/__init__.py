"""Turns verdicts into one decision: pure, standard library only."""
