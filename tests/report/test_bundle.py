import base64
import hashlib

from ontogeny.report.bundle import Bundle, built_bundle, inert


def test_code_cannot_end_the_element_it_stands_in():
    assert inert('a="</script>";b="<!-- x"', "script") == 'a="<\\/script>";b="<\\!-- x"'
    assert inert("a{}</style>\r\nb", "style") == "a{}<\\/style>\nb"


def test_the_policy_names_the_script_by_its_hash():
    script = "void 0;"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert Bundle(script, "").hash == f"'sha256-{digest}'"


def test_what_was_built_fits_into_a_page():
    bundle = built_bundle()
    if bundle is None:  # a checkout without `make web`; tests/web asks for the build in CI
        return
    assert "</script" not in bundle.script
    assert "http:" not in bundle.style
    assert "https:" not in bundle.style
    assert len(bundle.script) + len(bundle.style) < 300_000
