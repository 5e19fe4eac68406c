"""Column words: the names of columns in users' files, in the languages of many of them.

Written as `column_names.plain` returns them, except for accents: lower case, and `_` for spaces and inner capitals.
"""

from __future__ import annotations

from playground.reading.formats.languages import fold

CREDITS = ("credit", "credits", "attribution", "license", "licence")
CERTAIN = ("src", "source", "tgt", "trg", "target")  # prefixes that decide even beside columns of languages
_SOURCES = (  # the first of these present and mostly filled is the source
    "src source source_text src_text source_sentence src_sentence sentence_source input inputs input_text in question user instruction "
    "prompt query text sentence original sentence1 sentence_1 document article dialogue word term front command commands x from msgid "
    "incorrect noisy utterance l1 q foreign foreign_language questions sources originals quelle eingabe fremdsprache ausgangssprache "
    "ausgangstext frage vorderseite entrée entrada origen fuente pregunta pergunta domanda origine fonte vraag bron källa fråga pytanie "
    "źródło исходный оригинал вопрос soru kaynak السؤال سؤال المصدر प्रश्न स्रोत 输入 輸入 入力 입력 原文 源 源语言 源語言 源句 源文 源文本 "
    "源语 问题 問題 质问 質問 正面 表 表面 问 問 질문 원문 앞면 앞 câu_hỏi pertanyaan คำถาม ต้นฉบับ"
)
_UNITS = (  # the source beside a target; two of these may name the same text in two languages
    "texts sentences words phrase phrases expression expressions vocab vocabulary headword lemma entry terms utterances string sent snt "
    "txt seq verse hanzi kanji character characters satz sätze wort wörter vokabel vokabeln begriff ausdruck lernwort mot mots texte "
    "terme vocabulaire palabra palabras frase frases oración vocabulario texto término parola parole testo termine vocabolo palavra "
    "palavras oração sentença vocabulário woord woorden zin zinnen uitdrukking tekst ord mening fras sætning setning begrep słowo słówko "
    "zdanie wyraz fraza slovo slovíčko věta veta riječ rečenica reč cuvânt propoziție szó mondat sana lause слово слова фраза фразы "
    "предложение предложения речення текст дума λέξη πρόταση φράση kelime kelimeler cümle cümleler sözcük metin كلمة الكلمة كلمات جملة "
    "الجملة نص النص مفردة מילה משפט כתוב کلمه جمله متن واژه لفظ शब्द वाक्य শব্দ বাক্য சொல் పదం คำ คำศัพท์ ประโยค từ từ_vựng câu kata kalimat "
    "kosakata teks neno sentensi 句子 单词 單詞 单字 單字 词 詞 词语 詞語 词汇 詞彙 生词 生詞 例句 句 文本 短语 短語 成语 汉字 漢字 字 "
    "文章 言葉 単語 語彙 例文 表現 단어 어휘 문장 표현 글"
)
_TARGETS = (
    "tgt trg target targets target_text tgt_text trg_text target_sentence tgt_sentence sentence_target output outputs output_text out "
    "answer answers assistant response completion reply translation translations translated translation_text summary highlights corrected "
    "correction correct sentence2 sentence_2 paraphrase definition meaning back actions action y to msgstr clean label l2 native "
    "native_language ref refs reference references pe post_edit postedit simplified translated_text definitions meanings gloss responses "
    "übersetzung ausgabe muttersprache übersetzungen bedeutung bedeutungen antwort ziel zielsprache zieltext rückseite erklärung "
    "traduction traductions sens signification sortie réponse cible définition salida traducción traducciones significado significados "
    "respuesta destino definición traduzione traduzioni significato risposta definizione tradução traduções resposta alvo definição "
    "vertaling vertalingen betekenis antwoord doel översättning betydelse svar oversættelse oversettelse betydning tłumaczenie znaczenie "
    "odpowiedź překlad význam odpověď preklad prijevod prevod značenje traducere fordítás jelentés válasz käännös merkitys vastaus "
    "перевод переводы значение ответ переклад значення превод μετάφραση σημασία απάντηση çeviri anlam anlamı karşılığı cevap hedef ترجمة "
    "الترجمة معنى المعنى الجواب الإجابة תרגום משמעות פירוש ترجمه معنی پاسخ अनुवाद अर्थ उत्तर অনুবাদ অর্থ மொழிபெயர்ப்பு அர்த்தம் అర్థం ความหมาย คำแปล "
    "คำตอบ nghĩa dịch bản_dịch câu_trả_lời arti terjemahan makna jawaban tafsiri maana 输出 輸出 出力 출력 目标 目標 目标语言 目標語言 "
    "目标句 目标文本 目标语 译文 譯文 译句 翻译 翻譯 释义 釋義 意思 含义 含義 意味 訳 訳文 和訳 英訳 英译 中译 答案 回答 答え 答 反面 "
    "背面 裏 裏面 定义 定義 번역 번역문 뜻 의미 답 답변 뒷면 뒤"
)
_ASIDE = (  # no sentences
    "_id id idx index uid uuid guid key no nr num number # № nº n° s/n url uri link href lang language languages score scores rating "
    "similarity license licence credit credits attribution author username speaker split domain category topic theme tags tag level "
    "difficulty dataset corpus file filename file_name page line timestamp date time created_at updated_at sourcelang targetlang "
    "direction meta metadata audio image picture lp language_pair langpair lang_pair system model annotator count freq frequency rank "
    "confidence probability length lesson unit chapter section module week deck nummer seite kapitel lektion einheit thema datum stufe "
    "niveau kategorie lfd numéro leçon unité chapitre catégorie lección unidad nivel número tema capítulo categoría lezione unità livello "
    "numero lição unidade nível les hoofdstuk lekcja rozdział lekce урок номер тема уровень дата ders ünite numara رقم الرقم الدرس क्रमांक "
    "序号 序號 编号 編號 号 番号 課 课 课时 课程 单元 單元 章节 级别 等级 类别 类型 分类 主题 번호 단원 주제 날짜 bài stt pelajaran"
)
_BESIDE = (  # remarks on sentences: readings, parts of speech, notes
    "pinyin reading readings kana hiragana katakana furigana romaji romanization romanisation romanized jyutping zhuyin bopomofo "
    "pronunciation ipa phonetic phonetics transcription transliteration accent tone tones pos pos_tag part_of_speech word_class word_type "
    "gender genus plural wortart aussprache lautschrift beispiel beispiele beispielsatz bemerkung bemerkungen notiz notizen anmerkung "
    "hinweis example examples example_sentence note notes comment comments remark remarks hint hints context usage explanation mnemonic "
    "synonym synonyms mt mt_score machine_translation alignment alignments genre prononciation exemple exemples remarque remarques "
    "commentaire pronunciación ejemplo ejemplos género nota notas comentario pronuncia esempio esempi genere commento pronúncia exemplo "
    "exemplos gênero uitspraak voorbeeld opmerking woordsoort wymowa przykład uwagi výslovnost příklad poznámka транскрипция произношение "
    "пример примечание комментарий okunuş telaffuz örnek النطق مثال ملاحظات उच्चारण उदाहरण 拼音 注音 读音 讀音 发音 發音 音标 音標 词性 "
    "詞性 备注 備註 注释 注釋 例子 读法 平假名 片假名 假名 罗马字 ローマ字 振り仮名 ふりがな よみがな よみ 読み 読み方 品詞 備考 メモ "
    "発音 仮名 かな 발음 품사 예문 비고 메모 phiên_âm ví_dụ ghi_chú contoh catatan pelafalan"
)
_VAGUE = (  # also words to learn: names only where the rows below are not a word list
    "active passive casual polite singular past present future positive negative complex simple normal new before after wrong right error "
    "fixed human machine iso digits digit zahl nombre infix postfix prefix reverse reversed cipher plaintext ciphertext encrypted code "
    "sql nl regex formula expr equation math problem solution premise statement claim abstract raw normalized normalised grapheme "
    "graphemes phoneme phonemes spelling misspelled masculine feminine male female dialect slang toxic neutral rewrite value result "
    "results one two first second left masked emoji shakespeare x y s t q a b in out from to"
)
_KINDS = (  # of a language
    "simplified traditional brazilian european castilian american british usa latam canadian swiss austrian mexican latin cyrillic roman "
    "old middle modern ancient archaic classical standard colloquial levantine egyptian moroccan gulf msa formal informal hans hant simpl "
    "trad 简体 簡體 繁体 繁體 简 繁 美式 英式 口语 书面 古代 现代 標準 标准"
)
_REGIONS = "us uk gb br pt mx de cn tw hk jp kr"
_FILLERS = (  # in names of several words
    "the of a an in en em auf im по на na la le les el il lo der die das de des du do da di version side column columns col field cell "
    "item list data name value content native foreign spoken written language lang languages sprache langue idioma lingua língua taal "
    "språk sprog język jazyk jezik limba nyelv kieli язык мова език γλώσσα dili dil لغة اللغة שפה زبان भाषा ভাষা ภาษา tiếng bahasa 语言 "
    "語言 言語 语 語 文 版 的 の"
)
_MARKED = "language lang side column col field sprache langue idioma lingua version part l s"  # with a number or letter these are texts
_MARKS = "one two three a b c ii first second 一 二 甲 乙"
_LABELS = (  # cells of label columns
    "train training test testing dev valid validation val heldout noun verb adjective adj adverb adv pronoun pron preposition prep "
    "conjunction conj interjection interj phrase expression idiom article art determiner det n v n. v. adj. adv. m f m. f. nt. pl. nomen "
    "substantiv adjektiv präposition konjunktion pronomen nom verbe adjectif adverbe sustantivo verbo adjetivo adverbio sostantivo "
    "aggettivo существительное глагол прилагательное наречие 名词 动词 動詞 形容词 形容詞 副词 副詞 名詞 代词 介词 명사 동사 형용사 부사 "
    "a1 a2 b1 b2 c1 c2 n1 n2 n3 n4 n5 easy medium hard beginner intermediate advanced yes no true false"
)
_ALSO_WORDS = "am an as be da ha he hi id is it ja my na ne no or se si so to zu"


def _words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(fold, text.split())))


SOURCES, TARGETS = _words(f"{_SOURCES} {_UNITS}"), _words(_TARGETS)
UNITS = frozenset(_words(f"text sentence word term document article dialogue utterance {_UNITS}"))
ASIDE, BESIDE, VAGUE = (frozenset(_words(text)) for text in (_ASIDE, _BESIDE, f"{_VAGUE} {_KINDS}"))
KINDS, FILLERS, MARKED, MARKS, LABELS = (frozenset(_words(text)) for text in (f"{_KINDS} {_REGIONS}", _FILLERS, _MARKED, _MARKS, _LABELS))
ALSO_WORDS = frozenset(_ALSO_WORDS.split())  # language codes that are also words
LANGUAGE_OF = ("lang", "language", "languages")  # suffix of a column of languages
