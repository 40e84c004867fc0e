"""`python -m birdenv`: the command line."""

from birdenv.cli import main

if __name__ == "__main__":
    main()
