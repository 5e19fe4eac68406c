"""The Data tab: the sentences of a run, their tokens and ids, and the splits the model isn't trained on."""

from __future__ import annotations

from playground.cursor import choices
from playground.reading.pairs import report
from playground.ui import blocks
from playground.ui.titles import title
from playground.ui.upload import summary, uploading
from playground.ui.view import View, tokens
from playground.words import known, paragraph

SHOWN_SENTENCES = 4


def panel(view: View) -> dict:
    task, sizes = view.run.experiment.data.task, view.reader.sizes(view.run)
    splits_present = [name for name in choices("split") if sizes.get(name)]
    split = view.choice("split", splits_present)
    pairs = view.reader.examples(view.run, split, SHOWN_SENTENCES)
    splits = [{"value": name, "label": view.say(f"page.split_{name}", count=f"{sizes[name]:,}")} for name in splits_present]
    sentence_pieces = view.reader.pieces(view.run, view.text)
    lines = [{"label": view.say("page.this_sentence"), "tokens": tokens(sentence_pieces), "side": ""}]
    for source, target in pairs:
        lines.append({"label": view.say("page.source"), "tokens": tokens(view.reader.pieces(view.run, source)), "side": ""})
        lines.append({"label": view.say("page.target"), "tokens": tokens(view.reader.pieces(view.run, target, "tgt")), "side": ""})
    about = view.say(f"tasks.{task}.about") if known(view.language, f"tasks.{task}.about") else ""
    harder = view.say(f"tasks.{task}.harder") if split == "harder" and known(view.language, f"tasks.{task}.harder") else ""
    sizes_text = view.say("page.vocabulary_sizes", source=sizes["src_vocabulary"], target=sizes["tgt_vocabulary"], longest=sizes["longest"])
    statistics, own_upload, pairs_read = view.reader.statistics(view.run), view.run.experiment.data.own, view.run.pairs
    facts, left_out = summary.describe_counts(statistics, view), view.reader.left_out(view.run)
    if pairs_read:
        facts += summary.excluded_pairs(pairs_read, left_out, statistics, view.run.experiment.data.max_tokens, view)
    return {
        "step": None,
        "blocks": [
            blocks.text("of", view.say("page.sentences_of", run=title(view.run, view.language, view.token)), css="pg-heading"),
            blocks.text("about", about, css="pg-about"),
            blocks.choice("split", "split", view.say("page.split"), splits, split),
            *([blocks.text("account", paragraph(report(pairs_read, view.language)), css="pg-caption")] if pairs_read else []),
            *([blocks.text("harder", harder, css="pg-caption")] if harder else []),
            blocks.chips("pieces", *lines, ids=True),
            blocks.text("sizes", sizes_text, css="pg-caption"),
            blocks.text("facts", paragraph(facts), css="pg-caption"),
            *(summary.too_long(pairs_read, left_out, view, "data") if pairs_read else []),
            *summary.pictures(statistics, view, "data"),
            *([blocks.text("credit", view.say("page.credit", credit=view.run.credit), css="pg-caption")] if view.run.credit else []),
            *([uploading.download_links(own_upload, len(pairs_read.pairs), view)] if own_upload and pairs_read else []),
        ],
    }
