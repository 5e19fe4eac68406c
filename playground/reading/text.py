"""Sentences in one canonical form, without invisible characters.

All input (files, typed sentences) goes through `normalise`, so texts that look alike are equal. Joiners and variation selectors act only on
their neighbours: they spell Persian, Hindi, Mongolian, Chinese names and emoji. They stay where they have an effect (the Unicode standard,
23.2 to 23.4; UTS 51 for emoji) and go elsewhere.

Other tools leave escapes in sentences, which the user can have undone:

- moses: character references (`&apos;`, `&#124;`) and separated hyphens (`@-@`) of the Moses tokenizer
- bpe: subwords, every piece but a word's last followed by `@@` (subword-nmt)
- pieces: subwords, `▁` where a word begins (SentencePiece)
- furigana, cloze: readings and blanks of Anki cards (`漢字[かんじ]`, `{{c1::word::hint}}`)
- html: tags and character references, as in cards and web pages. Cells are many, short, and seldom well formed: the patterns take linear
  time; html.parser fails on `<![`, and takes quadratic time for unclosed tags.
"""

import html
import re
import unicodedata
from collections.abc import Collection, Iterable

# Control characters that are not white space, soft hyphens, zero-width spaces, bidi marks, byte order marks, lone surrogates,
# noncharacters.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff"
    "\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff"
    + "".join(chr(plane << 16 | last) for plane in range(1, 17) for last in (0xFFFE, 0xFFFF))
    + "]"
)
_BLANK = re.compile("[\u2800\u3164\uffa0]")  # an empty Braille cell and the Hangul fillers: blank, but not white space to Unicode
_INVISIBLE = re.compile(r"[\s\u115f\u1160]*")

_SELECTORS = "\ufe00-\ufe0f"
_JOINERS = f"\u180b-\u180f\u200c\u200d{_SELECTORS}\U000e0020-\U000e007f\U000e0100-\U000e01ef"
_ANY_JOINER = re.compile(f"[{_JOINERS}]")
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"  # of a region: a black flag and its name in tags
_PICTURE = f"(?:{_FLAG}|[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff])[{_SELECTORS}]?"
_KEYCAP = "[0-9#*]\ufe0f\u20e3"
_IDEOGRAPH = f"[\u3001\u3002\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003fffd][{_SELECTORS}\U000e0100-\U000e01ef]"
_MONGOLIAN = "[\u1820-\u18aa][\u180b-\u180f]{0,2}"
_JOINED = "[\u0600-\u109f\u1700-\u180a\u1810-\u181f\u18ab-\u1cff\ua800-\uabff\U00010a00-\U00011fff\U0001e900-\U0001e95f]"
_LETTERS = f"(?:{_MONGOLIAN}|{_JOINED})+"  # of scripts whose letters change with their neighbours
_EFFECTIVE = re.compile(
    f"({_PICTURE}(?:\u200d?{_PICTURE})*|{_KEYCAP}|{_IDEOGRAPH}|{_LETTERS}(?:[\u200c\u200d]{_LETTERS})*\u200d?)|[{_JOINERS}]"
)

# Letters, ideographs and signs unchanged by NFC whatever neighbour of this list they have: most texts have no others.
_STABLE = re.compile(
    "[ -~\u00a1-\u00ac\u00ae-\u02ff\u0388-\u0482\u048a-\u052f\u0531-\u0556\u0561-\u0587\u05d0-\u05ea\u0620-\u064a\u0e01-\u0e30\u10d0-\u10fa"
    "\u1e00-\u1eff\u2010-\u2027\u2030-\u205e\u3001-\u3020\u3041-\u3096\u30a1-\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]*"
)

MAX_MARKS = 30  # combining marks per character (UAX 15, stream-safe text); sorting them takes quadratic time
_STACKED = re.compile(f"[^\\w\\s!-~]{{{MAX_MARKS + 1},}}")


def normalise(text: str) -> str:
    """Returns NFC without invisible characters, white space collapsed and stripped; "" if nothing visible is left."""
    if not _STABLE.fullmatch(text):
        text = _compose(_BLANK.sub(" ", _HIDDEN.sub("", text)))
        if _ANY_JOINER.search(text):
            text = _compose(_EFFECTIVE.sub(r"\1", text))
        if _INVISIBLE.fullmatch(text):
            return ""
    return " ".join(text.split())


def _compose(text: str) -> str:
    """Returns NFC with at most MAX_MARKS marks per character."""
    return _STACKED.sub(_drop_marks, unicodedata.normalize("NFC", _STACKED.sub(_drop_marks, text)))


def _drop_marks(run: re.Match[str]) -> str:
    """Drops the marks beyond MAX_MARKS from each character of a run of non-letters."""
    characters, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MAX_MARKS:
            characters.append(character)
    return "".join(characters)


def split_graphemes(text: str) -> list[str]:
    """Splits a text into grapheme clusters (UAX 29): a letter with its marks, a flag, an emoji sequence."""
    if _STABLE.fullmatch(text):
        return list(text)
    graphemes: list[str] = []
    for character in text:
        if graphemes and _joins(graphemes[-1], character):
            graphemes[-1] += character
        else:
            graphemes.append(character)
    return graphemes


_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")  # an ideograph, a word, or a mark


def split_wordpieces(text: str, pieces: Collection[str]) -> list[str]:
    """Splits a text at blanks and marks, then each word into the longest of these pieces (WordPiece, as in BERT): "##" begins one that
    continues a word. A word that can't be spelt is one piece. Without capitals among the pieces all letters become small."""
    split: list[str] = []
    for word in _WORD.findall(text if any(piece != piece.lower() for piece in pieces) else text.lower()):
        parts, rest = [], word
        while rest:
            mark = "##" if parts else ""
            size = next((size for size in range(len(rest), 0, -1) if mark + rest[:size] in pieces), 0)
            parts, rest = ([*parts, mark + rest[:size]], rest[size:]) if size else ([word], "")
        split += parts
    return split


def _joins(cluster: str, character: str) -> bool:
    """Whether a character extends the grapheme cluster before it."""
    if cluster == " ":
        return False
    if cluster[-1] == "\u200d":
        return re.match(_PICTURE, character) is not None and re.match(_PICTURE, cluster) is not None
    if "\U0001f1e6" <= character <= "\U0001f1ff":  # two regional indicators are a flag
        return len(cluster) == 1 and "\U0001f1e6" <= cluster <= "\U0001f1ff"
    return unicodedata.category(character).startswith("M") or re.match(f"[{_JOINERS}\U0001f3fb-\U0001f3ff]", character) is not None


def is_symbol(text: object) -> bool:
    """Whether `text` can be a vocabulary entry: a word or a character as `normalise` leaves it, or a space."""
    return text == " " or (isinstance(text, str) and text.split() == [text] and not _HIDDEN.search(text))


# --- escapes: markup that other tools left in sentences ---

_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)')\s*(?:[;,]\s*)?(?:#.*|//.*)?""")
_BACKSLASH = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ENDS = {"n": "\n", "t": "\t", "r": "\n"}
ESCAPE_KINDS = ("pieces", "bpe", "moses", "cloze", "furigana", "html")  # in undo order
_NAMES = {
    "&amp;": "&", "&#124;": "|", "&bar;": "|", "&lt;": "<", "&gt;": ">", "&apos;": "'", "&quot;": '"', "&#91;": "[", "&#93;": "]",
    "&bra;": "[", "&ket;": "]",
}  # fmt: skip
_MOSES = re.compile("|".join(map(re.escape, _NAMES)))
_SET_APART = re.compile(r" (?:@([-/])@|##AT##([-/])##AT##) ")
_JOINT = re.compile(r"(?<=\S)@@(?: +|$)")
_HTML = re.compile(  # except for the numbers that Moses writes
    r"</?(?:b|br|div|em|font|i|img|li|p|span|strong|sub|sup|u)\b[^<>]*>|&nbsp;|&#(?!(?:124|91|93);)x?[0-9a-f]{2,5};", re.IGNORECASE
)
_BEGIN = "▁"
_KANA = "\u3041-\u3096\u30a1-\u30fc"
_WRITTEN = f"[{_KANA}\u3005-\u3007\u3400-\u9fff\uf900-\ufaff]"
_FURIGANA = re.compile(rf" ?(?<!{_WRITTEN})({_WRITTEN}+)\[[{_KANA}]+\]")  # the space only marks the beginning of the word
_SOUND = re.compile(r"\[sound:[^\[\]]*\]")
_UNSEEN = re.compile(r"<(script|style|rt|rp)\b[^<>]*>[^<]*</\1\s*>", re.IGNORECASE)  # rt, rp: ruby readings above characters
_BREAK = re.compile(r"</?(?:br|div|p|li|ul|ol|tr|td|th|table|hr|h[1-6]|blockquote|pre|dl|dt|dd)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>|<![^<>]*>", re.IGNORECASE)
_CLOZE = re.compile(r"\{\{c\d{1,3}::([^{}]*)\}\}")
_TRACES = {
    "bpe": (_JOINT,), "moses": (_MOSES, _SET_APART), "cloze": (_CLOZE,), "furigana": (_FURIGANA,), "html": (_HTML,),
}  # fmt: skip


def count_kinds(samples: Iterable[str]) -> dict[str, int]:
    """Counts the sentences of one side that contain each kind. Pieces must begin most sentences: `▁` may be ordinary text."""
    texts = [text for text in map(str.strip, samples) if text]
    counts = {kind: sum(any(trace.search(text) for trace in traces) for text in texts) for kind, traces in _TRACES.items()}
    pieces = sum(text.startswith(_BEGIN) for text in texts)
    counts["pieces"] = pieces if 2 * pieces >= len(texts) else 0
    return {kind: counts[kind] for kind in ESCAPE_KINDS if counts[kind]}


def undo(text: str, kinds: Iterable[str]) -> str:
    """Undoes `kinds` in `text`, each once: `&amp;lt;` becomes `&lt;`."""
    for kind in sorted(set(kinds), key=ESCAPE_KINDS.index):
        text = _UNDO[kind](text)
    return text


def strip_markup(text: str) -> str:
    """Strips tags, sounds and comments, resolves character references, and puts a space where a line or a block ends."""
    if "[" in text:
        text = _SOUND.sub(" ", text)
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub(" ", _UNSEEN.sub("", text)))
    return html.unescape(text) if "&" in text else text


_UNDO = {
    "pieces": lambda text: "".join(text.split()).replace(_BEGIN, " ").strip(),
    "bpe": lambda text: _JOINT.sub("", text.rstrip()),
    "moses": lambda text: _MOSES.sub(lambda match: _NAMES[match[0]], _SET_APART.sub(lambda match: match[1] or match[2], text)),
    "cloze": lambda text: _CLOZE.sub(lambda match: match[1].partition("::")[0], text),
    "furigana": lambda text: _FURIGANA.sub(r"\1", text),
    "html": strip_markup,
}


# --- escapes in programs' texts ---


def unquote(text: str) -> str | None:
    """Returns the text inside quotation marks that enclose all of `text`; None without them."""
    match = _QUOTED.fullmatch(text)
    if not match:
        return None
    return unescape(match[1] if match[2] is None else match[2].replace("''", "'"))


def unescape(text: str) -> str:
    r"""Resolves backslash escapes: \u00e4 is ä, \n ends a line."""
    return _BACKSLASH.sub(lambda match: chr(int(match[1][1:], 16)) if len(match[1]) > 1 else _ENDS.get(match[1], match[1]), text)
