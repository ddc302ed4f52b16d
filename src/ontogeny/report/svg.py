"""What matplotlib writes, made fit for a page: two decimals, system fonts, no metadata, colours by name."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree

SVG, XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'Noto Sans', Arial, sans-serif"
DECIMALS = re.compile(r"(-?\d+\.\d{2})\d+")
COLOUR = re.compile(r"#[0-9a-f]{6}")
#: Elements whose id nothing refers to.
PLAIN = ("g", "text", "rect", "image")
#: The id of groups whose shapes touch: smoothed edges would show a seam between them.
CRISP = "crisp"


def slim(svg: str, *, label: str, wide: float, high: float, variables: Mapping[str, str]) -> str:
    """One `<svg>` element that may stand in a page.

    `variables` maps colours to the names of CSS variables to put in their place; none for a file by itself.
    """
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{SVG}metadata", f"{SVG}style") or (
                child.tag == f"{SVG}defs" and not len(child)
            ):
                parent.remove(child)
    for element in root.iter():
        _slim_element(element, variables)
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {wide:g} {high:g}",
        "width": f"{wide:g}",
        "height": f"{high:g}",
        "role": "img",
        "aria-label": label,
        "font-family": FONTS,
        "stroke-linejoin": "round",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _slim_element(element: ElementTree.Element, variables: Mapping[str, str]) -> None:
    element.tag = element.tag.removeprefix(SVG)
    kept = {}
    for name, value in element.attrib.items():
        if name == "id" and value == CRISP:
            kept["shape-rendering"] = "crispEdges"
        if name == "id" and element.tag in PLAIN:
            continue
        if name == "transform" and "rotate(-0 " in value:
            value = re.sub(r"\s*rotate\(-0 [^)]*\)", "", value).strip()
        if name == "d":
            value = " ".join(value.split())
        if name in ("d", "x", "y", "width", "height", "transform"):
            value = DECIMALS.sub(r"\1", value)
        if name == "style":
            value = _style(value, variables)
        if value:
            kept[name.replace(XLINK, "xlink:") if element.tag == "image" else name.replace(XLINK, "")] = value
    if element.tag == "image" and "xlink:href" in kept:
        kept["href"] = kept.pop("xlink:href")
    element.attrib = kept
    element.tail = None
    if element.text and not element.text.strip() and element.tag != "text":
        element.text = None


def _style(style: str, variables: Mapping[str, str]) -> str:
    rules = [rule.strip() for rule in style.split(";") if rule.strip()]
    rules = [rule for rule in rules if not rule.startswith(("font-family", "stroke-linejoin"))]
    rules = ["font-weight: 600" if rule.startswith("font-weight") else rule for rule in rules]
    name = lambda found: f"var(--{variables[found[0]]})" if found[0] in variables else found[0]
    return "; ".join(COLOUR.sub(name, rule) for rule in rules)
