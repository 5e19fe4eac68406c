"""One vocabulary: the page speaks the field's language, none of the words that this house once made up for it, and explains its terms."""

import re

import pytest

from playground.words import LANGUAGES, entries
from playground.words.glossary import glossary

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

# Terms of art that stand in the page's sentences. Who meets one there can point at it and be told what it means.
TERMS = {
    "en": (
        "attention weight", "attends to", "scaled dot-product attention", "multi-head attention", "self-attention", "cross-attention",
        "encoder-decoder attention", "query", "keys", "values", "heads", "W_O", "mask", "causal mask", "look-ahead mask", "padding",
        "packing", "encoder", "decoder", "sublayer", "memory", "encoder output", "softmax", "logits", "embedding", "positional encoding",
        "sinusoids", "RoPE", "residual connection", "layer norm", "pre-norm", "post-norm", "batch norm", "feed-forward network", "ReLU",
        "GELU", "d_model", "d_k", "parameters", "Xavier", "token", "tokenisation", "subword", "BPE", "unigram", "SentencePiece",
        "vocabulary", "<bos>", "<eos>", "<unk>", "<pad>", "reference", "teacher forcing", "autoregressive", "free running",
        "exposure bias", "scheduled sampling", "batch", "cross-entropy", "validation loss", "entropy", "nats", "label smoothing",
        "dropout", "gradients", "gradient norm", "gradient clipping", "Jacobian", "optimiser", "Adam", "AdamW", "Muon", "weight decay",
        "learning rate", "learning rate schedule", "warm-up", "seed", "held-out", "overfitting", "generalisation",
        "length generalisation", "compositional generalisation", "exact match", "token accuracy", "BLEU", "chrF", "n-grams",
        "greedy decoding", "beam search", "hypothesis", "length penalty", "search error", "model error", "sampling", "temperature",
        "top-k", "top-p", "nucleus sampling", "KV cache", "logit lens", "rollout", "ablation", "PCA", "cosine",
    ),
    "zh": (
        "注意力权重", "缩放点积注意力", "多头注意力", "自注意力", "交叉注意力", "查询", "键", "值向量", "注意力头", "W_O", "掩码",
        "因果掩码", "前瞻掩码", "遮蔽", "填充", "打包", "编码器", "解码器", "子层", "memory", "softmax", "logits", "嵌入", "位置编码",
        "正弦编码", "RoPE", "残差连接", "层归一化", "前归一化", "后归一化", "批归一化", "前馈网络", "ReLU", "GELU", "d_model", "d_k",
        "参数", "Xavier", "词元", "分词", "子词", "BPE", "unigram", "SentencePiece", "词表", "<bos>", "<eos>", "<unk>", "<pad>",
        "标准答案", "教师强制", "自回归", "自由解码", "曝光偏差", "计划采样", "批次", "交叉熵", "验证损失", "熵", "奈特", "标签平滑",
        "dropout", "梯度", "梯度范数", "梯度裁剪", "雅可比", "优化器", "Adam", "AdamW", "Muon", "权重衰减", "学习率", "学习率调度",
        "预热", "种子", "留出", "过拟合", "泛化", "长度泛化", "组合泛化", "完全匹配率", "词元准确率", "BLEU", "chrF", "n-gram", "贪心解码",
        "束搜索", "候选", "长度惩罚", "搜索错误", "模型错误", "采样", "温度", "top-k", "top-p", "核采样", "KV 缓存", "logit 透镜",
        "注意力展开", "消融", "PCA", "余弦相似度",
    ),
}  # fmt: skip


def sentences(language: str) -> dict[str, str]:
    """What a person reads, without the {placeholders}."""
    return {key: re.sub(r"\{[^}]*\}", "…", text) for key, text in entries(language).items() if not UNREAD.search(key)}


def found(language: str, said: dict[str, str]) -> list[str]:
    """House words in these sentences: key, word, and what is said instead."""
    return [
        f"{key}: “{match[0]}” → {instead}"
        for key, text in said.items()
        for pattern, instead in BANNED[language].items()
        if (match := re.search(pattern, text, re.IGNORECASE))
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_of_the_house_stands_for_one_of_the_field(language):
    assert found(language, sentences(language)) == []


def test_a_house_word_is_found():
    planted = {
        "en": ("The source token answers", "Its own words", "a share of it", "the bend between them", "sentences right", "In Health"),
        "zh": ("列回答", "影片的第一步", "斜率消失", "漏洞实验室", "编码器的记忆"),
    }
    for language, texts in planted.items():
        assert [text for text in texts if not found(language, {"page.x": text})] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_of_art_is_in_the_glossary(language):
    forms = {form.lower() for term in glossary(language)["terms"] for form in term["forms"]}
    assert [term for term in TERMS[language] if term.lower() not in forms] == []
    assert len(set(TERMS[language])) == len(TERMS[language])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_of_art_is_said(language):
    """Else it need not be explained. Matched as static/glossary.js does it."""
    said = "\n".join(text for key, text in sentences(language).items() if not key.startswith("glossary."))
    whole = {term: (r"(?<![\w-])" if term[0].isascii() and term[0].isalnum() else "") + re.escape(term) for term in TERMS[language]}
    assert [term for term, pattern in whole.items() if not re.search(pattern, said, re.IGNORECASE | re.ASCII)] == []
