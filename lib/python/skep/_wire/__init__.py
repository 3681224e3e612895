"""The wire between host and worker: frames, JSON, limits, errors, messages. Above _process."""
