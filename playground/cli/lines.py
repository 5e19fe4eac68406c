"""Sentences translated: a few without torch, or the lines of a file in batches, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from playground.config import EOS, MAX_POSITIONS, UNK, Refusal, from_json
from playground.decoding import limit_output
from playground.reading.text import normalise

if TYPE_CHECKING:
    from playground.features.shared.queries.reader import Reader
    from playground.model.transformer import Transformer
    from playground.runs.disk.files import FolderFiles
    from playground.runs.run import Run

LIGHT_BYTES, LIGHT_CHARACTERS = 20_000_000, 1_000  # of the weights that are read without torch, and of a sentence
CHUNK = 250  # lines of a batch
Written = tuple[tuple[int, ...], tuple[int | None, ...]]  # ids, and the source places of the copied words


@dataclass(frozen=True)
class Line:
    """The translation of a line; `cut` when it has more tokens than the model has positions, and only its beginning was read."""

    output: str
    cut: bool
    unknown: bool  # the output holds <unk>
    finished: bool  # EOS came before the length limit
    copied: int = 0  # source words in the places of <unk>
    unread: tuple[str, ...] = ()  # tokens of the source that are not in the vocabulary


def translate_lines(
    reader: Reader, run: Run, step: int | None, texts: Sequence[str], width: int = 1, length_penalty: float = 0.0,
    copy_unknown: bool = False,
) -> Iterator[Line]:  # fmt: skip
    """Translates each text as `translate` does, greedily or by a beam of this width. An empty line stays empty. Raises Refusal."""
    from playground.data.readable import unknown_tokens
    from playground.decoding import best
    from playground.features.shared.queries.reader import CHARACTERS
    from playground.features.translate.query import align_unknown, copy_words

    if run.tokenizers is None:
        raise Refusal("runs.nothing_yet")
    (src, tgt), room = run.tokenizers, MAX_POSITIONS - 1
    for start in range(0, len(texts), CHUNK):
        chunk = [normalise(text[:CHARACTERS]) for text in texts[start : start + CHUNK]]
        ids = [src.encode(text) for text in chunk]
        batch = [tuple(source[:room]) for source in ids if source]

        def write(model: Transformer, _: int, sources: list[tuple[int, ...]] = batch) -> list[Written]:
            limits = [limit_output(run.longest_target, len(source)) for source in sources]
            outputs = best(model, sources, limits, width, length_penalty)
            pairs = zip(sources, outputs, strict=True)
            return [(output, align_unknown(model, source, output) if copy_unknown else ()) for source, output in pairs]

        key = ("lines", width, length_penalty, copy_unknown, tuple(batch))
        written = iter(reader.work(run, step, key, write)) if batch else iter(())
        for text, source in zip(chunk, ids, strict=True):
            tokens, places = next(written) if source else ((EOS,), ())
            words = copy_words(src, text, places)
            copied = sum(word is not None for word in words)
            output, unknown = tgt.decode(tokens, words), copied < tokens.count(UNK)
            unread = unknown_tokens(src, text) if UNK in source else ()
            yield Line(output, len(source) > room, unknown, tokens[-1:] == (EOS,), copied, unread)


def translate_texts(name: str, texts: Sequence[str], greedily: bool) -> tuple[list[str], dict[str, None]]:
    """Translates with an ordinary run that isn't damaged, in numpy alone: torch's import takes several times as long as all the rest.

    Returns the greedy outputs, and the tokens that the vocabulary lacks. Raises Refusal, OSError, ValueError and its like for any other
    run, and unless `greedily` for one that decodes better by a beam: it can be read with torch, or an error says what is wrong.
    """
    from playground.data.tokenizers import load_tokenizer
    from playground.decoding.single_decoder import SingleDecoder, read_arrays
    from playground.runs.disk import FORMAT

    folder = _find_folder(name)
    card = folder.card
    if folder.entries["weights.safetensors"]["bytes"] > LIGHT_BYTES:
        raise ValueError(name)
    config, beam = from_json(json.loads(folder.read("config.json"))).model, json.loads(folder.read("history.json")).get("beam")
    src, tgt = (load_tokenizer(folder.read(f"{side}_tokenizer.json")) for side in ("src", "tgt"))
    sources, is_beam_better = [src.encode(text) for text in texts], beam is not None and beam[3] > beam[2]
    is_changed = config.altered_by != "none" or card.get("edits") or card["live"].get("memory_mode", "whole") != config.memory_mode
    if card["format"] != FORMAT or is_changed or config.activation == "gelu" or (is_beam_better and not greedily):
        raise ValueError(name)
    arrays = read_arrays(folder.read("weights.safetensors"), config)
    if (len(arrays["src_embedding.weight"]), len(arrays["projection.weight"])) != (src.size, tgt.size):
        raise ValueError(name)
    outputs = []
    for ids in sources:
        if not 0 < len(ids) < MAX_POSITIONS or max(map(len, texts)) > LIGHT_CHARACTERS:
            raise ValueError(name)
        written, _ = SingleDecoder(arrays, config, (*ids, EOS)).write(limit_output(card.get("longest_target", 0), len(ids)))
        outputs.append(tgt.decode(written))
    return outputs, dict.fromkeys(piece for text in texts for piece, id in src.pieces(text) if id == UNK)


def _find_folder(name: str) -> FolderFiles:
    """Returns the files of the folder `name`, or of the shipped or saved run with this name, label or id. Raises Refusal."""
    from playground.runs.disk import ID, SHIPPED, default_folder
    from playground.runs.disk.files import CARD, FolderFiles

    for path in (Path(name), SHIPPED / name):
        if (path / CARD).is_file():
            return FolderFiles(path)
    for path in sorted((default_folder() / "runs").glob("*")):
        if ID.fullmatch(path.name) and name in {(folder := FolderFiles(path)).card.get(field) for field in ("id", "name", "label")}:
            return folder
    raise Refusal("export.no_run", name=name)
