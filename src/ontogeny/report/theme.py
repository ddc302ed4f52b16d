"""Colours of a drawing, by what they are for: light, dark, and one a web page fills in by itself."""

from dataclasses import asdict, dataclass

from ontogeny.errors import UnknownName

#: Okabe & Ito 2008, told apart with any kind of colour vision; yellow, too pale on paper, is ink instead.
OKABE_ITO = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f6368")
#: The same hues, lighter, for a dark page.
OKABE_ITO_LIGHT = ("#5fb0e8", "#ff8f4f", "#45c99d", "#eaa6cd", "#f3be55", "#9bd5f5", "#b9bec4")


@dataclass(frozen=True)
class Theme:
    """`hues` are categories, `shades` an ordered family; the rest is named after its use."""

    paper: str
    ink: str
    muted: str
    hairline: str
    quiet: str
    null: str
    rule: str
    alarm: str
    hues: tuple[str, ...]
    shades: tuple[str, ...]

    def variables(self) -> dict[str, str]:
        """Every colour under the name a style sheet knows it by."""
        plain = {name: colour for name, colour in asdict(self).items() if isinstance(colour, str)}
        hues = {f"hue-{index}": colour for index, colour in enumerate(self.hues)}
        return plain | hues | {f"shade-{index}": colour for index, colour in enumerate(self.shades)}

    def shade(self, position: float) -> str:
        """The colour at a position (0-1) of an ordered family."""
        return self.shades[round(min(max(position, 0.0), 1.0) * (len(self.shades) - 1))]


LIGHT = Theme(
    paper="#ffffff",
    ink="#1b1f24",
    muted="#646b73",
    hairline="#e8eaed",
    quiet="#b3b9c1",
    null="#8a919a",
    rule="#3c434b",
    alarm="#c4161c",
    hues=OKABE_ITO,
    shades=("#440154", "#46327e", "#365c8d", "#277f8e", "#1fa187", "#4ac16d", "#9fc02a"),
)
DARK = Theme(
    paper="#14171b",
    ink="#e7eaee",
    muted="#98a1ab",
    hairline="#2a2f36",
    quiet="#59616b",
    null="#7d8690",
    rule="#c3c9d0",
    alarm="#ff6b6b",
    hues=OKABE_ITO_LIGHT,
    shades=("#8f6fc8", "#7480d6", "#5c9bd1", "#45b3bf", "#4cc79b", "#8bd66a", "#e0dd4e"),
)


def _placeholders() -> Theme:
    """Colours no map ever gives (#fe….), each to be replaced by the variable of its name."""
    names = iter(range(1, 256))
    colour = lambda: f"#fe01{next(names):02x}"
    single = {name: colour() for name, value in asdict(LIGHT).items() if isinstance(value, str)}
    return Theme(
        **single, hues=tuple(colour() for _ in LIGHT.hues), shades=tuple(colour() for _ in LIGHT.shades)
    )


#: Drawn once for both: the page's own style sheet says what each colour is.
PAGE = _placeholders()
THEMES = {"light": LIGHT, "dark": DARK, "page": PAGE}


def theme_named(name: str) -> Theme:
    """A theme; an unknown name gets the list."""
    if name not in THEMES:
        raise UnknownName("theme", name, THEMES)
    return THEMES[name]
