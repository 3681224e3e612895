"""Tools for developers: descriptions of workers, breakpoints. Above _calls."""
