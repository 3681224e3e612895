"""Prints to stdout before the SDK has moved that out of the way. For the stdio transport."""

import runpy
from pathlib import Path

print("loading the model ...", flush=True)
runpy.run_path(str(Path(__file__).parents[1] / "python_worker.py"), run_name="__main__")
