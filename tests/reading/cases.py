"""Small uploads: (content, outcome[, choices]), see `outcomes.outcome`; a content is a file, two, or {name: content}."""

PO = '# A person, 2024\nmsgid ""\nmsgstr ""\n"Language: de\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'  # six lines
FORMS = 'msgid "n"\nmsgid_plural "ns"\nmsgstr[0] "{}"\nmsgstr[1] "{}"\n\n'
WORDS = "1-2\tDer Hund{0}\t_\t_\n1\tDer\tder\tDET{0}\n2\tHund\tHund\tNOUN{0}\n".format("\t_" * 6)
QT = '<!DOCTYPE TS><TS language="de"><message><source>{0}</source><comment>x</comment><translation{1}>{2}</translation></message></TS>'
SENTENCES, LINKS = "1\teng\ta b\n2\tdeu\td e\n3\tkab\th\n4\teng\tc\n5\tdeu\tf\n6\teng\tx\n", "1\t2\n2\t1\n1\t3\n4\t5\n9\t1\n"
COUNTED = "".join(f"It is {n}.,{n}\n" for n in range(9))

# fmt: off
CASES = {
    "Anki": [
        ("#html:true\n<b>a</b>,b", "anki: (header) · a→b"), ("#1\tfirst", "tsv: #1→first"), ("<br>a\tb", "tsv: <br>a→b +html"),
        ('#separator:tab\n#html:true\n#tags column:3\n猫<br>猫\t<div>cat</div>[sound:cat.mp3]\tanimals pets\n'
         '"say ""hi"""\t"two<br>\nlines"\t\n',
         'anki: (header) · (header) · (header) · 猫 猫→cat · say "hi"→two lines +tall'),
        ("#separator:Semicolon\n#html:false\n#guid column:1\n#notetype column:2\n#deck column:3\n#columns:G;N;D;Front;Back\nq%;Basic;X;a;b",
         "anki Front→Back: (header) · (header) · (header) · (header) · (header) · (header) · a→b"),
        ('#separator:,\n#tags:new words\n#a remark\n"a, b",c\n#another,remark\n"#d",e',
         "anki: (header) · (header) · (header) · a, b→c · (header) · #d→e"),
    ],
    "cards and dictionaries": [
        ("a,b;c,d\ne,f;g,h", "csv: a,b→c,d · e,f→g,h"), ("a,b;c,d;e,f", "cards/item: a→b · c→d · e→f"),
        ("# CC-CEDICT\n#! license=CC BY-SA\n漢語 汉语 [Han4 yu3] /Chinese/the language/\n狗 狗 [gou3] /dog/\n",
         "entries simplified→meaning: (header) · (header) · 汉语→Chinese; the language · 狗→dog +columns ©license=CC BY-SA"),
    ],
    "annotated": [
        (f"# text = a\n# text_orig = x\n# text_en = b\n{WORDS}", "conllu/item text→text_en 1→0: a→b +columns"),
        (f"# text = a\n{WORDS}\n{WORDS}", "conllu/item form→lemma 1→2: Der Hund→der Hund · Der Hund→der Hund +columns"),
        ("\\_sh x\n\n" + "\\ref T1\n\\tx a\n\\ge A\n\\tx b\n\\ft c\nd\n\n" * 2, "toolbox/item tx→ft 1→3: a b→c d · a b→c d +columns"),
        ("1\ta\tb\tc d\te\tf\tg\th\ti\tj\n2\tk\tl\tm\tn\to\tp\tq\tr\ts", "tsv 1→2: a→b · k→l +columns"),  # no treebank
        ("\\lx a\n\\ge b\n\n\\lx c\n\\ge d", "toolbox/item lx→ge: a→b · c→d"),
        ("prompt_1|a, b\nc|0.6\nd|0.3\n\nprompt_2|e\nf|1\n", "prompts/item prompt→translation: a, b→c · a, b→d · e→f +columns"),
    ],
    "tabs": [
        ('"Hi\tHallo\nBye"\tTschüss', 'tsv: "Hi→Hallo · Bye"→Tschüss'),
        ("a\tb\n" * 10 + "c\t\td\na\tb", "tsv: " + "a→b · " * 10 + "(extra_columns) · a→b"),
    ],
    "tabs with quotes": [
        ('a\t"say ""b"""\nc\td', 'csv: a→say "b" · c→d +quoted'),
    ],
    "separators": [
        ("sep=\t\na\tb", "csv: (header) · a→b"), ('"He said \\"no\\"","a, b"\n"c","d"', 'csv: He said "no"→a, b · c→d'),
        ('a,b\nx,"y\nc,d\nz",w\ne,f', 'csv: a→b · (quote) · c→d · z"→w · e→f'),
        ("| en | de |\n|:---|---:|\n| dog | Hund |", "csv en→de: (header) · (header) · dog→Hund"),
    ],
    "no table": [
        ('""', "!one_column line=1"), ("1\n2\n3\n4\n" * 10, "!one_column line=1"), ("我来了，你好。\n他走了，再见。", "!one_column line=1"),
    ],
    "labels": [
        ("[zh] 早\n[en] Hi\n---\n[zh] 好\n[en] OK", "labelled zh→en: 早→Hi · @4 好→OK"),
        ('- en: "a: b"\n  de: "c"\n- en: "d \\"e\\""\n  de: \'f\'', 'labelled en→de: a: b→c · @3 d "e"→f'),
        ("en: a\nde: b\nfr: c\nen: d\nde:\nfr: e", "labelled en→fr 0→2: a→c · @4 d→e +languages"),
        ("Q: 1+1? A: 2\nQ: 2+2? A: 4", "scan Q→A: 1+1?→2 · 2+2?→4"),
        ("en\tHi\tde\tHallo\nfr\tOui\tde\tJa\nen\tHi\tde\tHallo\nfr\tOui\tde\tJa\n",
         "tsv 1→3: Hi→Hallo · Oui→Ja · Hi→Hallo · Oui→Ja +columns"),
        ("tok\tWe run.\tWir gehen.\nmig\tI sit.\tIch sitze.\n" * 3, "tsv 1→2: " + " · ".join(["We run.→Wir gehen. · I sit.→Ich sitze."] * 3)
         + " +columns"),
        ("note\ttarget\ttarget\na b\tWe run.\tWir gehen.\na b\tI sit.\tIch sitze.\n",
         "tsv target→target 1→2: (header) · We run.→Wir gehen. · I sit.→Ich sitze. +columns"),
    ],
    "lines in turn": [
        ("a\nb\n\n" * 5 + "alone\n\nc\nd\n\n" * 1 + "e\nf\n\n" * 5, "interleaved: " + "".join(f"@{1 + 3 * n} a→b · " for n in range(5))[3:]
         + "@16 (unpaired) · @18 c→d · " + " · ".join(f"@{21 + 3 * n} e→f" for n in range(5))),
    ],
    "JSON": [
        ('[{"en": ["I am.", "You are."], "de": ["Ich bin. Du bist."]}, {"en": "a", "de": "b"}]', "json/item en→de: (unpaired) · a→b"),
        ('[{"wort": "a", "mot": "b"}, {"wort": "c", "mot": "d"}]', "json/item wort→mot: a→b · c→d"),
        ('[{"src": ["I", "am"], "tgt": ["ich", "bin", "es"]}]', "json/item src→tgt: I am→ich bin es"),
        ('[{"en": ["Good day.", "Bye."], "de": ["Guten Tag.", "Tschüss."]}]', "json/item en→de: Good day.→Guten Tag. · @1 Bye.→Tschüss."),
        ('[[["a", "b"], ["c", "d"]]]', "json/item: a→b · c→d"), ('[["a", "c", "e"], ["b", "d", "f"]]', "json/item: a→b · c→d · e→f"),
        ('{"one": ["a", "c", "e"], "two": ["b", "d", "f"]}', "json/item one→two: a→b · c→d · e→f"),
        ('{"en": {"0": "a", "1": "c"}, "de": {"0": "b", "1": "d"}}', "json/item en→de: a→b · c→d"),
        ('{"0": {"en": "a", "de": "b"}, "1": {"en": "c", "de": "d"}}', "json/item en→de: a→b · c→d"),
        ('{"columns": ["en", "de"], "index": [0, 1], "data": [["a", "b"], ["c", "d"]]}', "json/item en→de: a→b · c→d"),
        ('{"question": "Frage", "answer": "Antwort"}', "json/item: question→Frage · answer→Antwort"),
        ('[{"a": "b"}, {"c": "d"}]', "json/item: a→b · c→d"), ('{"animals": {"a": "b"}, "colours": {"c": "d"}}', "json/item: a→b · c→d"),
        ('{"source": "a", "target": "b"}', "json/item source→target: a→b"), ('{"a": "b"}\n{"c": "d"}', "json_lines: a→b · c→d"),
        ('["x"\n["a", "b"]\n["c", "d"]', "json_lines: (broken) · a→b · c→d"),
        ('{\n"en": "a",\n"de": "b"\n}\n{\n"en": "c",\n"de": "d"\n}\n', "json/item en→de: a→b · c→d"),
        ('[["a", "b"]]\n[\n["c", "d"]]', "json/item: a→b · c→d"), ('{"a": "b", "c": "d", "a": "x"}', "json/item: a→b · @1 a→x · c→d"),
        ('[{"src": "a", "tgt": true}, {"src": "c", "tgt": "d"}]', "json/item src→tgt: a→true · c→d"),
        ('[{"src": "a", "tgt": NaN}, {"src": "c", "tgt": "d"}]', "json/item src→tgt: (empty_target) · c→d"),
        ('{"pairs": [["a", "b"], ["c", "d"]], "authors": [{"name": "x", "mail": "y"}]}', "json/item: a→b · c→d +lists"),
        ({"en.json": '["a", "c"]', "de.json": '["b", "d"]'}, "json/item: a→b · c→d"),
        ({"en.json": '["a", "c"]', "de.json": '["b"]'}, "!unequal_lists one=en.json count_one=2 two=de.json count_two=1"),
        ({"en.json": '[["a", "b"]]', "de.json": '[["c", "d"]]'}, "!two_tables one=en.json two=de.json"), ("(a, b)", "csv: (a→b)"),
        ('{"en": ["a"], "de": ["b", "c"]}', "!unequal_lists one=en count_one=1 two=de count_two=2"),
        ('{"a": {"b": {"c": {"d": {"e": ["x"]}}}}}', "!json_no_pairs"),
        ({"en.json": '{"menu": {"x": "a", "y": "c"}, "z": "e"}', "de.json": '{"menu": {"y": "d", "x": "b"}, "z": "f"}'},
         "json/item: a→b · c→d · e→f"),
        ('[{"translation": {"language": ["de", "en", "de"], "translation": ["die Katze", "the cat", "der Kater"]}}]',
         "json/item de→en: die Katze→the cat · @1 der Kater→the cat"),
        ("\n".join(f'{{"instruction": "Translate!", "input": "s{n}", "output": "t{n}"}}' for n in range(10)),
         "json_lines input→output: " + " · ".join(f"s{n}→t{n}" for n in range(10)) + " +columns"),
        ('[{"id": 4, "translations": [{"lang": "en", "text": "a"}, {"lang": "de", "text": "b"}]},'
         '{"id": 6, "translations": [{"lang": "de", "text": "d"}, {"lang": "en", "text": "c"}]}]',
         "json/item en→de: a→b · c→d +columns"),
        ('[[{"id": "x", "locale": "en-US", "value": "a"}, '
         '{"id": "y", "locale": "de", "value": "b"}, {"locale": "de", "value": "c"}], ["d", "e"]]',
         "json/item en-US→de: a→b · @1 a→c · (empty_source) +columns"),
        ('[{"t": [{"lang": "en", "text": "a", "note": "n"}, {"lang": "de", "text": "b", "note": "m"}], "en": "x", "fr": "y"}]',
         "json/item en→fr: x→y +columns"),
        ('{"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": "c", "qas": ['
         '{"id": "x1", "question": "a", "answers": [{"text": "b", "answer_start": 3}]}, {"id": "x2", "question": "c", "answers": '
         '[{"text": "d", "answer_start": 4}, {"text": "e", "answer_start": 5}]}]}, {"context": "d", "qas": true}, null]}, 7]}',
         "json/item question→answers.text: a→b · c→d · @2 c→e +lists +columns"),
        ('{"intents": [{"tag": "t", "patterns": ["a", "c", "x y"], "responses": ["b", "d"]}, '
         '{"tag": "u", "patterns": ["e"], "responses": []}]}',
         "json/item pattern→response: a→b · @1 a→d · @1 c→b · @1 c→d · @1 x y→b · @1 x y→d · (empty_target) +columns"),
        ('[{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},'
         '{"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}]}]',
         "json/item user→assistant: a→b · @1 c→d"),
        ('{"en": "a", "de": "b"}\n\n{"en": "x", "de": \n{"en": "c", "de": "d"},\noops\n',
         "json_lines en→de: a→b · (blank) · (broken) · c→d · (broken)"),
        ('[{"src": "a", "tgt": "b", "credit": "CC BY (A)"}, {"src": "c", "tgt": "d", "credit": "CC BY (B)"}]',
         "json/item src→tgt: a→b · c→d ©CC BY (A); CC BY (B)"),
    ],
    "keys": [
        ('"hi": "hallo",\n"bye": "ade"', "keyed: hi→hallo · bye→ade"), ("a.b=Hi\na.c=Bye\na.d=No", "!one_side"),
        ({"a.yml": "en:\n  a: Hi\n  b: Bye"}, "!one_side"),
        ({"en.properties": "a=b", "de.properties": "c=d"}, "!no_common_keys one=en.properties two=de.properties count=0"),
        ({"en.yml": "a: |\n  b", "de.yml": "a: c"}, "!not_understood"),
        ({"en.yml": "en:\n  a: Hi # x\n  m:\n    b: 'It''s'\n  c: \"y # z\"\n", "de.yml": "de:\n  m:\n    b: Es\n  c: Y\n  a: Hallo"},
         "keyed/item en→de: Hi→Hallo · It's→Es · y # z→Y"),
        (QT.format("a", "", "b"), "qt source→de: a→b"), (QT.format("a", ' type="unfinished"', "b"), "!none_kept_untranslated count=1"),
        (QT.format("%n a", "", "<numerusform>b</numerusform>\n<numerusform>c</numerusform>"), "qt/item source→de: %n a→b · %n a→c"),
        (tuple(f"<resources><string name='x'>{text}</string><plurals name='y'><item quantity='one'>{item}</item></plurals></resources>"
               for text, item in (("It\\'s <b>a</b>", "c"), ('"b "', "d"))), "strings/item: It's a→b · c→d"),
        ("<resources><string name='x'>a</string></resources>", "!one_side"),
        ("INFO x\nS-7\tHi\nH-7\t-0.3\tHal\nD-7\t-0.3\tHal\nP-7\t-0.3 -0.2\nS-0\tBye\nH-0\t-1\tAde\n\nS-1\tx\nBLEU = 3\n",
         "fairseq S→T: (header) · Hi→Hal · @6 (empty_target) · @8 (blank) · (empty_target) · (header)"),
    ],
    "two files": [
        ({"one.txt": "en,de\na,b\nc,d", "two.txt": "en,de\ne,f\ng,h"}, "!two_tables one=one.txt two=two.txt"),
        (("a\nb\n\n\n", "c\nd\n"), "two_files: a→c · b→d · (blank) · (blank)"), (('"a, b"\n"c"', '"d"\ne'), "two_files: a, b→d · c→e"),
        (('"a" b\n"c" d\n"e"', "d\ne\nf"), 'two_files: "a" b→d · "c" d→e · "e"→f'), (("it\na", "es\nb"), "two_files it→es: (header) · a→b"),
        ({"en.csv": 'text\n"a, b"\nc', "de.csv": "text\nd\ne"}, "two_files en→de: (header) · a, b→d · c→e"),
        ({"en.csv": "id,text\n7,a\n\n8,b", "de.csv": "id,text\n8,d\n9,e\n7,c"},
         "two_files/item en→de: (header) · a→c · b→d · (empty_source) +keys"),
        ({"de.tsv": "# x\n1\tde\ta b\n2\tde\tc", "links": "1\t4\n4\t1\n9\t3", "en.tsv": "3\ten\td\n4\ten\te f"},
         "two_files/item de→en: a b→e f · (empty_target) · (empty_source) +links"),
        ({"sentences.csv": SENTENCES, "links.csv": LINKS},
         "two_files/item eng→deu: a b→d e · (empty_target) · c→f +export +languages"),
        ({"links.csv": LINKS, "sentences.csv": SENTENCES}, "two_files/item kab→eng 2→0: (empty_source) · h→a b · (empty_source)"
         " +export +languages", {"source": "kab", "target": "eng"}),
        ({"sentences.csv": SENTENCES, "links.csv": "1\t2\n4\t5"}, "two_files/item eng→deu: a b→d e · c→f +export"),
        (("a\tb", "a\tb"), "!two_tables one=a.txt two=b.txt"),  # the same file again
        ({"one.CSV": "a;b\nc;d", "two.csv": "e;f\ng;h"}, "!two_tables one=one.CSV two=two.csv"),
        ({"x.txt": "e\nf", "voc.csv": "a,b\nc,d"}, "!one_table table=voc.csv other=x.txt"),
        ({"中文.txt": "a\nb", "英文.txt": "c\nd"}, "two_files 中文→英文: a→c · b→d"),
        ({"newstest-src.de": "a\nb", "newstest-ref.en": "c\nd"}, "two_files de→en: a→c · b→d"),
        (("a\nb\nc", "d\ne"), "!unequal one=a.txt lines_one=3 two=b.txt lines_two=2"),
        (('{"a": 1}\n{"a": 2}', '{"a": 3}\n{"a": 4}'), "!not_understood"),
    ],
    "signs": [
        ("a b ||| c d\nx|||y\n\n", "bars: a b→c d · x→y · (blank)"), ("狗 → dog\n猫 → cat", "marked: 狗→dog · 猫→cat"),
        ("1,2 -> 2,1\n3,4 -> 4,3", "marked: 1,2→2,1 · 3,4→4,3"), ("12+34=46\n1+1=2", "marked: 12+34→46 · 1+1→2"),
        ("dog\t\t\tHund\nelephant\tElefant\n\tleer\nleer\t", "marked: dog→Hund · elephant→Elefant · (empty_source) · (empty_target)"),
        ("dog 狗\nbig cat 大 猫\nkana かな", "marked: dog→狗 · big cat→大 猫 · kana→かな"),
    ],
    "PO": [
        ('\n\nmsgid "a"\nmsgstr "b"', "po msgid→msgstr: @3 a→b"), ('#~ msgid "a"\n#~ msgstr "b"', "!none_kept_untranslated count=1"),
        ('msgid "s"\nmsgid_plural "p"\nmsgstr[0] "0"', "po msgid→msgstr: s→0 · @1 p→0"),
        ({"en.po": 'msgid "a"\nmsgstr "b"', "de.po": 'msgid "c"\nmsgstr "d"'}, "!no_common_keys one=en.po two=de.po count=0"),
        ('msgid "a\nmsgstr "b"', "!po_broken line=1"), ('msgid "a"\nmsgstr "b"\n\nnonsense', "!po_broken line=4"), (PO, "!no_units"),
        ({"en.po": PO + 'msgid "a"\nmsgstr "Hi"\n\nmsgid "b"\nmsgstr "Bye"\n\n' + FORMS.format("file", "files"),
          "de.po": PO + FORMS.format("Datei", "Dateien") + 'msgid "a"\nmsgstr "Hallo"\n\n#, fuzzy\nmsgid "b"\nmsgstr "Ade"\n'},
         "po/item en→de: Hi→Hallo · (untranslated) · file→Datei · @3 files→Dateien"),
    ],
    "remarks and numbers": [
        ("1. Hund\tdog\n2. Katze\tcat\n3. Kuh\tcow\n", "tsv: Hund→dog · Katze→cat · Kuh→cow +numbers"),
        ("1. Hund\t1. dog\n2. Katze\t2. cat\n3. Kuh\t3. cow\n", "tsv: Hund→dog · Katze→cat · Kuh→cow +numbers"),
        ("# Words\n\n| Deutsch | Englisch |\n|---|---|\nHund | dog\nKatze | cat\nKuh | cow\n",
         "csv Deutsch→Englisch: (header) · (blank) · (header) · (header) · Hund→dog · Katze→cat · Kuh→cow"),
        ("Deutsch | Englisch\n---|---\n| Hund | dog |\n", "csv Deutsch→Englisch: (header) · (header) · Hund→dog"),
    ],
    "wrapped": [
        ("<!DOCTYPE html><p>a\tb", "!web_page"), (("1\n00:00:01,000 --> 00:00:02,500\nHi\n",) * 2, "!subtitles"),
        ("'a'\n'b'", "!one_column line=1"), ("'a','b'\nc,d", "csv: a'→b' · c→d"),
        ("{'a': 1}\n{'a': 2}", "!one_column line=1"),
        ('"""Hello, world!"",""Hallo, Welt!"""\n"""It\'s me."",""Ich bin\'s."""\n"""""""Yes"""" or no?"",""Ja oder nein?"""',
         'csv: Hello, world!→Hallo, Welt! · It\'s me.→Ich bin\'s. · "Yes" or no?→Ja oder nein?'),
        ('\'Hello, world!\',\'Hallo, Welt!\'\n\'It\\\'s me.\',\'Ich bin\\\'s.\'\n\'"Yes" or no?\',\'Ja oder nein?\'',
         'csv: Hello, world!→Hallo, Welt! · It\'s me.→Ich bin\'s. · "Yes" or no?→Ja oder nein?'),
        ('"{\'en\': \'Hello, world!\', \'de\': \'Hallo, Welt!\'}"\n"{\'en\': open(\'x\')}"\n'
         '"{\'en\': \'""Yes"" or no?\', \'de\': \'Ja oder nein?\'}"',
         'json_lines en→de: Hello, world!→Hallo, Welt! · (broken) · "Yes" or no?→Ja oder nein?'),
    ],
    "rare columns": [
        ("a,b\nc,#VALUE!\n__NULL__,d\ne,Loading...\n", "csv: a→b · (empty_target) · (empty_source) · (empty_target) +errors"),
        ("Loading...,Lädt\na,b\n", "csv: Loading...→Lädt · a→b"),
        ('"a\nb","c\nd","e"\n\n"f\ng","h\ni","j"\n', "csv: a b→c d · @4 (blank) · f g→h i +columns"),
        ("Hi;Hallo;;;\nBye;Tschüss;;;\nWell; hi;Hallo;\n", "csv: Hi→Hallo · Bye→Tschüss · (extra_columns)"),
        ("Hi;Hallo\nBye;Tschüss;;\nDog;Hund;\nCat;Katze\n", "csv: Hi→Hallo · Bye→Tschüss · Dog→Hund · Cat→Katze"),
    ],
    "columns": [
        ("Hi\tHallo\tx y\nHi\tServus\tu v\n", "tsv 1→2: Hallo→x y · Servus→u v +columns"),
        ("to\tzu\tmit Verben\nin\tin\tmit Dativ\nis\tist\tvon sein\n", "tsv: to→zu · in→in · is→ist +columns +same"),
        ("https://a.b/c\tHi.\tSalut!\nhttps://a.b/d\tNo.\tNon.\n", "tsv 1→2: Hi.→Salut! · No.→Non. +columns"),
        ("source_lang,target_lang,text,translation\nen,de,dog,Hund\nen,de,cat,Katze\n",
         "csv text→translation 2→3: (header) · dog→Hund · cat→Katze +columns"),
        (SENTENCES, "tsv 1→2: eng→a b · deu→d e · kab→h · eng→c · deu→f · eng→x +columns +language_side"),
        ("en\tHi\nde\tHallo\nen\tBye\nde\tAde\n", "labelled en→de: Hi→Hallo · @3 Bye→Ade"),
        ('{"source": "x", "question": "a", "answer": "b"}\n{"source": "x", "question": "c", "answer": "d"}\n',
         "json_lines question→answer: a→b · c→d +columns"),
    ],
    "headers": [
        (",0,1\n0,Hi,Hallo\n1,Bye,Tschüss\n", "csv 0→1 1→2: (header) · Hi→Hallo · Bye→Tschüss +columns"),
        ("Title\nHaus\tBaum\na\tb\n", "tsv Haus→Baum: (one_column) · (header) · a→b", {"header": True}),
        ("question 1,answer 1\n", "csv: question 1→answer 1"),
        ("source 1,target 1\nsource 2,target 2\nsource 3,target 3\n", "csv: source 1→target 1 · source 2→target 2 · source 3→target 3"),
        (("text\nHello\nBye\n", "text\nHallo\nTschüss\n"), "two_files: (header) · Hello→Hallo · Bye→Tschüss"),
        (("Satz\nHello\nBye\n", "Sentence\nHallo\nTschüss\n"), "two_files: Satz→Sentence · Hello→Hallo · Bye→Tschüss"),
        ("src\ttgt\na\tb", "tsv src→tgt: (header) · a→b"), ("source\ttarget\na\tb", "tsv: source→target · a→b", {"header": False}),
        ("English,en,note\nHi there,Hallo du,x2\nBye you,Ade du,x3\nYes I do,Ja doch,x4\n",
         "csv: English→en · Hi there→Hallo du · Bye you→Ade du · Yes I do→Ja doch +columns"),
        ("Text 1,Texte 1\nI am here,Je suis ici\nYou are here,Tu es ici\n",
         "csv: Text 1→Texte 1 · I am here→Je suis ici · You are here→Tu es ici"),
        ("source,target\nsource,target\nsource,Quelle\nsource,Herkunft\n",
         "csv source→target: (header) · source→target · source→Quelle · source→Herkunft"),
    ],
    "uploads": [
        ("\ufeffa\tb\r\nc\td", "tsv: a→b · c→d"), ('say "hi\tsag "hi\n"x"\ty', 'tsv: say "hi→sag "hi · "x"→y'),
        ("👩\u200d🔬\tscientist", "tsv: 👩\u200d🔬→scientist"), ('"hello", "hallo"', "csv: hello→hallo"),
        (b'caf\xe9\tcoffee\nth\xe9 vert\tgreen tea\no\xf9 ?\twhere?\n', "tsv: café→coffee · thé vert→green tea · où ?→where? +encoding"),
        ("don &apos;t go\tgeh ni@@ cht\nR &amp; B\tein Bier\n", "tsv: don 't go→geh nicht · R & B→ein Bier +undone", {"undo": True}),
        ("don &apos;t go\tgeh ni@@ cht\nR &amp; B\tein Bier\n", "tsv: don &apos;t go→geh ni@@ cht · R &amp; B→ein Bier", {"undo": False}),
        (b'caf\xe9\tcoffee\nth\xe9 vert\tgreen tea\no\xf9 ?\twhere?\n',
         "tsv: cafИ→coffee · thИ vert→green tea · oЫ ?→where?", {"encoding": "koi8-r"}),
    ],
    "refusals": [
        ({"file1": "a\tb", "file2": "a\tb", "file3": "a\tb"}, "!how_many_files count=3"), (" \n\t\n\u200b\n", "!nothing_inside"),
        ("a,b\nno\nnone\nnothing", "!one_column line=2"), ('"a,b\n"c,d\n"e,f', "!open_quotes count=3 line=1"),
        ("\ta\n\tb\n", "!none_kept_empty_source lines=2 line=1"), (("a\n\n", "\nb\n"), "!none_kept_several lines=2 line=1"),
        (b'\x80\x02]q\x00.', "!packed what=pickle"), (("a\tb", b'\x89PNG'), "!packed what=PNG"), ("a\tb\n\x00", "!binary line=2"),
    ],
}
# fmt: on
