"""Two lives with the same parameters: what is fed differs, nothing else."""

import numpy as np

from playground.config import BOS, EOS
from playground.decoding import greedy, trace
from playground.features.shared.decoding import find_wrong
from playground.features.teacher_forcing import query as teacher_forcing
from playground.features.teacher_forcing.query import compare, read_lens

KNOBS = {"task": "reverse", "steps": 12, "dropout": 0.0}


def ids_of(look):
    return [piece.id for piece in look]


def test_both_lives_are_the_same_until_they_part_and_a_correction_goes_on_from_there(run, reader, model):
    text, answer = reader.examples(run)[0]
    result, right = compare(reader, run, None, text), [*run.tokenizers[1].encode(answer), EOS]
    free, forced, at = ids_of(result.free.targets), ids_of(result.forced.targets), result.parted
    assert (forced, ids_of(result.forced.fed), ids_of(result.free.fed[1:])) == (right, [BOS, *right[:-1]], free[:-1])
    assert at is not None, "twelve steps are too few to be right"
    assert free[:at] == forced[:at]
    assert free[at : at + 1] != forced[at : at + 1]
    np.testing.assert_allclose(result.free.cross[:, :, : at + 1], result.forced.cross[:, :, : at + 1], atol=1e-5)
    assert read_lens(reader, run, None, text, free)[-1].argmax(axis=-1).tolist() == free
    again = compare(reader, run, None, text, fix=(at, right[at]))
    written, source = ids_of(again.corrected.targets), run.tokenizers[0].encode(text)
    assert written == [*greedy(model, [source], 2 * len(source) + 16, prefix=tuple(right[: at + 1]))[0].ids]
    assert written[: at + 1] == right[: at + 1]
    assert (again.recovered is not None) == (written[-1:] == right[-1:] and len(written) == len(right))
    assert ids_of(again.free.targets) == free  # never overwritten
    assert compare(reader, run, None, text, fix=(len(free) - 1, EOS)).corrected.targets[-1].id == EOS
    for fix in ((99, 5), (0, 10**6), (0, 0), (-1, 5)):  # one that makes no sense
        assert compare(reader, run, None, text, fix=fix).corrected is None


def test_first_come_those_that_teacher_forcing_saves_and_recovered_is_where_both_are_the_same_again(run, reader, model):
    wrong, (src, tgt) = find_wrong(reader, run, None, reader.examples(run)[:6]), run.tokenizers
    assert len(wrong) > 1

    def saved(text: str) -> int:
        answer, free = (*tgt.encode(text[::-1]), EOS), compare(reader, run, None, text).free
        fed = trace(model, src.encode(text), answer).probabilities.argmax(axis=-1)
        return sum(one == other for one, other in zip(fed, answer, strict=True)) - sum(free.right)

    assert saved(wrong[0]) == max(map(saved, wrong))
    right, cases = (7, 5, 2), {(7, 5, 2): 1, (7, 9, 2): 2, (9, 5, 2): 1, (7, 5, 9): None, (7, 2): None}
    assert {ids: teacher_forcing._find_recovery(ids, right, 1) for ids in cases} == cases
