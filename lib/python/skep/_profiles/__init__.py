"""The ways of a worker to serve: calls one by one, in threads, on an event loop. Above _calls."""
