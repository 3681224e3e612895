"""The process of a worker and its interpreter: script, stderr, threads, exits. The lowest layer of the SDK."""
