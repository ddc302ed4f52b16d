import pytest

from ontogeny.errors import UnknownName
from ontogeny.report.theme import DARK, LIGHT, PAGE, theme_named


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read(theme):
    assert contrast(theme.ink, theme.paper) > 12
    assert contrast(theme.muted, theme.paper) > 4.5
    assert contrast(theme.alarm, theme.paper) > 4.5
    assert all(contrast(hue, theme.paper) > 1.9 for hue in theme.hues)
    assert contrast(theme.hairline, theme.paper) < 1.4


def test_placeholders_are_distinct_and_name_what_the_themes_name():
    variables = PAGE.variables()
    assert len(set(variables.values())) == len(variables)
    assert list(variables) == list(LIGHT.variables()) == list(DARK.variables())
    assert all(colour.startswith("#fe01") for colour in variables.values())


def test_shades_run_from_the_first_to_the_last():
    assert (LIGHT.shade(0.0), LIGHT.shade(1.0), LIGHT.shade(9.0)) == (
        LIGHT.shades[0],
        LIGHT.shades[-1],
        LIGHT.shades[-1],
    )


def test_an_unknown_theme_gets_the_list():
    with pytest.raises(UnknownName, match="dark, light, page"):
        theme_named("sepia")
