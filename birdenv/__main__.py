"""Run the command line with `python -m birdenv`."""

from birdenv.cli import main

if __name__ == "__main__":
    main()
