"""Commands that use a trained run: translate sentences or files, score a file, and align the words of pairs."""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from playground.cli.options import ENCODING, RUN, STEP, Commands, add_command, add_decoding
from playground.config import Refusal
from playground.cursor import FIELDS
from playground.words import ENGLISH, say

METRICS = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
AT_ONCE = 1000  # lines that are read before the first of them is written
TOKENIZE = ("13a", "intl", "zh", "char", "none")
NAMED = 10  # unknown tokens that are listed


class Open(NamedTuple):
    """A run with its reader."""

    reader: Any
    run: Any


def add_translate(commands: Commands) -> None:
    command = add_command(commands, "translate", translate, "translate with a trained run")
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("text", nargs="*", metavar="TEXT", help="a sentence each; without any, every line of the standard input")
    files = "translate files of plain lines, or the source side of pairs"
    command.add_argument("--input", nargs="+", type=Path, default=[], metavar="FILE", help=files)
    command.add_argument("--encoding", default="", metavar="NAME", help=ENCODING)
    add_decoding(command)
    command.add_argument("--sample", type=float, metavar="TEMPERATURE", help="sample each token at this temperature")
    command.add_argument("--top-k", type=int, default=0, help="sample from this many of the most likely tokens; 0: from all")
    command.add_argument("--top-p", type=float, default=1.0, help="sample from the fewest tokens whose probabilities sum to this")
    command.add_argument("--seed", type=int, default=0, help="random seed of sampling")
    for name, rule in (("must", "must come"), ("must-not", "must not come, nor a longer word that begins with its pieces")):
        about = f"a word or phrase that {rule} (may be repeated); with beam search, which it chooses"
        command.add_argument(f"--{name}", action="append", default=[], metavar="WORD", help=about)
    about = "the output starts with this text; of a whole target --json says the score and the probability of each token"
    command.add_argument("--prefix", default="", metavar="TEXT", help=about)
    command.add_argument("--step", type=int, help=STEP)
    command.add_argument("--json", action="store_true")


def translate(options: argparse.Namespace) -> int:
    from playground.features.translate.query import DecodingOptions

    files = (_read_sides([file], options)[0] for file in options.input)
    typed = (line.removesuffix("\n") for line in sys.stdin)
    lines = chain.from_iterable(files) if options.input else typed if sys.stdin.isatty() else _read_piped(options)
    with _open_run(options) as opened:
        constrained, wins = bool(options.must or options.must_not), opened.run.beam_width > 1
        sampled = options.sample is not None and options.beam is None
        method = "sample" if sampled else "greedy" if options.beam is None and not (constrained or wins) else "beam"
        numbers = {"width": options.beam, "temperature": options.sample}
        way = DecodingOptions(
            method, length_penalty=options.length_penalty, top_k=options.top_k, top_p=options.top_p, seed=options.seed,
            prefix=options.prefix, copy_unknown=options.copy_unknown, must=tuple(options.must), must_not=tuple(options.must_not),
            **{name: value for name, value in numbers.items() if value is not None},
        )  # fmt: skip
        if options.text or options.json or sampled or options.prefix or constrained:
            _translate_each(opened, options.text or lines, way, options)
        else:
            _translate_batched(opened, lines, way, options)
    return 0


def translate_light(options: argparse.Namespace) -> bool:
    """Prints what `translate` would, in numpy alone: torch's import takes several times as long as all the rest. Only for typed sentences,
    decoded greedily by an ordinary run; returns False for all others, and for damaged files, of which `translate` says what is wrong."""
    from playground.cli.lines import translate_texts

    plain = {
        "json": False, "input": [], "must": [], "must_not": [], "prefix": "", "sample": None, "top_k": 0, "top_p": 1.0, "step": None,
        "copy_unknown": False, "average": 1, "length_penalty": FIELDS["penalty"].read(""),
    }  # fmt: skip
    if not options.text or options.beam not in (None, 1) or any(getattr(options, name) != value for name, value in plain.items()):
        return False
    try:
        outputs, unread = translate_texts(options.run, options.text, options.beam == 1)
    except (Refusal, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return False
    print(*outputs, sep="\n")
    _tell_notes(unread)
    return True


def _translate_each(opened: Open, texts: Iterable[str], way: Any, options: argparse.Namespace) -> None:
    """Prints each output as soon as it is decoded, with --json with all its details."""
    from playground.features.translate.query import translate

    unread: dict[str, None] = {}
    for text in texts:
        translation = translate(*opened, options.step, text, way)
        unread |= dict.fromkeys(piece.text for piece in translation.source if not piece.known)
        outputs = [
            {name: getattr(candidate, name) for name in ("text", "score", "finished", "correct", "probabilities")}
            | {"copied": [word for word in candidate.copied if word is not None]}
            for candidate in translation.candidates
        ]
        record = {"source": text, "step": translation.step, "outputs": outputs, "references": translation.references}
        print(json.dumps(record, ensure_ascii=False) if options.json else translation.candidates[0].text, flush=True)
    _tell_notes(unread)


def _translate_batched(opened: Open, lines: Iterator[str], way: Any, options: argparse.Namespace) -> None:
    """Prints the outputs alone, decoded in batches: the same text, many times as fast."""
    from playground.cli.lines import translate_lines
    from playground.features.translate.query import check_options

    check_options(way)
    cut, copied, unread = 0, 0, {}
    while texts := list(islice(lines, AT_ONCE)):
        width = way.width if way.method == "beam" else 1
        for line in translate_lines(*opened, options.step, texts, width, way.length_penalty, way.copy_unknown):
            print(line.output)
            cut, copied, unread = cut + line.cut, copied + line.copied, unread | dict.fromkeys(line.unread)
        sys.stdout.flush()
    _tell_notes(unread, cut, copied)


def add_score(commands: Commands) -> None:
    command = add_command(commands, "score", score, "translate a file with a trained run, and measure BLEU, chrF and TER with sacrebleu")
    command.add_argument("run", nargs="?", metavar="RUN", help=f"{RUN}; none with --hypotheses")
    command.add_argument("files", nargs="*", type=Path, metavar="FILE", help="sentences, one per line, and their references; or pairs")
    command.add_argument("--hypotheses", type=Path, metavar="FILE", help="score these outputs of any system; other files are references")
    command.add_argument("--encoding", default="", metavar="NAME", help=ENCODING)
    add_decoding(command)
    command.add_argument("--step", type=int, help=STEP)
    command.add_argument("--tokenize", choices=TOKENIZE, help="sacrebleu's, for BLEU; by default as the references are written")
    command.add_argument("-o", "--out", type=Path, metavar="FILE", help="write the outputs here, line by line")
    command.add_argument("--json", action="store_true", help="one JSON object")


def score(options: argparse.Namespace) -> int:
    from playground.cli.lines import translate_lines
    from playground.features.evaluation.query import RESAMPLES
    from playground.features.translate.query import DecodingOptions, check_options
    from playground.training.bleu import score_outputs

    if options.hypotheses:
        first = [Path(options.run)] if options.run else []  # no run is needed: it is a file too
        outputs, references = _read_references([options.hypotheses, *first, *options.files], options)
        report = _scores(outputs, score_outputs(outputs, references, options.tokenize, RESAMPLES))
        print(json.dumps(report) if options.json else "\n".join(_score_rows(report)))
        return 0
    sources, references = _read_references(options.files, options)
    check_options(DecodingOptions(width=1 if options.beam is None else options.beam, length_penalty=options.length_penalty))
    started = time.perf_counter()
    with _open_run(options) as opened:
        width = opened.run.beam_width if options.beam is None else options.beam
        lines = list(translate_lines(*opened, options.step, sources, width, options.length_penalty, options.copy_unknown))
        step = opened.run.parameters_at(options.step)[0]
    seconds, outputs = time.perf_counter() - started, [line.output for line in lines]
    if options.out:
        options.out.write_text("".join(f"{output}\n" for output in outputs), encoding="utf-8", newline="")
    scored = score_outputs(outputs, references, options.tokenize, RESAMPLES)
    report = {
        **_scores(outputs, scored), "step": step, "beam": width, "length_penalty": options.length_penalty if width > 1 else None,
        "with_unknown": sum(line.unknown for line in lines), "copied": sum(line.copied for line in lines),
        "unfinished": sum(not line.finished for line in lines), "cut": sum(line.cut for line in lines), "seconds": round(seconds, 3),
    }  # fmt: skip
    print(json.dumps(report) if options.json else _table(report))
    _tell_notes(dict.fromkeys(token for line in lines for token in line.unread), report["cut"], report["copied"])
    return 0


def _read_references(files: Sequence[Path], options: argparse.Namespace) -> tuple[list[str], list[list[str]]]:
    """Reads sentences, and of each all its references: the second side of a file of pairs, or one line of each further file."""
    if not files:
        raise Refusal("evaluation.no_references", name=options.run or "score")
    first, *further = files
    sides = [_check_sides(first, file, options) for file in further or [None]]
    return sides[0][0], [list(several) for several in zip(*(references for _, references in sides), strict=True)]


def _scores(outputs: Sequence[str], scored: Any) -> dict[str, Any]:
    report = {"sentences": len(outputs), "tokenize": scored.tokenize, **scored.measured._asdict(), "exact_match": scored.exact_match}
    return report | {name: getattr(scored, name) for name in ("ter", "ter_signature", "ter_reach")}


def add_align(commands: Commands) -> None:
    about = "align the words of given translations by cross-attention: a line for each pair, as 0-0 1-2 (Pharaoh's format)"
    command = add_command(commands, "align", align, about)
    command.add_argument("run", metavar="RUN", help=RUN)
    command.add_argument("source", type=Path, metavar="SOURCE", help="a file of sentences, one per line, or of pairs")
    command.add_argument("reference", nargs="?", type=Path, metavar="REFERENCE", help="a file of their translations, line by line")
    command.add_argument("--encoding", default="", metavar="NAME", help=ENCODING)


def align(options: argparse.Namespace) -> int:
    from playground.export.exported_run import export_run, find
    from playground.pretrained import build_pretrained

    model = build_pretrained(export_run(find(options.run)).model_files())
    for source, target in zip(*_check_sides(options.source, options.reference, options), strict=True):
        print(model.align(source, target) if source and target else "", flush=True)
    return 0


def _check_sides(file: Path, second: Path | None, options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Reads sentences and their translations. Raises Refusal where there are none, or another number of them."""
    sources, references = _read_sides([path for path in (file, second) if path], options)
    if references is None:
        raise Refusal("evaluation.no_references", name=str(file))
    if len(sources) != len(references) or not sources:
        raise Refusal("evaluation.unequal", one=str(file), lines=len(sources), two=str(second or file), others=len(references))
    return sources, references


def _score_rows(report: dict[str, Any]) -> list[str]:
    reach = {name: "" if report[f"{name}_reach"] is None else f" ± {report[f'{name}_reach']:.1f}" for name in METRICS}
    return [f"{label:<5} {report[name]:5.1f}{reach[name]}   {report[f'{name}_signature']}" for name, label in METRICS.items()]


def _table(report: dict[str, Any]) -> str:
    rows = _score_rows(report)
    way = f"beam of {report['beam']}, length penalty {report['length_penalty']:g}" if report["length_penalty"] is not None else "greedy"
    rows.append("length ratio {length_ratio:.3f}, exact match {exact_match:.1%}, outputs with <unk> {with_unknown:,}".format(**report))
    rows.append("{sentences:,} sentences in {seconds:.1f} s, {way}, step {step:,}".format(**report, way=way))
    return "\n".join(rows)


def _tell_notes(unread: Iterable[str], cut: int = 0, copied: int = 0) -> None:
    """Prints the unknown tokens to stderr, and how many lines were cut and words copied."""
    names = [*unread]
    if names:
        words = " ".join(names[:NAMED]) + (f" … ({len(names):,})" if len(names) > NAMED else "")
        print(say(ENGLISH, "page.unknown_words", words=words), file=sys.stderr)
    if cut:
        print(Refusal("runs.lines_cut", count=cut), file=sys.stderr)
    if copied:
        print(say(ENGLISH, "decoding.copied_words", count=f"{copied:,}"), file=sys.stderr)


def _read_sides(files: list[Path], options: argparse.Namespace) -> tuple[list[str], list[str] | None]:
    return _read([(str(file), file.read_bytes()) for file in files], options)


def _read(files: list[tuple[str, bytes]], options: argparse.Namespace) -> tuple[list[str], list[str] | None]:
    from playground.reading.uploads import read_sentences

    return read_sentences(files, options.encoding)


def _read_piped(options: argparse.Namespace) -> Iterator[str]:
    """Reads standard input to its end like a file: in any encoding and format."""
    yield from _read([("stdin", sys.stdin.buffer.read())], options)[0]


@contextmanager
def _open_run(options: argparse.Namespace) -> Iterator[Open]:
    from playground.export.exported_run import find
    from playground.features.shared.queries.reader import Reader
    from playground.runs.corpora import Corpora

    if options.average != 1 and options.step is not None:
        raise Refusal("runs.average_of_step")
    run, reader = find(options.run), Reader(SimpleNamespace(corpora=Corpora()), threads=1)
    run.average(options.average)
    try:
        yield Open(reader, run)
    finally:
        reader.close()
