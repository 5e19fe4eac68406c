"""model.py: the Transformer of a run in one readable file that needs only torch. Assembled from the files in playground/model."""

from __future__ import annotations

from dataclasses import fields
from inspect import cleandoc

from playground.config import ModelConfig
from playground.export.one_file import Part, Piece, join
from playground.variants import variant_of
from playground.variants.variant import change_nothing

MODULES = ("parts", "masks", "packing", "positions", "kv_cache", "attention", "layers", "transformer")
ABOUT = """The Transformer of "Attention Is All You Need", an encoder that reads and a decoder that writes, in one file.

Tensors are named by their shapes: B sentences, L tokens (S of a source, T of a target, N new ones), D = d_model, H heads of K numbers, V
tokens in a vocabulary. `build` makes the model of config.json; use.py shows how it is loaded."""
REFUSAL = '''class Refusal(ValueError):
    """A request that can't be fulfilled: `key` names the reason, `values` fill it in."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key, values)'''
BUILD = '''def build(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> Transformer:
    """A model as its configuration says; load its parameters into it."""
    return Transformer(config, src_vocab, tgt_vocab)'''
BUILD_VARIANT = '''def build(config: ModelConfig, src_vocab: int, tgt_vocab: int) -> Transformer:
    """A model as its configuration says, with the variant “{variant}”; load its parameters into it."""
    model = Transformer(config, src_vocab, tgt_vocab)
    with torch.no_grad():
        {change}(model)
    return model'''


def model_file(config: ModelConfig) -> str:
    """Returns the source of model.py, with the variant that `config` needs, if any."""
    return join(
        ABOUT,
        [
            Piece("playground.choices", ("ENCODINGS",)),
            Piece("playground.config", ("MAX_POSITIONS", "PAD", "SPECIAL_TOKENS")),
            Part("", (), REFUSAL),
            Part("", (("dataclasses", "dataclass"),), _config_class()),
            *(Piece(f"playground.model.{name}") for name in MODULES),
            *_variant(config),
        ],
    )


def _config_class() -> str:
    """Returns the source of ModelConfig with fields and defaults, but without the playground's checks."""
    doc = cleandoc(ModelConfig.__doc__ or "")
    knobs = "\n".join(f"    {knob.name}: {knob.type} = {_literal(knob.default)}" for knob in fields(ModelConfig))
    return (
        f'@dataclass(frozen=True)\nclass ModelConfig:\n    """{doc}"""\n\n{knobs}\n\n    @property\n    def encoding(self) -> Encoding:\n'
        '        """What `positions` is made of."""\n        return ENCODINGS[self.positions]'
    )


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _variant(config: ModelConfig) -> list[Piece | Part]:
    """Returns the source of `build`, with the variant's change of the model. A variant that changes only the training data needs nothing
    here."""
    change = variant_of(config).change
    if change is change_nothing:
        return [Part("Building it", (), BUILD)]
    build = Part("", (("torch", ""),), BUILD_VARIANT.format(variant=config.variant, change=change.__name__))
    helpers = tuple(name for name in ("attentions", "replace_function") if name in change.__code__.co_names)
    return [*([Piece("playground.variants.variant", helpers)] if helpers else []), Piece(change.__module__, (change.__name__,)), build]
