"""The contents of batches, and their order; and tokenizers: there and back again, the same bytes, a sentence for every bad setting."""

import base64
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from io import BytesIO
from itertools import count, islice, pairwise, product

import pytest
import sentencepiece
import torch
from hypothesis import given, strategies as st
from torch.nn.utils.rnn import pad_sequence

from playground.config import BOS, EOS, PAD, SPECIAL_TOKENS, UNK, Refusal
from playground.data import tokenizers
from playground.data.batches import ROW_WIDTHS, batches, collate, pad_to_multiple, part_sizes, split_batch
from playground.data.corpus import Item, LazySequence
from playground.data.own_tokenizers import read_tokenizer
from playground.data.readable import continuing_tokens, find_unknown, replace_word, spell_word
from playground.data.tokenizers import LARGEST, CharacterTokenizer, WordTokenizer, load_tokenizer, train_tokenizer
from playground.reading.text import normalise
from tests.runs.tiny import refused

ids = st.lists(st.integers(3, 99), max_size=9).map(tuple)
some_items = st.lists(st.builds(Item, st.just(""), st.just(""), ids, ids), min_size=1, max_size=20)
sized = st.sampled_from([("sentences", 4), ("sentences", 7), ("tokens", 30), ("tokens", 40)])


def items_of(*lengths: tuple[int, int]) -> list[Item]:
    """Items of these source and target lengths; the first target token numbers them."""
    return [Item("", "", (9,) * src, (100 + n, *(8,) * (tgt - 1))) for n, (src, tgt) in enumerate(lengths)]


def rows_of(items: list[Item]) -> list[tuple[tuple[int, ...], ...]]:
    return [((*item.src_ids, EOS), (BOS, *item.tgt_ids), (*item.tgt_ids, EOS)) for item in items]


def stream(*arguments, count: int = 30, **options) -> list[list[int]]:
    """The numbers of the items in the first batches."""
    return [[item.tgt_ids[0] for item in batch] for batch in islice(batches(*arguments, **options), count)]


@given(some_items)
def test_collate_equals_pad_sequence(items):
    for tensor, rows in zip(collate(items)[:3], zip(*rows_of(items), strict=True), strict=True):
        assert tensor.dtype == torch.long
        assert torch.equal(tensor, pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=PAD))


@given(sized, st.integers(0, 29), st.integers(1, 99))
def test_a_batch_is_a_function_of_its_number_and_the_seed(sizes, start, seed):
    (unit, size), items = sizes, items_of(*[(1 + n % 5, 1 + n % 7) for n in range(50)])
    state = torch.get_rng_state()
    whole = stream(items, size, unit, seed=seed)
    assert torch.equal(torch.get_rng_state(), state), "the global dice are left alone"
    torch.manual_seed(seed)
    assert stream(items, size, unit, seed=seed, start=start, count=30 - start) == whole[start:]
    assert stream(items, size, unit, seed=seed + 1) != whole
    assert len(stream(items, 1, unit, seed=seed, count=1)[0]) == 1


@given(sized)
def test_every_pass_shows_every_item_once_and_in_another_order(sizes):
    unit, size = sizes
    numbers = [number for batch in stream(items_of(*[(1 + n % 5, 2) for n in range(28)]), size, unit, 1, count=60) for number in batch]
    passes = [numbers[start : start + 28] for start in (0, 28, 56)]
    assert all(sorted(order) == list(range(100, 128)) for order in passes)
    assert passes[0] != passes[1] != passes[2]


@given(some_items, st.integers(1, 60))
def test_token_batches_fill_their_size_and_never_pass_it(items, size):
    collated = [collate(batch) for batch in islice(batches(items, size, "tokens", 1), 12)]
    for batch, following in pairwise(collated):
        rows, cells = len(batch.src), batch.src.numel() + batch.tgt_out.numel()
        assert rows == 1 or cells <= size
        next_src, next_tgt = (int((row != PAD).sum()) for row in (following.src[0], following.tgt_out[0]))
        wider = max(batch.src.shape[1], next_src) + max(batch.tgt_out.shape[1], next_tgt)
        assert rows == len(items) or (rows + 1) * wider > size


def test_a_batch_is_never_larger_than_the_data_mixes_lengths_and_is_packed_with_little_left_empty():
    for size, unit in ((64, "sentences"), (1000, "tokens")):
        assert [len(batch) for batch in stream(items_of((2, 2), (3, 3)), size, unit, 1, count=3)] == [2] * 3
    many = items_of(*[(1 + n % 8, 1) for n in range(800)])
    assert all(len({number % 8 for number in batch}) > 4 for batch in stream(many, 64, "sentences", 1, count=12))
    items = items_of(*[(4 + n % 13, 4 + n % 13) for n in range(65)])  # reversals of 4 to 16 letters
    real = sum(len(item.src_ids) + 1 for item in items)
    packed, padded = (sum(batch.src.numel() for batch in split_batch(items, 2, kind)) for kind in (True, False))
    assert packed < 1.1 * real < 1.5 * real < padded
    for items, size, unit in (([], 4, "sentences"), (items_of((1, 1)), 0, "tokens"), (items_of((1, 1)), 4, "words")):
        with pytest.raises(ValueError):
            batches(items, size, unit, 1)
    with pytest.raises(ValueError, match="at least one"):
        collate([])


def unpacked(batch) -> list[tuple[tuple[int, ...], ...]]:
    """The pairs of a batch, as (source, decoder input, wanted output), special tokens included."""
    if batch.src_segment_ids is None:
        return [tuple(tuple(row[row != PAD].tolist()) for row in rows) for rows in zip(*batch[:3], strict=True)]
    pairs = []
    for *rows, src_segment, tgt_segment in zip(*batch, strict=True):
        for n in range(1, int(src_segment.max()) + 1):
            pairs.append(tuple(tuple(row[of == n].tolist()) for row, of in zip(rows, (src_segment, tgt_segment, tgt_segment), strict=True)))
    return pairs


@given(some_items, st.integers(1, 4), st.booleans())
def test_every_pair_is_in_one_part_once_and_whole_in_rows_not_much_wider_than_the_longest(items, parts, packed):
    split = split_batch(items, parts, packed)
    assert 1 <= len(split) <= parts
    assert sorted(pair for batch in split for pair in unpacked(batch)) == sorted(rows_of(items))
    tokens = [int((batch.src != PAD).sum() + (batch.tgt_out != PAD).sum()) for batch in split]
    sizes = [(*batch.src.shape, batch.tgt_in.shape[1], count) for batch, count in zip(split, tokens, strict=True)]
    assert part_sizes(items, parts, packed) == sizes
    for batch in split if packed else ():
        assert batch.src.shape[1] <= ROW_WIDTHS[-1] * max(len(item.src_ids) + 1 for item in items)
        assert batch.tgt_in.shape[1] <= ROW_WIDTHS[-1] * max(len(item.tgt_ids) + 1 for item in items)
        assert ((batch.src_segment_ids == 0) == (batch.src == PAD)).all()
        assert ((batch.tgt_segment_ids == 0) == (batch.tgt_out == PAD)).all()


@given(some_items, st.booleans(), st.sampled_from([2, 8]))
def test_a_batch_in_few_shapes_asks_for_the_same(items, packed, multiple):
    (batch,) = split_batch(items, 1, packed)
    wide = pad_to_multiple(batch, multiple)
    assert not [size for tensor in wide if tensor is not None for size in tensor.shape if size % multiple]
    added = len(wide.src) - len(batch.src)
    assert added < multiple
    assert sorted(unpacked(wide)) == sorted([*unpacked(batch), *[((EOS,), (BOS,), (PAD,) if packed else ())] * added])


def test_entries_are_made_when_they_are_read_and_once_also_by_many_threads():
    drawn = []
    lazy = LazySequence((drawn.append(n) or n * n for n in count()), 100)
    assert (len(lazy), drawn) == (100, [])
    assert (lazy[3], drawn) == (9, [0, 1, 2, 3])
    assert (lazy[2:5], lazy[-1]) == ([4, 9, 16], 99 * 99)
    assert lazy == [n * n for n in range(100)]
    assert lazy != "abc"
    assert drawn == list(range(100))
    for place in (5, -6):
        with pytest.raises(IndexError):
            LazySequence(count(), 5)[place]
    with pytest.raises(ValueError, match="5 were promised, 2 came"):
        LazySequence(iter("ab"), 5)[3]
    lazy, start = LazySequence((n for n in count()), 5000), threading.Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: (start.wait(), list(lazy))[1], range(4))) == [list(range(5000))] * 4


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


def test_characters_and_words_by_hand_and_a_list_is_words_characters_or_pieces():
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
    words = read_tokenizer("vocab.txt", b"<s> 0\nein@@ 3\n&apos;s 2\n-LRB- 1\n")
    assert words.decode(words.encode("ein@@ &apos;s -LRB-")) == "ein@@ &apos;s -LRB-"
    assert [words.kind, read_tokenizer("vocab.txt", "a\né\n".encode()).pieces("a e\u0301")[1:]] == ["words", [("␣", 6), ("é", 5)]]
    pieces = read_tokenizer("vocab.txt", "[PAD]\n[UNK]\nhe\n##llo\nworld\n,\n漢\n".encode())
    assert pieces.pieces("Hello, worlds 漢") == [("he", 4), ("##llo", 5), (",", 7), ("worlds", UNK), ("漢", 8)]
    assert pieces.decode(pieces.encode("Hello, worlds")) == "hello , <unk>"
    assert find_unknown(pieces, "hello worlds").nearest == {"worlds": ("world",)}
    for bad in (b"\xff\xfe", b"", "▁a\t-1\n".encode(), b"\n".join(b"w%d" % n for n in range(64_000))):
        with refused("data.no_tokenizer_file"):
            read_tokenizer("vocab.txt", bad)


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
        with refused(key) as refusal:
            train_tokenizer(kind, sentences, vocabulary)
        assert values.items() <= refusal.value.values.items()
    assert capfd.readouterr() == ("", "")


SYMBOLS = ("ab", [], ["a", "a"], ["ab"], [["a"]], [1], ["\ud800"])  # of no tokenizer of characters
FOREIGN = [
    b"", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"kind": "characters"}', b'{"kind": [], "symbols": ["a"]}',
    b'{"kind": "characters", "symbols": ["a"], "more": 1}', b'{"kind": "bpe", "symbols": ["a"]}', b'{"kind": "bpe", "model": "AAAA"}',
    b'{"kind": "bpe", "model": ""}', b'{"kind": "bpe", "model": 7}', b'{"kind": "bpe", "model": "?"}',
    *(json.dumps({"kind": "characters", "symbols": symbols}).encode() for symbols in SYMBOLS),
    *(json.dumps({"kind": "words", "symbols": symbols}).encode() for symbols in (["a b"], [" "], [""], list(map(str, range(70_000))))),
]  # fmt: skip


def test_anything_else_is_refused_and_bad_arguments_never_reach_the_trainer(tmp_path, monkeypatch):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES), model_prefix=str(tmp_path / "m"), vocab_size=90, hard_vocab_limit=False, minloglevel=2
    )
    model = base64.b64encode((tmp_path / "m.model").read_bytes()).decode()
    other_special_tokens = json.dumps({"kind": "unigram", "model": model}).encode()
    for data in (*FOREIGN, other_special_tokens):
        with refused("data.not_a_tokenizer"):
            load_tokenizer(data)
    monkeypatch.setattr(sentencepiece.SentencePieceTrainer, "train", lambda **_: pytest.fail("the trainer saw it"))
    for vocabulary in (15, -1, LARGEST + 1, 2**63, True, 64.5, float("nan"), "64", None):
        with refused("config.not_in_range"):
            train_tokenizer("bpe", SENTENCES, vocabulary)
    for kind, sentences in (("characters", []), ("characters", ["", " \u200b"]), ("syllables", ["a"])):
        with pytest.raises(ValueError, match=r"at least one|'syllables'"):
            train_tokenizer(kind, sentences, 16)


@pytest.mark.parametrize("kind", ["bpe", "unigram", "word", "char"])
def test_a_sentencepiece_model_of_others_splits_as_it_did_and_only_its_ids_are_ours(kind):
    other_ids = {"normalization_rule_name": "nfkc_cf", "unk_surface": "?!", "unk_id": 2, "bos_id": -1, "eos_id": 0, "pad_id": 1}
    for options in ({}, other_ids | {"user_defined_symbols": ["<sep>"]}, {"byte_fallback": True} if kind in PIECES else {}):
        written, size = BytesIO(), 360 if "byte_fallback" in options else 80
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(SENTENCES), model_writer=written, model_type=kind, vocab_size=size, hard_vocab_limit=False,
            minloglevel=2, **options,
        )  # fmt: skip
        theirs, ours = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue()), read_tokenizer("a.MODEL", written.getvalue())
        for text in (*SENTENCES[:5], "the CAT 漢"):
            text = normalise(text)
            assert [piece for piece, _ in ours.pieces(text)] == theirs.encode(text, out_type=str)
            if UNK not in ours.encode(text):
                assert ours.decode(ours.encode(text)) == theirs.decode(theirs.encode(text))
        assert load_tokenizer(ours.to_bytes()).encode("the cat") == ours.encode("the cat")
    for bad in (b"", b"hello", written.getvalue()[:-3], b"\x0a\xff\xff\xff\xff\xff\x7f", b"\xff" * 50, b"\x0a\x02\x0a"):
        with refused("data.no_tokenizer_file"):
            read_tokenizer("a.model", bad)


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


def test_unknown_tokens_the_nearest_sentence_and_known_words_that_replace_one_whole():
    for tokenizer, text, tokens, readable in (
        (LETTERS, "Hello world", ("H", "␣"), "helloworld"), (LETTERS, "HELLO", ("H", "E", "L", "O"), "hello"),
        (LETTERS, "naïve", ("ï",), "nave"), (LETTERS, "你好", ("你", "好"), ""),
        (GERMAN, "Die frau", ("Die", "frau"), "die Frau"), (GERMAN, "die Frau findet.", ("findet.",), "die Frau findet"),
        (GERMAN, "die Arztin findet den hund", ("Arztin", "den", "hund"), ""),
        (GERMAN, "xylophone", ("xylophone",), ""),
    ):  # fmt: skip
        gap = find_unknown(tokenizer, text)
        assert (gap.tokens, gap.readable) == (tokens, readable)
        assert (gap.runs, len(gap.known), bool(gap.nearest)) == (((("a", "z"),), 26, False) if tokenizer is LETTERS else ((), 6, True))
    assert find_unknown(CharacterTokenizer([*"abdxz"]), "!").runs == (("a", "b"), ("d", "d"), ("x", "x"), ("z", "z"))
    assert [find_unknown(LETTERS, "hello"), find_unknown(FEW_PIECES, "der hund")] == [None, None]
    alike = {"frau": {"Frau"}, "Arztin": {"Ärztin"}, "findest": {"findet"}, "dee": {"die", "der"}, "xylophone": set()}
    for word, spelt_alike in alike.items():
        result = find_unknown(GERMAN, f"die {word}").nearest
        assert (set(result), set(result[word][: len(spelt_alike)])) == ({word}, spelt_alike)
        assert bool(result[word]) == bool(spelt_alike)
        for known in result[word]:
            assert find_unknown(GERMAN, replace_word(f"die {word}", word, known)) is None
    assert replace_word("der den  Hund den", "den", "die") == "der die Hund die"


@given(st.sampled_from([LETTERS, GERMAN, FEW_PIECES]), st.text(st.sampled_from("dDieErHundKatze Ä3,你"), max_size=30))
def test_the_sentence_that_is_offered_can_be_read(tokenizer, text):
    result = find_unknown(tokenizer, text)
    assert result is None or not result.readable or find_unknown(tokenizer, result.readable) is None


def test_packed_by_hand():
    long, short, other = Item("", "", (5, 6, 7, 8), (9, 8, 7)), Item("", "", (5,), (8,)), Item("", "", (6, 7, 8), (9, 9))
    (batch,) = split_batch([short, other, long], 1, packed=True)  # the longest, and then the longest that fits
    assert [tensor.tolist() for tensor in batch] == [
        [[5, 6, 7, 8, EOS, 6, 7, 8, EOS, 5, EOS]], [[BOS, 9, 8, 7, BOS, 9, 9, BOS, 8]], [[9, 8, 7, EOS, 9, 9, EOS, 8, EOS]],
        [[1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]], [[1, 1, 1, 1, 2, 2, 2, 3, 3]],
    ]  # fmt: skip
    long = Item("", "", (5, 6, 7, 8, 9), (9,) * 5)  # what does not fit gets a row of its own
    (batch,) = split_batch([long, long, short, short, short], 1, packed=True)
    assert batch.src.tolist() == [*[[5, 6, 7, 8, 9, EOS, 5, EOS]] * 2, [5, EOS, *[PAD] * 6]]
    assert batch.src_segment_ids.tolist() == [*[[*[1] * 6, 2, 2]] * 2, [1, 1, *[0] * 6]]
