"""One call: what runs it, interrupts it, answers it, and what is said to the host meanwhile. Imports _wire and below."""
