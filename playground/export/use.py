"""Loads the model beside this file, translates with it, and draws its attention.

    python use.py "hello"                          prints the translation, and each output token with the source token it attends to most
    python use.py "hello" --svg attention.svg      and draws the cross-attention of every layer and head

Needs torch and safetensors; a model whose tokenizers are of kind "bpe" or "unigram" needs sentencepiece as well.
"""

import argparse
import base64
import html
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from playground.config import BOS, EOS, MAX_POSITIONS, SPECIAL_TOKENS, UNK, ModelConfig
from playground.model.transformer import Output, Transformer
from playground.reading.text import normalise, split_graphemes, split_wordpieces
from playground.variants import build

EXTRA_TOKENS, EXTRA = 16, 1.25  # an output may have twice its source's tokens and EXTRA_TOKENS, or EXTRA times the longest training target
CELL = 18  # pixels of a cell


class Tokenizer:
    """Converts text to token ids and back, as its JSON file says: by characters, words, WordPiece or SentencePiece."""

    def __init__(self, file: Path) -> None:
        saved = json.loads(file.read_text(encoding="utf-8"))
        self.kind, self.pieces, self.clusters = saved["kind"], None, saved.get("clusters", False)
        if self.kind in ("bpe", "unigram"):
            from sentencepiece import SentencePieceProcessor

            self.pieces = SentencePieceProcessor(model_proto=base64.b64decode(saved["model"]))
            self.symbols = [self.pieces.id_to_piece(token) for token in range(self.pieces.get_piece_size())]
        else:
            self.symbols = [*SPECIAL_TOKENS, *saved["symbols"]]
        self.ids = {symbol: token for token, symbol in enumerate(self.symbols)}

    def encode(self, text: str) -> list[int]:
        """Returns the ids of a sentence, without BOS and EOS; UNK for unknown symbols."""
        text = normalise(text)
        if self.pieces:
            return self.pieces.encode(text)
        if self.kind == "wordpiece":
            symbols = split_wordpieces(text, self.ids)
        else:
            symbols = text.split() if self.kind == "words" else split_graphemes(text) if self.clusters else text
        return [self.ids.get(symbol, UNK) for symbol in symbols]

    def decode(self, ids: Iterable[int]) -> str:
        """Returns the sentence without special tokens but <unk>, which stands for an unknown symbol."""
        content = [token for token in ids if token >= len(SPECIAL_TOKENS) or token == UNK]
        if self.pieces:
            text = self.pieces.decode(content)
            return normalise(text.replace(" \u2047 ", " <unk> ")) if UNK in content else text
        text = ("" if self.kind == "characters" else " ").join(self.symbols[token] for token in content)
        return text.replace(" ##", "") if self.kind == "wordpiece" else text

    def labels(self, ids: Iterable[int]) -> list[str]:
        """Returns the text shown for each id."""
        return ["␣" if self.symbols[token] == " " else self.symbols[token] for token in ids]


class Translator:
    """The model of a folder with its tokenizers."""

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.src, self.tgt = (Tokenizer(folder / f"{side}_tokenizer.json") for side in ("src", "tgt"))
        knobs = {name: config[name] for name in ModelConfig.__dataclass_fields__}
        self.model: Transformer = build(ModelConfig(**knobs), config["src_vocab"], config["tgt_vocab"]).eval()
        self.longest = round(EXTRA * config["longest_target"])
        _, width, greedy, beam = config.get("beam", (0, 1, 0, 0))  # BLEU on held-out sentences
        self.width = width if beam > greedy else 1
        parameters = load_file(folder / "model.safetensors")
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():  # a shared parameter has one name
                parameter.copy_(parameters[name])

    @torch.inference_mode()
    def write(self, text: str) -> tuple[list[int], list[int]]:
        """Decodes by a beam of this width, greedily with 1: (ids of the source with EOS, ids of the output, with EOS if it ended)."""
        src = [*self.src.encode(text)[: MAX_POSITIONS - 1], EOS]
        most = min(max(2 * len(src) - 2 + EXTRA_TOKENS, self.longest), MAX_POSITIONS)
        beam: list[tuple[float, float, list[int]]] = [(0, 0, [])]  # score, log probability and ids of each hypothesis
        while growing := [known for known in beam if len(known[2]) < most and known[2][-1:] != [EOS]]:
            beam = [known for known in beam if known not in growing]
            for _, total, ids in growing:
                logits = self.model(torch.tensor([src]), torch.tensor([[BOS, *ids]])).logits[0, -1]
                best = zip(*map(Tensor.tolist, (logits.log_softmax(dim=-1) + total).topk(self.width)), strict=True)
                beam += [(logprob / (6 + len(ids)), logprob, [*ids, token]) for logprob, token in best]
            beam = sorted(beam, reverse=True)[: self.width]
        return src, beam[0][2]

    def translate(self, text: str) -> str:
        return self.tgt.decode(self.write(text)[1])

    @torch.inference_mode()
    def look(self, text: str) -> tuple[Output, list[str], list[str]]:
        """Returns the model's output while it writes a translation: logits (1, T, V) and the attention weights of every layer, with the
        labels of the S source tokens and the T output tokens."""
        src, written = self.write(text)
        output = self.model(torch.tensor([src]), torch.tensor([[BOS, *written[:-1]]]))
        return output, self.src.labels(src), self.tgt.labels(written)


def svg(weights: Sequence[Tensor], rows: Sequence[str], columns: Sequence[str], title: str = "") -> str:
    """Draws attention weights (1, H, R, C) of each layer: a grid for each head, a darker cell for a larger weight; above it the `title`, by
    default the numbers of layer and head."""
    left, top = 14 + 8 * max(map(len, rows)), 14 + 8 * max(map(len, columns))
    width, height = left + CELL * len(columns) + 12, top + CELL * len(rows) + 24
    names = [_text(f'x="{left - 4}" y="{top + CELL * r + 13}" text-anchor="end"', name) for r, name in enumerate(rows)]
    names += [_text(f'transform="translate({left + CELL * c + 13} {top - 4}) rotate(-90)"', name) for c, name in enumerate(columns)]
    drawn = []
    for layer, of_layer in enumerate(weights):
        for head, grid in enumerate(of_layer[0].tolist()):
            cells = [_cell(left + CELL * c, top + CELL * r, weight) for r, row in enumerate(grid) for c, weight in enumerate(row)]
            inside = "".join([_text('y="12" font-weight="bold"', title or f"{layer + 1}.{head + 1}"), *cells, *names])
            drawn.append(f'<g transform="translate({8 + width * head} {8 + height * layer})">{inside}</g>')
    size = f'role="img" width="{16 + width * weights[0].shape[1]}" height="{16 + height * len(weights)}"'
    paper = '<rect width="100%" height="100%" fill="white"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="monospace" font-size="12">{paper}{"".join(drawn)}</svg>\n'


def _cell(x: int, y: int, weight: float) -> str:
    box = f'x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="#4338ca" fill-opacity="{weight:.3f}" stroke="#ccc"'
    return f"<rect {box}><title>{weight:.3f}</title></rect>"


def _text(where: str, text: str) -> str:
    return f"<text {where}>{html.escape(text)}</text>"


def main() -> None:
    arguments = argparse.ArgumentParser(description="Translates with the model beside this file.")
    arguments.add_argument("text")
    arguments.add_argument("--svg", type=Path, metavar="FILE", help="draw the cross-attention here")
    options = arguments.parse_args()
    translator = Translator(Path(__file__).parent)
    print(translator.translate(options.text))
    output, columns, rows = translator.look(options.text)
    mean = output.cross[-1][0].mean(dim=0)  # (T, S) of the last layer, over its heads
    for label, weights in zip(rows, mean, strict=True):
        print(f"  {label} ← {columns[int(weights.argmax())]} ({float(weights.max()):.0%})")
    if options.svg:
        options.svg.write_text(svg(output.cross, rows, columns), encoding="utf-8")


if __name__ == "__main__":
    main()
