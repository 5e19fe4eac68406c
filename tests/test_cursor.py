"""Every place to look is declared once: what a field may be, its default, and what lets go of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import cursor
from playground.config import FORMER_NAMES, KNOBS, ModelConfig, Refusal
from playground.cursor import FIELDS
from playground.fields import Choice, Number, Text
from playground.inspection.activations import record
from playground.inspection.interventions import Edit, HeadId
from playground.lessons.labs import LABS
from playground.runs.names import new_id
from playground.ui.links import LISTS
from playground.ui.panels import diagnostics
from playground.variants import build

PANELS = Path(diagnostics.__file__).parent
each_field = pytest.mark.parametrize("name", FIELDS)


@each_field
def test_a_default_is_possible(name):
    field = FIELDS[name]
    assert not field.default or field.refusal(name, field.default, LISTS) is None


@each_field
def test_what_lets_go_of_a_field_is_a_field_and_leaves_nothing_behind(name):
    """Whoever lets go of a field lets go of all that belongs to that one, too."""
    for cause in FIELDS[name].reset_by:
        assert set(FIELDS[cause].reset_by) <= {*FIELDS[name].reset_by, cause}
    assert name not in FIELDS[name].reset_by


def test_no_field_is_called_like_a_knob():
    """Both stand in the same link."""
    assert not {*FIELDS, *cursor.FORMER_NAMES} & {*KNOBS, *FORMER_NAMES}


def test_every_list_is_there_and_none_too_many():
    named = {field.choices for field in FIELDS.values() if isinstance(field, Choice) and isinstance(field.choices, str)}
    assert named == LISTS.keys()


@pytest.mark.parametrize("name", [name for name, field in FIELDS.items() if isinstance(field, Text) and field.pattern])
def test_an_example_is_written_as_it_says(name):
    assert FIELDS[name].refusal(name, FIELDS[name].example) is None


@each_field
def test_a_number_is_brought_into_its_bounds_and_anything_else_is_the_default(name):
    field = FIELDS[name]
    if not isinstance(field, Number):
        return
    default = field.read("")
    assert default is None or field.low <= default <= field.high
    assert [field.read(text) for text in ("no", "nan", "-1", "１２", "1_0", "1e3")] == [default] * 6
    assert field.read("999999999") == field.high
    assert field.read("999999999", most=field.low) == field.low
    assert type(field.read(f"{field.high:.10g}")) is type(field.step)


def test_a_choice_that_is_not_offered_is_the_default_or_the_first():
    measure = FIELDS["measure"]
    assert measure.read("entropy", ("aligned", "entropy")) == "entropy"
    assert measure.read("soul", ("aligned", "entropy")) == "aligned"
    assert measure.read("aligned", ("entropy",)) == "entropy"
    assert FIELDS["sure"].read("12", ("50", "75")) == ""  # nobody has chosen


# ---- what the page writes into a field can be read from it -------------------------------------------------------------------------

heads = st.builds(HeadId, st.sampled_from(("encoder", "decoder", "cross")), st.integers(0, 5), st.integers(0, 7))
edits = st.builds(
    lambda row, given, masked: Edit(0, 3, row).mask(masked).give(*given),
    st.integers(0, 250), st.tuples(st.integers(0, 250), st.floats(0, 1).map(lambda weight: round(weight, 2))), st.integers(0, 250),
)  # fmt: skip


@given(off=st.lists(heads, min_size=1, max_size=6 * 8 * 3))
def test_heads_that_are_off(off):
    cursor.check("off", "_".join(map(str, off)))


@given(edit=edits)
def test_a_row_that_is_changed_by_hand(edit):
    cursor.check("cells", str(edit))


def test_every_stage_of_a_model():
    config = ModelConfig(d_model=8, n_heads=2, d_ff=8, norm="pre", positions="both")
    addresses = list(record(build(config, 8, 8).eval(), [5, 6], [6, 2]))
    for address in [*addresses, "encoder.0", "decoder.5"]:  # a folded layer, too
        cursor.check("stage", address)
    assert {"memory", "logits", "probabilities"} <= {*addresses}


@pytest.mark.parametrize("lab", LABS)
def test_the_settings_of_a_lab(lab):
    settings = LABS[lab].settings({})
    if settings:
        cursor.check("set", urlencode(settings))


def test_runs_beside_one_another():
    ids = ["german_english", *(new_id() for _ in range(40))]
    cursor.check("arms", ".".join(ids))
    cursor.check("compare", ",".join(ids))
    cursor.check("mapped", ids[-1])


# ---- declared nowhere else -----------------------------------------------------------------------------------------------------------


def test_no_panel_types_a_bound_or_a_default_again():
    """A panel reads a field by its name, perhaps with what is the most here; it names no lower bound and no default."""
    reads = {f"view.{kind}" for kind in ("number", "field", "choice", "said")}
    for file in PANELS.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in reads:
                others = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
                others += [inner for other in others if isinstance(other, ast.Tuple) for inner in other.elts]
                assert not any(isinstance(other, ast.Constant) for other in others), (file.name, ast.unparse(node))


def test_the_script_has_no_defaults_of_its_own():
    for file in (PANELS.parent / "static").glob("*.js"):
        emptied = set(re.findall(r"\b(\w+): \"\"", file.read_text(encoding="utf-8")))
        assert len(emptied & FIELDS.keys()) <= 3, f"{file.name} lists fields of the cursor with their defaults"


def test_what_the_script_is_told_is_what_its_own_tests_tell_it():
    page = (Path(__file__).parent / "js" / "page.js").read_text(encoding="utf-8")
    made_up = page.partition("cursor: {")[2].partition("languages:")[0]
    assert all(f"{name}: " in made_up for name in cursor.declared())


# ---- what was called otherwise before --------------------------------------------------------------------------------------------------


def test_former_names_and_values_are_still_read(monkeypatch):
    monkeypatch.setitem(cursor.FORMER_NAMES, "way", "method")
    monkeypatch.setitem(cursor.FORMER_VALUES, "method", {"argmax": "greedy"})
    assert cursor.read_query({"way": "beam"}, LISTS) == ({"method": "beam"}, {})
    assert cursor.read_query({"way": "argmax"}, LISTS) == ({"method": "greedy"}, {})
    assert cursor.read_query({"way": "beam", "method": "sample"}, LISTS) == ({"method": "sample"}, {})
    found, ignored = cursor.read_query({"way": "soul"}, LISTS)
    assert (found, set(ignored)) == ({}, {"method"})
    assert cursor.declared()["former_names"] == {"way": "method"}


def test_what_there_is_not_is_a_refusal():
    with pytest.raises(Refusal):
        cursor.check("teacher", "x")
    with pytest.raises(Refusal):
        cursor.check("view", "x")
    cursor.check("view", "")
    cursor.check("tab", "x")  # without the lists nothing is known of it
