"""One call: its command, window, interrupts, answer, stream, tools and telemetry. Above _wire."""
