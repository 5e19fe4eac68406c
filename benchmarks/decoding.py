"""Writing sentences, on one thread: ours with lean code, with the model's own code and without the cache, against nn.Transformer."""

import argparse
import random
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

from benchmarks.peers.plain import Plain
from benchmarks.suite import note, numbers
from benchmarks.tables import markdown, milliseconds, ratio, show_summary, summary, whole
from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS, ModelConfig
from playground.decoding import greedy, search
from playground.model.transformer import Transformer

ABOUT = "ms to write 12 tokens after 12, greedy, 32 sentences at once and by a beam of 4, against nn.Transformer"
OURS = {"ours, lean": {}, "ours, own code": {"fast": False}, "ours, no cache": {"cache": False}}
FIRST, PEER = next(iter(OURS)), "nn.Transformer, no cache"
KINDS = {"one": "one sentence", "batch": "{batch} sentences at once", "beam": "one, beam of {beam}"}
INNER = 4  # d_ff as a multiple of d_model
LENGTH, VOCABULARY = 12, 30  # tokens of a sentence on both sides; letters and special tokens
NEVER = -1e4  # added to the logits of special tokens: no sentence ends early
NOISE = 0.05  # added to every parameter, so that rounding changes no token
SMOKE = {"widths": [16], "rounds": 2, "batch": 3, "beam": 2, "heads": 2}
Sentences = list[list[int]]
Writer = Callable[[Sentences], list[tuple[int, ...]]]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--widths", type=numbers, default=[64, 128, 256], metavar="N,M", help="d_model; d_ff is four times as much")
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32, help="sentences at once")
    parser.add_argument("--beam", type=int, default=4, help="its width")
    parser.add_argument("--rounds", type=int, default=25, help="in which all that is compared takes its turn")


def run(options: argparse.Namespace) -> dict:
    """Returns {"rows", "agreement", "batch", "beam"}. Every writer has one thread, and every sentence grows to its full length.

    rows: {"d_model", "kind", "who", "seconds": of all sentences, "cpu": seconds of processor time, "rate": tokens/s, "ratio": times the
    processor time of our lean code in the same round}, summaries over the rounds. agreement: {"d_model", "kind", "who", "same", "of"}: how
    many sentences have the tokens that our lean code writes.
    """
    torch.set_num_threads(1)
    result: dict = {"rows": [], "agreement": [], "batch": options.batch, "beam": options.beam}
    for width in options.widths:
        _measure(options, width, result)
    return result


def _measure(options: argparse.Namespace, width: int, result: dict) -> None:
    config, sources = ModelConfig(d_model=width, n_heads=options.heads, d_ff=INNER * width), sentences(options.batch, 0)
    for kind, writers in _ways(options, endless(config), plain(config)).items():
        batch, spent = sources if kind == "batch" else sources[:1], {who: [] for who in writers}
        # the first call finds the caches cold
        texts = {who: write(sources if kind != "beam" else sources[:1]) for who, write in writers.items()}
        for who in set(writers) - {FIRST, PEER}:
            same = sum(ours == theirs for ours, theirs in zip(texts[FIRST], texts[who], strict=True))
            result["agreement"].append({"d_model": width, "kind": kind, "who": who, "same": same, "of": len(texts[who])})
        for _ in range(options.rounds):
            for who, write in writers.items():
                began, cpu = time.perf_counter(), time.process_time()
                write(batch)
                spent[who].append((time.perf_counter() - began, time.process_time() - cpu))
        result["rows"] += [
            {
                "d_model": width,
                "kind": kind,
                "who": who,
                "seconds": summary(seconds for seconds, _ in times),
                "cpu": summary(cpu for _, cpu in times),
                "rate": summary(len(batch) * LENGTH / seconds for seconds, _ in times),
                "ratio": summary(cpu / ours for (_, cpu), (_, ours) in zip(times, spent[FIRST], strict=True)),
            }
            for who, times in spent.items()
        ]
        note(f"{width:4d} {kind:<6}" + "".join(f" | {who} {1000 * min(cpu for _, cpu in times):.2f} ms" for who, times in spent.items()))


def _ways(options: argparse.Namespace, model: Transformer, peer: Plain) -> dict[str, dict[str, Writer]]:
    """Returns the writers of each kind."""
    ways: dict[str, dict[str, Writer]] = {kind: {} for kind in KINDS}
    for who, choice in OURS.items():
        plainly = lambda sources, choice=choice: [written.ids for written in greedy(model, sources, LENGTH, **choice)]  # noqa: E731
        ways["one"][who] = ways["batch"][who] = plainly
        ways["beam"][who] = lambda sources, choice=choice: [search(model, sources[0], options.beam, 0.0, LENGTH, **choice).ids]
    ways["one"][PEER] = ways["batch"][PEER] = partial(plain_greedy, peer)
    return ways


def endless(config: ModelConfig) -> Transformer:
    """A model with opinions, learnt from nothing, that writes letters only."""
    model = Transformer(config, VOCABULARY, VOCABULARY, torch.Generator().manual_seed(1)).eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=NOISE)
        model.projection.bias[: len(SPECIAL_TOKENS)] += NEVER
    return model


def plain(config: ModelConfig) -> nn.Module:
    """torch.nn.Transformer of the same size."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = Plain(VOCABULARY, VOCABULARY, config.d_model, config.n_heads, config.encoder_layers, config.d_ff, 0.0).eval()
    with torch.no_grad():
        model.generator.bias[: len(SPECIAL_TOKENS)] += NEVER
    return model


def sentences(count: int, seed: int) -> Sentences:
    """Letters in any order, without EOS."""
    dice = random.Random(seed)
    return [[dice.randrange(len(SPECIAL_TOKENS), VOCABULARY) for _ in range(LENGTH)] for _ in range(count)]


@torch.inference_mode()
def plain_greedy(model: Plain, sources: Sentences) -> list[tuple[int, ...]]:
    """As most people write it: the encoder once, then the whole decoder again for every token."""
    src = torch.tensor([[*source, EOS] for source in sources])
    written, inner = torch.full((len(sources), 1), BOS), model.transformer
    padding = src == PAD
    memory = inner.encoder(model._embed(model.src_embedding, src), src_key_padding_mask=padding)
    for length in range(1, LENGTH + 1):
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        embedded = model._embed(model.tgt_embedding, written)
        states = inner.decoder(embedded, memory, tgt_mask=future, memory_key_padding_mask=padding)
        written = torch.cat((written, model.generator(states[:, -1:]).argmax(dim=-1)), dim=1)
    return [tuple(row[1:]) for row in written.tolist()]


def table(result: dict) -> str:
    names = {kind: text.format(**result) for kind, text in KINDS.items()}
    head = ("d_model", "what", "who", "ms", "CPU ms", "tokens/s", "CPU of ours, lean, is 1")
    rows = (
        (
            str(row["d_model"]), names[row["kind"]], row["who"], show_summary(row["seconds"], milliseconds),
            show_summary(row["cpu"], milliseconds), whole(row["rate"]["median"]), show_summary(row["ratio"], ratio),
        )
        for row in result["rows"]
    )  # fmt: skip
    same = ((str(row["d_model"]), names[row["kind"]], row["who"], f"{row['same']}/{row['of']}") for row in result["agreement"])
    return f"{markdown(head, rows)}\n\nSentences with the same tokens as {FIRST}:\n\n{markdown(('d_model', 'what', 'who', 'same'), same)}"
