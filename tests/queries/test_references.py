"""What is right for own sentences is looked up, not searched for."""

import gc
import weakref

from playground.queries import references
from playground.reading.uploads import Pair, Pairs
from playground.runs.disk.folder import Folder
from playground.runs.disk.store import first_files, write_run
from playground.runs.run import Run
from tests.runs.tiny import tiny

OWN = tiny(task="own", own="upload")


def test_the_right_answers_to_own_sentences():
    pairs = Pairs((Pair("a b", "x", 1), Pair("c", "y", 2), Pair("a b", "z", 3)), {}, 3, "tsv", ("a.tsv",))
    run = Run("an-id-of-a-run-of-own", "some-name", OWN, data=pairs)
    assert references.references(run, "a b") == ("x", "z")
    assert references.references(run, "c") == ("y",)
    assert references.references(run, "d") is None
    assert references.references(Run("an-id-of-a-run-of-none", "some-name", OWN), "c") is None


def test_runs_of_the_same_data_share_what_is_right_and_let_it_go_together(tmp_path):
    """Even after a restart, when each has read its own file."""
    data = Pairs(tuple(Pair(f"s{n}", f"t{n}", n) for n in range(10)), {}, 10, "tsv", ("a.tsv",))
    for name in ("one", "two"):
        write_run(tmp_path / name, run := Run(f"an-id-of-the-run-{name}", name, OWN, data=data), first_files(run))
    one, two = (Folder(tmp_path / name).run for name in ("one", "two"))
    assert one.pairs is two.pairs is data
    del data, run
    one.release()
    two.release()
    gc.collect()
    one, two = (Folder(tmp_path / name).run for name in ("one", "two"))
    assert one.pairs.references is two.pairs.references
    assert references.references(two, "s3") == ("t3",)
    gone = weakref.ref(one.pairs)
    one.release()
    assert gone() is two.pairs
    two.release()
    gc.collect()
    assert gone() is None
