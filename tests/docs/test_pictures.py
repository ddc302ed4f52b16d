from xml.etree import ElementTree

from ontogeny.views.figure import Figure, Line, Panel


def test_a_picture_has_paper_of_its_own_and_a_margin(pictures):
    steps = tuple(float(step) for step in range(40))
    figure = Figure("spread", (Panel("each layer", (Line("L0", steps, steps),), y="dimensions"),))
    root = ElementTree.fromstring(pictures.picture(figure))
    paper = root[0]
    assert (paper.attrib["fill"], paper.attrib["width"], paper.attrib["x"]) == ("#ffffff", "100%", "-12")
    assert float(root.attrib["width"]) == pictures.WIDE + 24
    said = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"each layer", "dimensions", "L0", "step"} <= set(said)


def test_a_shorter_path_goes_the_same_way(pictures):
    assert pictures.shorter("M 1.23 4.00 L 5.67 8.91 L 2.34 5.00 z") == "M 1.2 4 5.6 8.9 2.3 5 z"
    assert pictures.shorter("M 1 2 C 3 4 5 6 7 8 L 9 9") == "M 1 2 C 3 4 5 6 7 8 L 9 9"


def test_committed_pictures_are_small_and_whole(pictures, reference):
    found = list((reference.HOME / "images").iterdir())
    assert found
    for path in found:
        assert path.stat().st_size <= pictures.MOST, path.name
        assert ElementTree.fromstring(path.read_text("utf-8")).tag.endswith("svg")
    assert sum(path.stat().st_size for path in found) < 1_000_000
