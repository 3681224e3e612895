"""What travels between host and worker: frames, JSON, limits, errors, messages. Imports _process."""
