"""Truths about tokenizers: there and back again, the same bytes every time, and a sentence for every bad setting."""

import base64
import json

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS, UNK, Refusal
from playground.data.tokenizers import LARGEST, load_tokenizer, train_tokenizer
from playground.reading.text import normalise
from tests.thoroughness import every_case, examples_at_night

KINDS = ("characters", "words", "bpe", "unigram")
SENTENCES = ["the cat sat on the mat", "a dog ran to the cat", "der Käse schmeckt", "über den Wolken", "猫 が 好き です", "x<y & <s>"] * 3
any_text = st.text(st.characters(codec=None), max_size=40)


@pytest.fixture(scope="module", params=KINDS)
def tokenizer(request):
    return train_tokenizer(request.param, SENTENCES, 96)


def test_the_first_four_ids(tokenizer):
    assert tuple(map(tokenizer.piece, (PAD, BOS, EOS, UNK))) == SPECIAL_TOKENS
    assert len({tokenizer.piece(token) for token in range(tokenizer.size)}) == tokenizer.size


def test_known_sentences_come_back(tokenizer):
    for sentence in [*SENTENCES, "  the   mat\tran ", "ka\u0308se".replace("k", "K")]:
        ids = tokenizer.encode(sentence)
        if UNK not in ids:
            assert tokenizer.decode(ids) == normalise(sentence)
        assert all(BOS < token < tokenizer.size and token != EOS for token in ids)
    assert UNK not in [token for sentence in SENTENCES for token in tokenizer.encode(sentence)]


def test_decoding_stops_at_eos_and_leaves_special_ids_out(tokenizer):
    ids = tokenizer.encode("the cat")
    assert tokenizer.decode([BOS, PAD, *ids, EOS, *ids]) == "the cat"
    assert tokenizer.decode([]) == tokenizer.decode([EOS, *ids]) == ""


def test_what_is_unknown_is_written_as_unk_and_read_as_such(tokenizer):
    ids = tokenizer.encode("the cat")
    written = tokenizer.decode([UNK, *ids, UNK, EOS])
    assert written.startswith("<unk>")
    assert written.endswith("<unk>")
    assert "the cat" in written


def test_words_may_stand_for_what_is_unknown(tokenizer):
    """One for each id; where there is none, it stays <unk>. They are nobody's tokens: what looks like one is left as it is."""
    ids = tokenizer.encode("the")
    written = tokenizer.decode([UNK, *ids, UNK, UNK, EOS, UNK], ["<unk>x", *[None] * len(ids), None, "Ω"])
    assert written.replace(" ", "") == "<unk>xthe<unk>Ω"


def test_pieces_are_the_ids_with_text(tokenizer):
    for sentence in [*SENTENCES, "", "Ω unknown"]:
        pieces = tokenizer.pieces(sentence)
        assert [token for _, token in pieces] == tokenizer.encode(sentence)
        assert all(token == UNK or tokenizer.piece(token) == text for text, token in pieces)
    assert [text for text, token in tokenizer.pieces("the Ω") if token == UNK] == ["Ω"]


def test_special_names_in_a_sentence_are_text(tokenizer):
    assert not {PAD, BOS, EOS} & set(tokenizer.encode("<pad> <bos> <eos> <unk> <s> </s>"))


@given(any_text)
@examples_at_night(50)
def test_any_text_can_be_encoded(text):
    for kind in KINDS:
        tokenizer = _trained(kind)
        pieces = tokenizer.pieces(text)
        assert [token for _, token in pieces] == tokenizer.encode(text)
        tokenizer.decode(tokenizer.encode(text)).encode("utf-8")


_cache = {}


def _trained(kind):
    if kind not in _cache:
        _cache[kind] = train_tokenizer(kind, SENTENCES, 96)
    return _cache[kind]


@given(st.lists(any_text.filter(normalise), min_size=1, max_size=5), st.sampled_from(("characters", "words")))
def test_whatever_it_learnt_comes_back(sentences, kind):
    tokenizer = train_tokenizer(kind, sentences, 16)
    loaded = load_tokenizer(tokenizer.to_bytes())
    for sentence in sentences:
        assert loaded.decode(loaded.encode(sentence)) == normalise(sentence)


def test_saving_and_loading(tokenizer):
    loaded = load_tokenizer(tokenizer.to_bytes())
    assert (type(loaded), loaded.kind, loaded.size) == (type(tokenizer), tokenizer.kind, tokenizer.size)
    assert loaded.to_bytes() == tokenizer.to_bytes()
    assert [loaded.encode(sentence) for sentence in SENTENCES] == [tokenizer.encode(sentence) for sentence in SENTENCES]


def test_the_same_sentences_give_the_same_bytes(tokenizer):
    assert train_tokenizer(tokenizer.kind, SENTENCES, 96).to_bytes() == tokenizer.to_bytes()


def test_characters_and_words_by_hand():
    characters = train_tokenizer("characters", ["b a", "c"], 16)
    assert characters.symbols == (" ", "a", "b", "c")
    assert characters.pieces("a b!") == [("a", 5), ("␣", 4), ("b", 6), ("!", UNK)]
    words = train_tokenizer("words", ["one two", "three"], 16)
    assert words.encode("two  four one") == [6, UNK, 4]
    assert words.decode([6, UNK, 4]) == "two <unk> one"  # never passed over in silence


def test_of_too_many_symbols_the_frequent_stay():
    words = [f"w{n}" for n in range(LARGEST + 50)]
    tokenizer = train_tokenizer("words", [" ".join(words), " ".join(words[100:])], 16)
    assert tokenizer.size == LARGEST
    assert UNK in tokenizer.encode("w99")
    assert UNK not in tokenizer.encode("w100 w8049")


@pytest.mark.parametrize("token", [-1, 10_000])
def test_an_id_outside_is_an_error(tokenizer, token):
    with pytest.raises(IndexError):
        tokenizer.piece(token)


# --- pieces ---


@every_case("kind", ["bpe", "unigram"])
@every_case("sentences", [["a"], ["ab"] * 5, ["aaaa" * 600], ["猫が好き"], ["▁a ▁▁"], ["a ▅ b", "▅"], ["x" * 9000 + " end"]])
def test_small_and_odd_data_give_small_vocabularies(kind, sentences):
    tokenizer = train_tokenizer(kind, sentences, LARGEST)
    assert 4 < tokenizer.size < 100
    tokenizer.encode(sentences[0])


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_characters_of_long_lines_are_learnt_too(kind):
    tokenizer = train_tokenizer(kind, ["a" * 9000 + "z"], 64)
    assert UNK not in tokenizer.encode("az")


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_smallest_vocabulary_named_is_enough_and_less_is_not(kind):
    sentences = ["abcdefghijklmnopqrstuvwxyz " * 3]
    with pytest.raises(Refusal) as refused:
        train_tokenizer(kind, sentences, 24)
    assert refused.value.key == "data.vocabulary_too_small"
    assert refused.value.values["needed"] == 32  # 4 special tokens, 26 letters, the mark of a word's start: 31, in steps of 8
    assert train_tokenizer(kind, sentences, 32).size == 32


@pytest.mark.parametrize("vocabulary", [15, 0, -1, LARGEST + 1, 2**31, 2**63, True, 64.5, float("nan"), "64", None])
def test_bad_sizes_never_reach_the_trainer(monkeypatch, vocabulary):
    monkeypatch.setattr(sentencepiece.SentencePieceTrainer, "train", lambda **_: pytest.fail("the trainer saw it"))
    with pytest.raises(Refusal) as refused:
        train_tokenizer("bpe", SENTENCES, vocabulary)
    assert refused.value.key == "config.not_in_range"


def test_more_characters_than_any_vocabulary():
    with pytest.raises(Refusal) as refused:
        train_tokenizer("bpe", ["".join(map(chr, range(0x4E00, 0x4E00 + LARGEST)))], LARGEST)
    assert refused.value.key == "data.too_many_characters"


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("sentences", [["▅"], ["▁ ▁▁"]])
def test_training_says_nothing_even_when_it_fails(kind, sentences, capfd):
    train_tokenizer(kind, SENTENCES, LARGEST)
    with pytest.raises(Refusal) as refused:
        train_tokenizer(kind, sentences, 64)
    assert refused.value.key == "data.no_pieces"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sentences", [[], ["", " \u200b"]])
def test_nothing_to_learn_from(sentences):
    with pytest.raises(ValueError, match="at least one"):
        train_tokenizer("characters", sentences, 16)


def test_an_unknown_kind():
    with pytest.raises(ValueError, match="'syllables'"):
        train_tokenizer("syllables", ["a"], 16)


# --- files that are no tokenizers ---

FOREIGN = [
    b"", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"kind": "characters"}', b'{"kind": [], "symbols": ["a"]}',
    b'{"kind": "characters", "symbols": "ab"}', b'{"kind": "characters", "symbols": []}', b'{"kind": "characters", "symbols": ["a", "a"]}',
    b'{"kind": "characters", "symbols": ["ab"]}', b'{"kind": "characters", "symbols": [["a"]]}', b'{"kind": "characters", "symbols": [1]}',
    b'{"kind": "characters", "symbols": ["\\ud800"]}', b'{"kind": "characters", "symbols": ["a"], "more": 1}',
    b'{"kind": "words", "symbols": ["a b"]}', b'{"kind": "words", "symbols": [" "]}', b'{"kind": "words", "symbols": [""]}',
    b'{"kind": "bpe", "symbols": ["a"]}', b'{"kind": "bpe", "model": "AAAA"}', b'{"kind": "bpe", "model": ""}',
    b'{"kind": "bpe", "model": 7}', b'{"kind": "bpe", "model": "?"}',
    json.dumps({"kind": "words", "symbols": list(map(str, range(9000)))}).encode(),
]  # fmt: skip


@pytest.mark.parametrize("data", FOREIGN, ids=range(len(FOREIGN)))
def test_anything_else_is_refused(data):
    with pytest.raises(Refusal) as refused:
        load_tokenizer(data)
    assert refused.value.key == "data.not_a_tokenizer"


def test_a_model_with_other_special_tokens_is_refused(tmp_path):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_prefix=str(tmp_path / "m"), vocab_size=90, hard_vocab_limit=False, minloglevel=2
    )
    model = base64.b64encode((tmp_path / "m.model").read_bytes()).decode()
    with pytest.raises(Refusal):
        load_tokenizer(json.dumps({"kind": "unigram", "model": model}).encode())


@given(st.data())
@examples_at_night(40)
def test_a_damaged_file_is_refused_or_still_a_tokenizer(data):
    good = _trained(data.draw(st.sampled_from(KINDS))).to_bytes()
    start = data.draw(st.integers(0, len(good)))
    bad = good[:start] + data.draw(st.binary(max_size=4)) + good[start + data.draw(st.integers(0, 4)) :]
    try:
        tokenizer = load_tokenizer(bad)
    except Refusal:
        return
    assert tokenizer.decode(tokenizer.encode("the cat")).isprintable()
