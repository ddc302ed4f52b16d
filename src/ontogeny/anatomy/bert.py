"""BERT and encoders of its shape (MiniLM): every token sees all; the stream is normed after each addition."""

from ontogeny.anatomy.anatomy import Projections, Spot
from ontogeny.anatomy.family import Family

FAMILY = Family(
    name="bert",
    model_types=frozenset({"bert"}),
    stack="encoder.layer",
    embedding="embeddings.word_embeddings",
    final_norm="",
    attention="attention.self",
    attends="attention.output.dropout",
    feeds="output.dropout",
    projections=Projections(
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        norm="",
    ),
    enters=Spot("intermediate.dense"),
    leaves="output.dense",
    stream_norms=("attention.output.LayerNorm", "output.LayerNorm"),
    rotary=False,
    causal=False,
    reads_out=False,
    notes=(("readout", "a layer of its own stands between the stream and the unembedding"),),
)
