"""Places of layers and matrices."""

import pytest

from ontogeny.anatomy import read_anatomy
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.vocabulary import Place


def decoder(**changes) -> Decoder:
    return Decoder(
        DecoderConfig(**{"vocabulary": 11, "context": 8, "width": 8, "layers": 2, "heads": 2, **changes})
    )


def test_a_decoder_is_mapped_by_construction():
    model = decoder(mlp="none")
    found = read_anatomy(model)
    assert found.blocks == ("blocks.0", "blocks.1")
    assert [model.get_submodule(path) for path in found.attention] == [b.attention for b in model.blocks]
    assert set(found.matrices(model)) == {
        Place(matrix="embedding"),
        *(
            Place(layer=k, matrix=f"attention.{m}")
            for k in (0, 1)
            for m in ("query", "key", "value", "output")
        ),
    }


def test_tied_matrices_are_there_once_and_untied_ones_apart():
    assert Place(matrix="unembedding") not in read_anatomy(decoder()).matrices(decoder())
    untied = decoder(tied=False, positions="learned")
    assert {Place(matrix="unembedding"), Place(matrix="position_embedding")} <= set(
        read_anatomy(untied).matrices(untied)
    )


def test_layer_ten_is_not_taken_for_layer_one():
    model = decoder(layers=11, mlp="none")
    places = read_anatomy(model).matrices(model)
    assert [sum(place.get("layer") == layer for place in places) for layer in range(11)] == [4] * 11


@pytest.mark.parametrize(("loops", "place"), [(1, Place(layer=1)), (3, Place(layer=1, loop=2))])
def test_loops_are_part_of_a_place_where_there_are_several(loops, place):
    assert read_anatomy(decoder(loops=loops)).place(1, loops - 1) == place
