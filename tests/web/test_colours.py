"""The browser's colours are those of the report: what is written twice must not drift."""

import re
from pathlib import Path

import matplotlib
import pytest
from matplotlib.colors import to_hex

from ontogeny.report.theme import DARK, LIGHT

SOURCE = Path(__file__).parents[2] / "web/src"


@pytest.mark.parametrize(("name", "theme"), [("LIGHT", LIGHT), ("DARK", DARK)])
def test_a_figures_own_theme(name, theme):
    text = (SOURCE / "figure/theme.ts").read_text()
    block = text.split(f"export const {name}: Theme = {{")[1].split("};")[0]
    single = dict(re.findall(r"(\w+): \"(#[0-9a-f]{6})\"", block))
    lists = {
        key: tuple(re.findall(r"#[0-9a-f]{6}", row)) for key, row in re.findall(r"(\w+): \[([^]]+)\]", block)
    }
    assert lists == {"hues": theme.hues, "shades": theme.shades}
    assert single
    assert single == {key: getattr(theme, key) for key in single}


def test_a_notebooks_cell():
    blocks = re.findall(r"([^{}]+)\{([^{}]+)\}", (SOURCE / "widget/widget.css").read_text())
    said = [dict(re.findall(r"--([a-z0-9-]+): (#[0-9a-f]{6})", body)) for _, body in blocks]
    said = [colours for colours in said if colours]
    for colours, theme in zip(said, (LIGHT, DARK), strict=True):
        assert colours == {key: theme.variables()[key] for key in colours}


@pytest.mark.parametrize(("name", "known"), [("VIRIDIS", "viridis"), ("RED_BLUE", "RdBu_r")])
def test_colour_maps(name, known):
    text = (SOURCE / "figure/maps.ts").read_text().split(f"const {name} =")[1].split(";")[0]
    written = "".join(re.findall(r'"([0-9a-f]+)"', text))
    colours = matplotlib.colormaps[known].resampled(256)
    assert written == "".join(to_hex(colours(index))[1:] for index in range(256))
