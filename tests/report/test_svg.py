from ontogeny.report.svg import slim

RAW = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><metadata>x</metadata>'
    '<g id="a_1"><path d="M 1.23456 2 \nL 3 4.98765" style="stroke: #fe0102"/>'
    '<use xlink:href="#m1" x="1.23456"/></g><g id="crisp"/>'
    "<text style=\"font-size: 11px; font-family: 'X'\">1.23456 #fe0102 &lt;b&gt;</text></svg>"
)


def test_numbers_are_cut_colours_named_and_text_left_alone():
    found = slim(RAW, label='a "b" <c>', wide=10.0, high=20.0, variables={"#fe0102": "ink"})
    assert '<path d="M 1.23 2 L 3 4.98" style="stroke: var(--ink)" />' in found
    assert '<use href="#m1" x="1.23" />' in found
    assert '<text style="font-size: 11px">1.23456 #fe0102 &lt;b&gt;</text>' in found
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in found
    assert "metadata" not in found
    assert 'id="a_1"' not in found
    assert 'shape-rendering="crispEdges"' in found
    assert 'viewBox="0 0 10 20"' in found
