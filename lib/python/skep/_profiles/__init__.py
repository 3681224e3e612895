"""How a worker serves: its conversation with the host, calls one by one, in threads, on a loop. Imports _calls and below."""
