"""The glossary has the same terms in both languages, and the page's sentences use them instead of words of our own."""

import re

import pytest

from playground.words import LANGUAGES, entries
from playground.words.glossary import glossary, names

# What is not said, and what is said instead. Image and term may stand together; the image alone may not.
BANNED = {
    "en": {
        r"\b(tokens?|positions?|quer(y|ies)|heads?|rows?|columns?) (that |who |which )?(asks?|answers?)\b": "query, key",
        r"\bmay(n’t| not)? look\b|(?<!nobody )\blooks at\b|\blooks? (back|both ways)\b": "attends to, visible, masked",
        r"\blook(s|ed)? over\b|\bat each look\b": "layer, evaluation",
        r"\b(their|its|the|of the|half of the|divides? the) look\b": "attention weight",
        r"\bbend\b": "non-linear activation function",
        r"\bsurpris(e|es|ed|ing)\b": "cross-entropy",
        r"\bfilms?\b|\bpictures? (back|on)\b": "training replay, snapshot",
        r"\b(two|both|second|first) (lives|life)\b|\bown words\b": "teacher forcing, free running",
        r"\bdoubts?\b": "entropy, perplexity",
        r"\bshares? of\b": "fraction",
        r"\bsurer\b|\brighter\b|\bdearest\b|\bsure of itself\b": "more confident, more correct, most expensive",
        r"\bexamined\b": "evaluated",
        r"\bmeters?\b|\bgauges?\b": "metric",
        r"\bsentences (written |wholly )?right\b|\bwholly right\b|\bright sentences\b": "exact match",
        r"\btokens right\b": "token accuracy (teacher-forced)",
        r"\bheld-out loss(es)?\b|\bloss held out\b": "validation loss",
        r"\bruns of (\w+ )?(to \w+ )?(words|characters|letters)\b": "n-grams",
        r"\bturn(s|ed|ing)? (\w+ )?round\b": "reverse",
        r"\bi(s|t) to get\b|\bare to get\b|\bhands? over\b|\bone look at a time\b": "plain English",
        r"\bplace by place\b|\bplaces (left|right|away|further)\b|\bkinship\b": "position, similarity",
        r"\binner (units?|width)\b": "hidden units, hidden size",
        r"\brise and fall\b": "linear warm-up and decay",
        r"\btwists?\b": "model variant",
        r"\bleak lab\b|\bquestion bench\b|\bon the bench\b": "bug lab, ablations, worked examples",
        r"(?-i:\b[Ii]n (Learn|Scores|Health|What if|Vectors|Two lives)\b)": "the names of the tabs",
    },
    "zh": {
        r"(词元|位置|行|列|头)(的)?(提问|回答)": "查询、键",
        r"不许看|可以看到?的地方|目光|谁在看谁|看向": "关注、可见、遮蔽",
        r"意外": "交叉熵",
        r"(?<!同一部)影片|画面": "训练回放、快照",
        r"两种生活|自己的话": "教师强制、自由解码",
        r"喂": "输入",
        r"份额": "概率、比例",
        r"斜率": "导数、梯度",
        r"体检|仪表": "诊断、指标",
        r"成绩": "评测",
        r"如果……": "干预",
        r"提问台|漏洞|博物馆": "消融、错误（bug）实验室",
        r"记忆(?!长度)": "编码器输出（memory）",
        r"日程": "学习率调度",
        r"内部单元": "隐藏单元",
        r"分叉": "分支",
        r"屏幕上的(训练|模型)": "当前模型",
        r"留出损失": "验证损失",
        r"驾驭": "学习率与预热",
        r"参考答案": "标准答案",
        r"完全匹配(?!率)": "完全匹配率",
    },
}
UNREAD = re.compile(r"^glossary\.(not|\w+\.(forms|shape))$|^language\.")  # forms are looked for in sentences; nobody reads them


def sentences(language: str) -> dict[str, str]:
    """What a person reads, without the {placeholders}."""
    return {key: re.sub(r"\{[^}]*\}", "…", text) for key, text in entries(language).items() if not UNREAD.search(key)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_of_our_own_stands_for_one_of_the_field(language):
    patterns = re.compile("|".join(map("(?:{})".format, BANNED[language])), re.IGNORECASE)
    words = {key: match[0] for key, text in sentences(language).items() if (match := patterns.search(text))}
    assert words == {}, "TERMS.md has the terms"
    for planted in {"en": ("The source token answers", "a share of it", "In Health"), "zh": ("列回答", "编码器的记忆")}[language]:
        assert patterns.search(planted)


def test_every_term_has_all_its_words_and_the_same_mathematics_in_both_languages():
    assert len(set(names())) == len(names()) >= 40
    wanted = {f"glossary.{name}.{part}" for name in names() for part in ("name", "forms", "text")} | {"glossary.not"}
    for language in LANGUAGES:
        keys = {key for key in entries(language) if key.startswith("glossary.")}
        assert wanted == {key for key in keys if not key.endswith(".shape")}
        assert {key.split(".")[1] for key in keys if key.endswith(".shape")} < set(names())
    shapes = [{term["id"]: term["shape"] for term in glossary(language)["terms"]} for language in LANGUAGES]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_is_explained_briefly_and_not_by_itself_and_no_form_stands_for_two(language):
    end, most = (r"。", 90) if language == "zh" else (r"\.(?= |$)", 230)
    terms = glossary(language)["terms"]
    forms = [form.lower() for term in terms for form in term["forms"]] + [phrase.lower() for phrase in glossary(language)["not"]]
    assert all(form == form.strip() and form for form in forms)
    assert len(forms) == len(set(forms)), {form for form in forms if forms.count(form) > 1}
    for term in terms:
        assert len(re.findall(end, term["text"])) in (1, 2), term["id"]
        assert re.search(f"{end}$", term["text"]), term["id"]
        assert len(term["text"]) <= most, term["id"]
        assert not term["text"].lower().startswith(tuple(form.lower() for form in term["forms"] if len(form) > 2)), term["id"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_is_used(language):
    """Matched as static/glossary.js does it."""
    texts = "\n".join(text for key, text in sentences(language).items() if not key.startswith("glossary."))
    unused = []
    for term in glossary(language)["terms"]:
        patterns = [(r"(?<![\w-])" if form[0].isascii() and form[0].isalnum() else "") + re.escape(form) for form in term["forms"]]
        if not re.search("|".join(patterns), texts, re.IGNORECASE | re.ASCII):
            unused.append(term["id"])
    assert unused == []
