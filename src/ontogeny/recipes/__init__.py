"""The recipes that come with ontogeny, one TOML file each."""

from pathlib import Path


def shipped() -> dict[str, Path]:
    """Where each recipe lies, by name."""
    return {path.stem: path for path in sorted(Path(__file__).parent.glob("*.toml"))}
