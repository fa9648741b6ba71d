"""The face inside pytest: agent runs as tests, verdicts as outcomes."""
