"""The face in a browser: runs and verdicts, live and saved."""
