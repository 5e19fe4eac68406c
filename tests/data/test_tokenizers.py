"""Truths about tokenizers: there and back again, the same bytes every time, and a sentence for every bad setting."""

import base64
import json
from functools import cache
from itertools import product

import pytest
import sentencepiece
from hypothesis import given, strategies as st

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS, UNK, Refusal
from playground.data import tokenizers
from playground.data.readable import continuing_tokens, find_unknown, replace_word, spell_word
from playground.data.tokenizers import LARGEST, CharacterTokenizer, WordTokenizer, load_tokenizer, train_tokenizer
from playground.reading.text import normalise

KINDS = ("characters", "words", *(PIECES := ("bpe", "unigram")))
SENTENCES = ["the cat sat on the mat", "a dog ran to the cat", "der Käse schmeckt", "über den Wolken", "猫 が 好き です", "x<y & <s>"] * 3
trained = cache(lambda kind: train_tokenizer(kind, SENTENCES, 96))
any_text = st.text(st.characters(codec=None), max_size=40)


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    return train_tokenizer(request.param, SENTENCES, 96)


def test_known_sentences_come_back_and_the_same_sentences_give_the_same_bytes(tokenizer):
    again, loaded = train_tokenizer(tokenizer.kind, SENTENCES, 96), load_tokenizer(tokenizer.to_bytes())
    assert tuple(map(tokenizer.piece, (PAD, BOS, EOS, UNK))) == SPECIAL_TOKENS
    assert len({tokenizer.piece(token) for token in range(tokenizer.size)}) == tokenizer.size
    for token in (-1, tokenizer.size):
        with pytest.raises(IndexError):
            tokenizer.piece(token)
    assert again.to_bytes() == loaded.to_bytes() == tokenizer.to_bytes()
    assert (type(loaded), loaded.kind, loaded.size) == (type(tokenizer), tokenizer.kind, tokenizer.size)
    for sentence in [*SENTENCES, "  the   mat\tran ", "ka\u0308se".replace("k", "K"), "<pad> <bos> <eos> <unk> <s> </s>", "", "Ω unknown"]:
        ids = tokenizer.encode(sentence)
        assert UNK in ids or tokenizer.decode(ids) == normalise(sentence)
        assert UNK not in ids or sentence not in SENTENCES
        assert all(BOS < token < tokenizer.size and token != EOS for token in ids), "names of special tokens are text"
        pieces = tokenizer.pieces(sentence)
        assert [token for _, token in pieces] == ids == loaded.encode(sentence)
        assert all(token == UNK or tokenizer.piece(token) == text for text, token in pieces)
    assert [text for text, token in tokenizer.pieces("the Ω") if token == UNK] == ["Ω"]


@pytest.mark.parametrize("kind", PIECES)
def test_a_word_is_spelled_in_every_way(kind):
    pieces = trained(kind)
    for word, texts in (("cat", ("▁cat",)), ("a dog", ("▁a▁dog",)), ("好き", ("好き", "▁好き"))):
        parts = [token for token in range(UNK + 1, pieces.size) if any(pieces.piece(token) in text for text in texts)]
        ways = {ids for n in range(1, 5) for ids in product(parts, repeat=n) if "".join(map(pieces.piece, ids)) in texts}
        spellings = spell_word(pieces, word)
        assert {ids for ids in spellings if len(ids) < 5} == ways
        assert len(texts) == 2 or spellings[0] == tuple(pieces.encode(word))
    assert {pieces.piece(token)[0] for token in continuing_tokens(pieces)} >= {*"catdogü"} - {*"▁<猫好"}
    assert (spell_word(WordTokenizer(["a", "b"]), "b a"), continuing_tokens(WordTokenizer(["a"]))) == ([(5, 4)], frozenset())


def test_decoding_stops_at_eos_and_writes_what_is_unknown_or_what_stands_for_it(tokenizer):
    ids, cat = tokenizer.encode("the"), tokenizer.encode("the cat")
    assert tokenizer.decode([BOS, PAD, *cat, EOS, *cat]) == "the cat"
    assert tokenizer.decode([]) == tokenizer.decode([EOS, *cat]) == ""
    written = tokenizer.decode([UNK, *cat, UNK, EOS])
    assert (written[:5], written[-5:], "the cat" in written) == ("<unk>", "<unk>", True)
    written = tokenizer.decode([UNK, *ids, UNK, UNK, EOS, UNK], ["<unk>x", *[None] * len(ids), None, "Ω"])
    assert written.replace(" ", "") == "<unk>xthe<unk>Ω", "one for each id; what looks like a token is left as it is"




@given(st.lists(any_text.filter(normalise), min_size=1, max_size=5), st.sampled_from(("characters", "words")))
def test_all_that_was_learnt_comes_back_and_any_text_can_be_encoded(sentences, kind):
    loaded = load_tokenizer(train_tokenizer(kind, sentences, 16).to_bytes())
    for sentence in sentences:
        assert loaded.decode(loaded.encode(sentence)) == normalise(sentence)
        for tokenizer in map(trained, KINDS):  # which have learnt others
            assert [token for _, token in tokenizer.pieces(sentence)] == tokenizer.encode(sentence)
            tokenizer.decode(tokenizer.encode(sentence)).encode("utf-8")


def test_characters_and_words_by_hand():
    characters = train_tokenizer("characters", ["b a", "c"], 16)
    assert characters.symbols == (" ", "a", "b", "c")
    assert characters.pieces("a b!") == [("a", 5), ("␣", 4), ("b", 6), ("!", UNK)]
    assert b"clusters" not in characters.to_bytes(), "saved as before where every character is one code point"
    whole = ["👩\u200d🔬", "🇩🇪", "🇫🇷", "❤\ufe0f", "👍🏽", "x\u0323\u0301", "क्", "षि"]
    marked = load_tokenizer(train_tokenizer("characters", ["".join(whole)], 16).to_bytes())
    assert [text for text, _ in marked.pieces("".join(whole))] == whole
    assert load_tokenizer('{"kind":"characters","symbols":["👍","🏽"]}'.encode()).encode("👍🏽") == [4, 5], "as it was trained"
    words = train_tokenizer("words", ["one two", "three"], 16)
    assert words.encode("two  four one") == [6, UNK, 4]
    assert words.decode([6, UNK, 4]) == "two <unk> one", "never passed over in silence"
    many = [f"w{n}" for n in range(LARGEST + 50)]
    frequent = train_tokenizer("words", [" ".join(many), " ".join(many[100:])], 16)
    assert frequent.size == LARGEST
    assert UNK in frequent.encode("w99")
    assert UNK not in frequent.encode("w100 w8049")


@pytest.mark.parametrize("kind", PIECES)
def test_small_and_odd_data_give_small_vocabularies_or_are_refused_and_the_trainer_prints_nothing(kind, capfd, monkeypatch):
    for sentences in (["a"], ["ab"] * 5, ["aaaa" * 600], ["猫が好き"], ["▁a ▁▁"], ["a ▅ b", "▅"], ["x" * 9000 + " end"]):
        tokenizer = train_tokenizer(kind, sentences, LARGEST)
        assert 4 < tokenizer.size < 100
        tokenizer.encode(sentences[0])
    assert UNK not in train_tokenizer(kind, ["a" * 9000 + "z"], 64).encode("az"), "characters of long lines are learnt too"
    monkeypatch.setattr(tokenizers, "_MAX_CHARACTERS", 10)
    few = train_tokenizer(kind, ["ab ab", "ac ac", "z"], 64)
    assert (UNK in few.encode("a b c"), UNK in few.encode("z")) == (False, True), "of very many sentences the first are enough"
    monkeypatch.undo()
    alphabet = ["abcdefghijklmnopqrstuvwxyz " * 3]  # with 4 special tokens and the mark of a word's start 31, in steps of 8: 32
    assert train_tokenizer(kind, alphabet, 32).size == 32
    for sentences, vocabulary, key, values in (
        (alphabet, 24, "data.vocabulary_too_small", {"needed": 32}), (["▅"], 64, "data.no_pieces", {}),
        (["▁ ▁▁"], 64, "data.no_pieces", {}),
        (["".join(map(chr, range(0x4E00, 0x4E00 + LARGEST)))], LARGEST, "data.too_many_characters", {}),
    ):  # fmt: skip
        with pytest.raises(Refusal) as refused:
            train_tokenizer(kind, sentences, vocabulary)
        assert refused.value.key == key
        assert values.items() <= refused.value.values.items()
    assert capfd.readouterr() == ("", "")


def test_bad_arguments_never_reach_the_trainer(monkeypatch):
    monkeypatch.setattr(sentencepiece.SentencePieceTrainer, "train", lambda **_: pytest.fail("the trainer saw it"))
    for vocabulary in (15, -1, LARGEST + 1, 2**63, True, 64.5, float("nan"), "64", None):
        with pytest.raises(Refusal) as refused:
            train_tokenizer("bpe", SENTENCES, vocabulary)
        assert refused.value.key == "config.not_in_range"
    for kind, sentences in (("characters", []), ("characters", ["", " \u200b"]), ("syllables", ["a"])):
        with pytest.raises(ValueError, match=r"at least one|'syllables'"):
            train_tokenizer(kind, sentences, 16)


SYMBOLS = ("ab", [], ["a", "a"], ["ab"], [["a"]], [1], ["\ud800"])  # of no tokenizer of characters
FOREIGN = [
    b"", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"kind": "characters"}', b'{"kind": [], "symbols": ["a"]}',
    b'{"kind": "characters", "symbols": ["a"], "more": 1}', b'{"kind": "bpe", "symbols": ["a"]}', b'{"kind": "bpe", "model": "AAAA"}',
    b'{"kind": "bpe", "model": ""}', b'{"kind": "bpe", "model": 7}', b'{"kind": "bpe", "model": "?"}',
    *(json.dumps({"kind": "characters", "symbols": symbols}).encode() for symbols in SYMBOLS),
    *(json.dumps({"kind": "words", "symbols": symbols}).encode() for symbols in (["a b"], [" "], [""], list(map(str, range(9000))))),
]  # fmt: skip


def test_anything_else_is_refused(tmp_path):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_prefix=str(tmp_path / "m"), vocab_size=90, hard_vocab_limit=False, minloglevel=2
    )
    model = base64.b64encode((tmp_path / "m.model").read_bytes()).decode()
    other_special_tokens = json.dumps({"kind": "unigram", "model": model}).encode()
    for data in (*FOREIGN, other_special_tokens):
        with pytest.raises(Refusal) as refused:
            load_tokenizer(data)
        assert refused.value.key == "data.not_a_tokenizer", data[:60]


@given(st.data())
def test_a_damaged_file_is_refused_or_still_a_tokenizer(data):
    good = trained(data.draw(st.sampled_from(KINDS))).to_bytes()
    start = data.draw(st.integers(0, len(good)))
    bad = good[:start] + data.draw(st.binary(max_size=4)) + good[start + data.draw(st.integers(0, 4)) :]
    try:
        tokenizer = load_tokenizer(bad)
    except Refusal:
        return
    assert tokenizer.decode(tokenizer.encode("the cat")).isprintable()


LETTERS = CharacterTokenizer([*"abcdefghijklmnopqrstuvwxyz"])
GERMAN = WordTokenizer(["Frau", "Ärztin", "der", "die", "findet", "Hund"])
FEW_PIECES = train_tokenizer("bpe", ["der hund", "die katze"], 64)


def test_unknown_tokens_and_the_nearest_sentence():
    for tokenizer, text, tokens, readable in (
        (LETTERS, "Hello world", ("H", "␣"), "helloworld"), (LETTERS, "HELLO", ("H", "E", "L", "O"), "hello"),
        (LETTERS, "naïve", ("ï",), "nave"), (LETTERS, "你好", ("你", "好"), ""),
        (GERMAN, "Die frau", ("Die", "frau"), "die Frau"), (GERMAN, "die Frau findet.", ("findet.",), "die Frau findet"),
        (GERMAN, "die Arztin findet den hund", ("Arztin", "den", "hund"), "die Ärztin findet Hund"),
        (GERMAN, "xylophone", ("xylophone",), ""),
    ):  # fmt: skip
        result = find_unknown(tokenizer, text)
        assert (result.tokens, result.readable) == (tokens, readable)
        assert (result.runs, result.size, bool(result.nearest)) == (((("a", "z"),), 26, False) if tokenizer is LETTERS else ((), 6, True))
    assert find_unknown(CharacterTokenizer([*"abdxz"]), "!").runs == (("a", "b"), ("d", "d"), ("x", "x"), ("z", "z"))
    assert [find_unknown(LETTERS, "hello"), find_unknown(FEW_PIECES, "der hund")] == [None, None]


def test_known_words_that_are_spelt_like_an_unknown_one_replace_it_whole():
    alike = {"frau": {"Frau"}, "Arztin": {"Ärztin"}, "findest": {"findet"}, "dee": {"die", "der"}, "xylophone": set()}
    for word, spelt_alike in alike.items():
        result = find_unknown(GERMAN, f"die {word}").nearest
        assert set(result) == {word}
        assert set(result[word][: len(spelt_alike)]) == spelt_alike
        assert bool(result[word]) == bool(spelt_alike)
        for known in result[word]:
            assert find_unknown(GERMAN, replace_word(f"die {word}", word, known)) is None
    assert replace_word("der den  Hund den", "den", "die") == "der die Hund die"


@given(st.sampled_from([LETTERS, GERMAN, FEW_PIECES]), st.text(st.sampled_from("dDieErHundKatze Ä3,你"), max_size=30))
def test_the_sentence_that_is_offered_can_be_read(tokenizer, text):
    result = find_unknown(tokenizer, text)
    assert result is None or not result.readable or find_unknown(tokenizer, result.readable) is None
