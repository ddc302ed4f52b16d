"""One transparent decoder-only transformer, and its exact conversion to the `transformers` layouts."""

from ontogeny.models.decoder import Decoder, DecoderConfig, attend, attend_eagerly

__all__ = ["Decoder", "DecoderConfig", "attend", "attend_eagerly"]
