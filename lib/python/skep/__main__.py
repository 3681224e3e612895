"""`python3 -m skep`"""

from .command_line import main

if __name__ == "__main__":
    main()
