"""The process and the interpreter that a worker runs in. Imports nothing else of the SDK."""
