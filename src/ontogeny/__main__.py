"""`python -m ontogeny`."""

from ontogeny.cli import main

if __name__ == "__main__":
    main()
