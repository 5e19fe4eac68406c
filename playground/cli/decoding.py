"""The command that asks a trained run."""

from __future__ import annotations

import argparse
import json
from types import SimpleNamespace


def translate(options: argparse.Namespace) -> int:
    from playground.queries import translate
    from playground.queries.reader import Reader
    from playground.runs.corpora import Corpora
    from playground.runs.disk.folder import Folder

    method = "beam" if options.beam is not None else "sample" if options.sample is not None else "greedy"
    asked = {"width": options.beam, "temperature": options.sample}
    way = translate.DecodingOptions(
        method, length_penalty=options.length_penalty, top_k=options.top_k, top_p=options.top_p, seed=options.seed, prefix=options.prefix,
        **{name: value for name, value in asked.items() if value is not None},
    )  # fmt: skip
    run, reader = Folder(options.run).run, Reader(SimpleNamespace(corpora=Corpora()), threads=1)
    try:
        for text in options.text:
            found = translate.translate(reader, run, options.step, text, way)
            outputs = [
                {"text": c.text, "score": c.score, "finished": c.finished, "correct": c.correct, "probabilities": c.probabilities}
                for c in found.candidates
            ]
            said = {"source": text, "step": found.step, "outputs": outputs, "references": found.references}
            print(json.dumps(said, ensure_ascii=False) if options.json else found.candidates[0].text, flush=True)
    finally:
        reader.close()
    return 0
