"""Small decoders, and the folders, files and pickles in which others would have saved them."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from ontogeny.formats import Trust, sandbox, unpickling
from ontogeny.models import Decoder, DecoderConfig
from ontogeny.models.shapes import export_state
from ontogeny.store.checkpoint import write_checkpoint
from ontogeny.vocabulary import Streams

GPT2 = {"norm": "layernorm", "positions": "learned", "mlp": "gelu", "bias": True, "kv_heads": None}


def decoder(seed: int = 0, **changes) -> Decoder:
    """A Llama of two layers, width 32, vocabulary 61, with weights large enough to matter."""
    sizes = {"vocabulary": 61, "context": 64, "width": 32, "layers": 2, "heads": 4, "kv_heads": 2}
    model = Decoder(DecoderConfig(**(sizes | changes)), Streams(seed).generator("init")).eval()
    for parameter in model.parameters():
        parameter.data.mul_(6)
    return model


def foreign_state(model: Decoder) -> tuple[dict, dict[str, Tensor]]:
    """Config and tensors as `transformers` has them, without a trace of ours."""
    config, tensors = export_state(model.config, dict(model.state_dict()))
    return {name: value for name, value in config.items() if name != "ontogeny"}, tensors


def foreign_folder(folder: Path, model: Decoder) -> dict[str, Tensor]:
    """The model as `transformers` saves it; returns its tensors."""
    config, tensors = foreign_state(model)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, folder / "model.safetensors")
    return tensors


def own_folder(folder: Path, model: Decoder) -> str:
    """The model as a checkpoint of ours; returns its hash."""
    config, tensors = export_state(model.config, dict(model.state_dict()))
    documents = {"config": config}
    return write_checkpoint(folder, tensors={"model": tensors}, documents=documents, step=0, metadata={}).hash


def nanogpt_state(model: Decoder) -> dict[str, Tensor]:
    """A decoder's tensors as nanoGPT names and fuses them, its tie among them."""
    blocks = {"attention_norm": "ln_1", "attention.output": "attn.c_proj", "mlp_norm": "ln_2",
              "mlp.up": "mlp.c_fc", "mlp.down": "mlp.c_proj"}  # fmt: skip
    ours = dict(model.state_dict())
    state = {
        "transformer.wte.weight": ours["embedding.weight"],
        "transformer.wpe.weight": ours["position_embedding.weight"],
        "lm_head.weight": ours["embedding.weight"],
    }
    for kind in ("weight", "bias") if model.config.bias else ("weight",):
        state[f"transformer.ln_f.{kind}"] = ours[f"final_norm.{kind}"]
        for i in range(model.config.layers):
            here, there = f"blocks.{i}", f"transformer.h.{i}"
            fused = [ours[f"{here}.attention.{part}.{kind}"] for part in ("query", "key", "value")]
            state[f"{there}.attn.c_attn.{kind}"] = torch.cat(fused)
            state |= {
                f"{there}.{theirs}.{kind}": ours[f"{here}.{own}.{kind}"] for own, theirs in blocks.items()
            }
    return state


def nanogpt_file(path: Path, model: Decoder, prefix: str = "", **more: object) -> None:
    """nanoGPT's ckpt.pt, as its train.py saves it."""
    config = model.config
    arguments = {"n_layer": config.layers, "n_head": config.heads, "n_embd": config.width, "dropout": 0.1,
                 "block_size": config.context, "bias": config.bias,
                 "vocab_size": config.vocabulary}  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    torch.save(
        {
            "model": {f"{prefix}{name}": tensor for name, tensor in nanogpt_state(model).items()},
            "optimizer": optimizer.state_dict(),
            "model_args": arguments,
            "iter_num": 250,
            "best_val_loss": torch.tensor(2.5),
            "config": {"dataset": "shakespeare_char", "learning_rate": 1e-3},
            **more,
        },
        path,
    )


def opening_here(monkeypatch) -> Trust:
    """Leave to open pickles, by the code of the sandbox's process without the process and its limits."""

    def run(kind, home, memory, seconds, paths):
        try:
            unpickling.write_found(home, unpickling.LOADERS[kind](paths))
        except Exception as error:
            unpickling._answer(home, unpickling._refusal(error))

    monkeypatch.setattr(sandbox, "_run", run)
    return Trust(pickles=True)
