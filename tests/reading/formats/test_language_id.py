"""Truths about languages: what lines are in is said where it is clear, the same on every machine, and otherwise nothing."""

import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest

from playground.reading.formats.language_id import letter_script, line_language, line_script, main_language
from tests.thoroughness import every_case

PROSE = {  # the beginning of the Universal Declaration of Human Rights and the like: lines as people write them
    "en": [
        "All human beings are born free and equal in dignity and rights.", "They are endowed with reason and conscience.",
        "Everyone has the right to life and to security of person.", "No one shall be held in slavery.", "She walked to the old house.",
    ],
    "de": [
        "Alle Menschen sind frei und gleich an Würde und Rechten geboren.", "Sie sind mit Vernunft und Gewissen begabt.",
        "Jeder hat das Recht auf Leben und Sicherheit der Person.", "Niemand darf in Sklaverei gehalten werden.", "Sie ging zum Haus.",
    ],
    "fr": [
        "Tous les êtres humains naissent libres et égaux en dignité et en droits.", "Ils sont doués de raison et de conscience.",
        "Tout individu a droit à la vie et à la sûreté de sa personne.", "Nul ne sera tenu en esclavage.", "Elle va à la maison.",
    ],
    "es": [
        "Todos los seres humanos nacen libres e iguales en dignidad y derechos.", "Están dotados de razón y conciencia.",
        "Todo individuo tiene derecho a la vida y a la seguridad.", "Nadie estará sometido a esclavitud.", "Ella no está en casa.",
    ],
    "ru": [
        "Все люди рождаются свободными и равными в своём достоинстве и правах.", "Они наделены разумом и совестью.",
        "Каждый человек имеет право на жизнь и на свободу.", "Никто не должен содержаться в рабстве.", "Она пошла к дому.",
    ],
    "uk": [
        "Всі люди народжуються вільними і рівними у своїй гідності та правах.", "Вони наділені розумом і совістю.",
        "Кожна людина має право на життя і на особисту недоторканність.", "Ніхто не повинен бути в рабстві.", "Вона пішла до хати.",
    ],
    "ar": ["يولد جميع الناس أحرارا متساوين في الكرامة والحقوق.", "لكل فرد الحق في الحياة.", "هذا هو البيت الذي كان هنا.", "ما هذا؟"],
    "fa": ["تمام افراد بشر آزاد به دنیا می‌آیند.", "هر کس حق زندگی دارد که از آن اوست.", "این کتاب را به من بده.", "او در خانه است."],
    "zh": ["人人生而自由，在尊严和权利上一律平等。", "他们赋有理性和良心。", "人人有权享有生命。"],
    "ja": ["すべての人間は、生れながらにして自由である。", "人間は理性と良心とを授けられている。", "何人も奴隷にされることはない。"],
    "ko": ["모든 인간은 태어날 때부터 자유롭다.", "인간은 이성과 양심을 부여받았다.", "아무도 노예 상태에 놓이지 않는다."],
    "el": ["Όλοι οι άνθρωποι γεννιούνται ελεύθεροι.", "Είναι προικισμένοι με λογική.", "Κανείς δεν είναι δούλος."],
}  # fmt: skip


@pytest.mark.parametrize("language", PROSE)
def test_prose_is_in_its_language(language):
    assert main_language(PROSE[language]) == language


@every_case(
    "lines",
    [
        [], [""], ["", "  "], ["1 2 3", "4 5 6"], ["cat", "dog", "house"], ["x y z"] * 10, ["walk ( agent = Emma )"] * 3,
        [*PROSE["en"], *PROSE["ru"]], [*PROSE["en"][:3], *PROSE["zh"]], ["नमस्ते दुनिया", "यह एक किताब है"],
        ["Kiboko yuko mtoni.", "Habari gani?"],
    ],
)  # fmt: skip
def test_what_is_not_clear_is_no_language(lines):
    assert main_language(lines) == ""


def test_a_line_and_a_letter():
    assert [line_language(line) for line in ("Where is the dog?", "Wo ist der Hund?", "xyz", "")] == ["en", "de", "", ""]
    lines = ("abc", "абв a", "汉字 a", "漢字かな", "3 + 4", "")
    assert [line_script(line)[0] for line in lines] == ["LATIN", "CYRILLIC", "CJK", "JAPANESE", "", ""]
    assert [letter_script(letter) for letter in "aжあ汉"] == ["LATIN", "CYRILLIC", "HIRAGANA", "CJK"]


def test_the_evidence_is_the_same_in_every_process():
    """Sums of fractions differ in their last bit by the order of their parts, and a set of words has another order in every process."""
    lines = list(chain.from_iterable(PROSE.values()))
    code = f"from playground.reading.formats.language_id import _scores; print(*map(_scores, {lines!r}))"
    command, folder = [sys.executable, "-c", code], Path(__file__).parents[3]
    runs = [subprocess.run(command, cwd=folder, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True) for seed in "123"]
    assert len({run.stdout for run in runs}) == 1
