"""Languages: their codes, and their names in the languages of their teachers, as used in the names of columns and files.

Most names are from Unicode's CLDR (Unicode License v3); a column may be called "English", "Englisch", "英语" or "en".
"""

from __future__ import annotations

import re
import unicodedata

_CODES = (
    "aa ab af ak am amh an ar ara as ay az aze ba be bg bho bi bm bn bo br bs bul ca ceb ces ch chi ckb cmn co cs cv cy cze da de deu dut "
    "dv dz ee el ell en eng eo epo es et eu eus fa fas ff fi fil fin fj fo fr fra fre fy ga gd ger gl glg gn gre grn gsw gu guj gv ha hau "
    "haw he heb hi hin hmn hr hrv ht hu hun hy hye ia ibo id ig ilo is isl it ita iu ja jav jpn jv ka kat kaz kg khm ki kk kl km kn ko "
    "kor ks ku kw ky la lao lat lav lb lg li ln lo lt lv lzh mai mg mh mi mk mkd ml mn mr ms mt my mya na nb nd nds ne nep ng nl nld nn "
    "nno no nob nr nso nv ny oc om or os pa pap pl pol por prs ps pt qu rm rn ro ron ru rum rus rw sa sc sd se sg sh si sk sl slk slv sm "
    "sn so spa sq sqi sr srp ss st su sv sw swa swe ta te tet tg tgl th tha ti tk tl tlh tn to tok tpi tr ts tt tur tw ty ug uk ukr ur "
    "urd uz uzb ve vi vie wa war wo xh xho yi yo yor yue za zh zho zu zul"
)
_ORDER = "en de fr es it pt nl ru zh ja ko ar tr pl uk cs sv da no fi el he hu ro fa hi th vi id la"
_COMMON_NAMES = (  # names of the codes in _ORDER in the most common school languages
    "English|German|French|Spanish|Italian|Portuguese|Dutch|Russian|Chinese|Japanese|Korean|Arabic|Turkish|Polish|Ukrainian|Czech|"
    "Swedish|Danish|Norwegian|Finnish|Greek|Hebrew|Hungarian|Romanian|Persian|Hindi|Thai|Vietnamese|Indonesian|Latin",
    "Englisch|Deutsch|Französisch|Spanisch|Italienisch|Portugiesisch|Niederländisch|Russisch|Chinesisch|Japanisch|Koreanisch|"
    "Arabisch|Türkisch|Polnisch|Ukrainisch|Tschechisch|Schwedisch|Dänisch|Norwegisch|Finnisch|Griechisch|Hebräisch|Ungarisch|"
    "Rumänisch|Persisch|Hindi|Thailändisch|Vietnamesisch|Indonesisch|Latein",
    "anglais|allemand|français|espagnol|italien|portugais|néerlandais|russe|chinois|japonais|coréen|arabe|turc|polonais|ukrainien|"
    "tchèque|suédois|danois|norvégien|finnois|grec|hébreu|hongrois|roumain|persan|hindi|thaï|vietnamien|indonésien|latin",
    "inglés|alemán|francés|español|italiano|portugués|neerlandés|ruso|chino|japonés|coreano|árabe|turco|polaco|ucraniano|checo|"
    "sueco|danés|noruego|finés|griego|hebreo|húngaro|rumano|persa|hindi|tailandés|vietnamita|indonesio|latín",
    "inglese|tedesco|francese|spagnolo|italiano|portoghese|olandese|russo|cinese|giapponese|coreano|arabo|turco|polacco|ucraino|"
    "ceco|svedese|danese|norvegese|finlandese|greco|ebraico|ungherese|rumeno|persiano|hindi|thailandese|vietnamita|indonesiano|"
    "latino",
    "inglês|alemão|francês|espanhol|italiano|português|holandês|russo|chinês|japonês|coreano|árabe|turco|polonês|ucraniano|tcheco|"
    "sueco|dinamarquês|norueguês|finlandês|grego|hebraico|húngaro|romeno|persa|híndi|tailandês|vietnamita|indonésio|latim",
    "Engels|Duits|Frans|Spaans|Italiaans|Portugees|Nederlands|Russisch|Chinees|Japans|Koreaans|Arabisch|Turks|Pools|Oekraïens|"
    "Tsjechisch|Zweeds|Deens|Noors|Fins|Grieks|Hebreeuws|Hongaars|Roemeens|Perzisch|Hindi|Thai|Vietnamees|Indonesisch|Latijn",
    "английский|немецкий|французский|испанский|итальянский|португальский|нидерландский|русский|китайский|японский|корейский|"
    "арабский|турецкий|польский|украинский|чешский|шведский|датский|норвежский|финский|греческий|иврит|венгерский|румынский|"
    "персидский|хинди|тайский|вьетнамский|индонезийский|латинский",
    "英语|德语|法语|西班牙语|意大利语|葡萄牙语|荷兰语|俄语|汉语|日语|韩语|阿拉伯语|土耳其语|波兰语|乌克兰语|捷克语|瑞典语|丹麦语|"
    "挪威语|芬兰语|希腊语|希伯来语|匈牙利语|罗马尼亚语|波斯语|印地语|泰语|越南语|印度尼西亚语|拉丁语",
    "英文|德文|法文|西班牙文|義大利文|葡萄牙文|荷蘭文|俄文|漢語|日文|韓文|阿拉伯文|土耳其文|波蘭文|烏克蘭文|捷克文|瑞典文|丹麥文|"
    "挪威文|芬蘭文|希臘文|希伯來文|匈牙利文|羅馬尼亞文|波斯文|印地文|泰文|越南文|印尼文|拉丁文",
    "英語|ドイツ語|フランス語|スペイン語|イタリア語|ポルトガル語|オランダ語|ロシア語|中国語|日本語|韓国語|アラビア語|トルコ語|"
    "ポーランド語|ウクライナ語|チェコ語|スウェーデン語|デンマーク語|ノルウェー語|フィンランド語|ギリシャ語|ヘブライ語|"
    "ハンガリー語|ルーマニア語|ペルシア語|ヒンディー語|タイ語|ベトナム語|インドネシア語|ラテン語",
    "영어|독일어|프랑스어|스페인어|이탈리아어|포르투갈어|네덜란드어|러시아어|중국어|일본어|한국어|아랍어|튀르키예어|폴란드어|"
    "우크라이나어|체코어|스웨덴어|덴마크어|노르웨이어|핀란드어|그리스어|히브리어|헝가리어|루마니아어|페르시아어|힌디어|태국어|"
    "베트남어|인도네시아어|라틴어",
    "الإنجليزية|الألمانية|الفرنسية|الإسبانية|الإيطالية|البرتغالية|الهولندية|الروسية|الصينية|اليابانية|الكورية|العربية|التركية|"
    "البولندية|الأوكرانية|التشيكية|السويدية|الدانمركية|النرويجية|الفنلندية|اليونانية|العبرية|الهنغارية|الرومانية|الفارسية|الهندية|"
    "التايلاندية|الفيتنامية|الإندونيسية|اللاتينية",
    "İngilizce|Almanca|Fransızca|İspanyolca|İtalyanca|Portekizce|Felemenkçe|Rusça|Çince|Japonca|Korece|Arapça|Türkçe|Lehçe|"
    "Ukraynaca|Çekçe|İsveççe|Danca|Norveççe|Fince|Yunanca|İbranice|Macarca|Rumence|Farsça|Hintçe|Tayca|Vietnamca|Endonezce|Latince",
    "angielski|niemiecki|francuski|hiszpański|włoski|portugalski|niderlandzki|rosyjski|chiński|japoński|koreański|arabski|turecki|"
    "polski|ukraiński|czeski|szwedzki|duński|norweski|fiński|grecki|hebrajski|węgierski|rumuński|perski|hindi|tajski|wietnamski|"
    "indonezyjski|łaciński",
    "англійська|німецька|французька|іспанська|італійська|португальська|нідерландська|російська|китайська|японська|корейська|"
    "арабська|турецька|польська|українська|чеська|шведська|данська|норвезька|фінська|грецька|іврит|угорська|румунська|перська|"
    "гінді|тайська|вʼєтнамська|індонезійська|латинська",
    "angličtina|němčina|francouzština|španělština|italština|portugalština|nizozemština|ruština|čínština|japonština|korejština|"
    "arabština|turečtina|polština|ukrajinština|čeština|švédština|dánština|norština|finština|řečtina|hebrejština|maďarština|"
    "rumunština|perština|hindština|thajština|vietnamština|indonéština|latina",
    "angličtina|nemčina|francúzština|španielčina|taliančina|portugalčina|holandčina|ruština|čínština|japončina|kórejčina|arabčina|"
    "turečtina|poľština|ukrajinčina|čeština|švédčina|dánčina|nórčina|fínčina|gréčtina|hebrejčina|maďarčina|rumunčina|perzština|"
    "hindčina|thajčina|vietnamčina|indonézština|latinčina",
    "engleski|njemački|francuski|španjolski|talijanski|portugalski|nizozemski|ruski|kineski|japanski|korejski|arapski|turski|"
    "poljski|ukrajinski|češki|švedski|danski|norveški|finski|grčki|hebrejski|mađarski|rumunjski|perzijski|hindski|tajlandski|"
    "vijetnamski|indonezijski|latinski",
    "енглески|немачки|француски|шпански|италијански|португалски|холандски|руски|кинески|јапански|корејски|арапски|турски|пољски|"
    "украјински|чешки|шведски|дански|норвешки|фински|грчки|хебрејски|мађарски|румунски|персијски|хинди|тајски|вијетнамски|"
    "индонежански|латински",
    "английски|немски|френски|испански|италиански|португалски|нидерландски|руски|китайски|японски|корейски|арабски|турски|полски|"
    "украински|чешки|шведски|датски|норвежки|фински|гръцки|иврит|унгарски|румънски|персийски|хинди|тайски|виетнамски|индонезийски|"
    "латински",
    "engelska|tyska|franska|spanska|italienska|portugisiska|nederländska|ryska|kinesiska|japanska|koreanska|arabiska|turkiska|"
    "polska|ukrainska|tjeckiska|svenska|danska|norska|finska|grekiska|hebreiska|ungerska|rumänska|persiska|hindi|thailändska|"
    "vietnamesiska|indonesiska|latin",
    "engelsk|tysk|fransk|spansk|italiensk|portugisisk|nederlandsk|russisk|kinesisk|japansk|koreansk|arabisk|tyrkisk|polsk|"
    "ukrainsk|tjekkisk|svensk|dansk|norsk|finsk|græsk|hebraisk|ungarsk|rumænsk|persisk|hindi|thai|vietnamesisk|indonesisk|latin",
    "englanti|saksa|ranska|espanja|italia|portugali|hollanti|venäjä|kiina|japani|korea|arabia|turkki|puola|ukraina|tšekki|ruotsi|"
    "tanska|norja|suomi|kreikka|heprea|unkari|romania|persia|hindi|thai|vietnam|indonesia|latina",
    "Αγγλικά|Γερμανικά|Γαλλικά|Ισπανικά|Ιταλικά|Πορτογαλικά|Ολλανδικά|Ρωσικά|Κινεζικά|Ιαπωνικά|Κορεατικά|Αραβικά|Τουρκικά|"
    "Πολωνικά|Ουκρανικά|Τσεχικά|Σουηδικά|Δανικά|Νορβηγικά|Φινλανδικά|Ελληνικά|Εβραϊκά|Ουγγρικά|Ρουμανικά|Περσικά|Χίντι|Ταϊλανδικά|"
    "Βιετναμικά|Ινδονησιακά|Λατινικά",
    "אנגלית|גרמנית|צרפתית|ספרדית|איטלקית|פורטוגזית|הולנדית|רוסית|סינית|יפנית|קוריאנית|ערבית|טורקית|פולנית|אוקראינית|צ׳כית|שוודית|"
    "דנית|נורווגית|פינית|יוונית|עברית|הונגרית|רומנית|פרסית|הינדי|תאית|וייטנאמית|אינדונזית|לטינית",
    "angol|német|francia|spanyol|olasz|portugál|holland|orosz|kínai|japán|koreai|arab|török|lengyel|ukrán|cseh|svéd|dán|norvég|"
    "finn|görög|héber|magyar|román|perzsa|hindi|thai|vietnámi|indonéz|latin",
    "engleză|germană|franceză|spaniolă|italiană|portugheză|neerlandeză|rusă|chineză|japoneză|coreeană|arabă|turcă|poloneză|"
    "ucraineană|cehă|suedeză|daneză|norvegiană|finlandeză|greacă|ebraică|maghiară|română|persană|hindi|thailandeză|vietnameză|"
    "indoneziană|latină",
    "انگلیسی|آلمانی|فرانسوی|اسپانیایی|ایتالیایی|پرتغالی|هلندی|روسی|چینی|ژاپنی|کره‌ای|عربی|ترکی استانبولی|لهستانی|اوکراینی|چکی|"
    "سوئدی|دانمارکی|نروژی|فنلاندی|یونانی|عبری|مجاری|رومانیایی|فارسی|هندی|تایلندی|ویتنامی|اندونزیایی|لاتین",
    "अंग्रेज़ी|जर्मन|फ़्रेंच|स्पेनिश|इतालवी|पुर्तगाली|डच|रूसी|चीनी|जापानी|कोरियाई|अरबी|तुर्की|पोलिश|यूक्रेनियाई|चेक|स्वीडिश|डेनिश|"
    "नॉर्वेजियाई|फ़िनिश|यूनानी|हिब्रू|हंगेरियाई|रोमानियाई|फ़ारसी|हिन्दी|थाई|वियतनामी|इंडोनेशियाई|लैटिन",
    "ইংরেজি|জার্মান|ফরাসি|স্প্যানিশ|ইতালিয়|পর্তুগীজ|ওলন্দাজ|রুশ|চীনা|জাপানি|কোরিয়ান|আরবি|তুর্কী|পোলিশ|ইউক্রেনীয়|চেক|সুইডিশ|ডেনিশ|"
    "নরওয়েজীয়|ফিনিশ|গ্রিক|হিব্রু|হাঙ্গেরীয়|রোমানীয়|ফার্সি|হিন্দি|থাই|ভিয়েতনামী|ইন্দোনেশীয়|লাতিন",
    "อังกฤษ|เยอรมัน|ฝรั่งเศส|สเปน|อิตาลี|โปรตุเกส|ดัตช์|รัสเซีย|จีน|ญี่ปุ่น|เกาหลี|อาหรับ|ตุรกี|โปแลนด์|ยูเครน|เช็ก|สวีเดน|เดนมาร์ก|"
    "นอร์เวย์|ฟินแลนด์|กรีก|ฮิบรู|ฮังการี|โรมาเนีย|เปอร์เซีย|ฮินดี|ไทย|เวียดนาม|อินโดนีเซีย|ละติน",
    "Tiếng Anh|Tiếng Đức|Tiếng Pháp|Tiếng Tây Ban Nha|Tiếng Italy|Tiếng Bồ Đào Nha|Tiếng Hà Lan|Tiếng Nga|Tiếng Trung|Tiếng Nhật|"
    "Tiếng Hàn|Tiếng Ả Rập|Tiếng Thổ Nhĩ Kỳ|Tiếng Ba Lan|Tiếng Ukraina|Tiếng Séc|Tiếng Thụy Điển|Tiếng Đan Mạch|Tiếng Na Uy|"
    "Tiếng Phần Lan|Tiếng Hy Lạp|Tiếng Do Thái|Tiếng Hungary|Tiếng Romania|Tiếng Ba Tư|Tiếng Hindi|Tiếng Thái|Tiếng Việt|"
    "Tiếng Indonesia|Tiếng La-tinh",
    "Inggris|Jerman|Prancis|Spanyol|Italia|Portugis|Belanda|Rusia|Tionghoa|Jepang|Korea|Arab|Turki|Polandia|Ukraina|Ceko|Swedia|"
    "Denmark|Norwegia|Finlandia|Yunani|Ibrani|Hungaria|Rumania|Persia|Hindi|Thai|Vietnam|Indonesia|Latin",
)
_OTHER_NAMES = (  # English and native names of the other languages, and more names of all
    "aa Afar|Qafar; ab Abkhazian|Аԥсшәа; af Afrikaans; ak Akan|Twi; am Amharic|አማርኛ; an Aragonese|aragonés; ar عربي|عربى|اللغة العربية; "
    "as Assamese|অসমীয়া; ay Aymara; az Azerbaijani|azərbaycan|Azeri; ba Bashkir|башҡорт теле|башҡортса; be Belarusian|беларуская|"
    "Belarussisch; bg Bulgarian|български|Bulgarisch; bho Bhojpuri|भोजपुरी; bi Bislama; bm Bambara|bamanakan; bn Bangla|বাংলা|Bengali; "
    "bo Tibetan|བོད་སྐད་; br Breton|brezhoneg; bs Bosnian|bosanski|Bosnisch; ca Catalan|català|catalán|Katalanisch; ceb Cebuano; "
    "ch Chamorro; ckb Central Kurdish|کوردیی ناوەندی|Sorani; co Corsican|corsu; cs česky|český; cv Chuvash|чӑваш; cy Welsh|Cymraeg|"
    "Walisisch; de deu|ger|dt|Hochdeutsch|německy|německý; dv Divehi|ދިވެހިބަސް|Dhivehi|Maldivian; dz Dzongkha|རྫོང་ཁ; ee Ewe|eʋegbe; "
    "el Hellenic; en eng|engl|영문|إنجليزي|انجليزي|الانجليزية|انگریزی|انګليسي|ئینگلیزی|ئىنگلىزچە|îngilîzî|अंग्रेजी|इंग्रजी|अङ्ग्रेजी|ইংৰাজী|અંગ્રેજી|"
    "ਅੰਗਰੇਜ਼ੀ|ଇଂରାଜୀ|ஆங்கிலம்|ఇంగ్లీష్|ಇಂಗ್ಲಿಷ್|ഇംഗ്ലീഷ്|ඉංග්රීසි|អង់គ្លេស|ອັງກິດ|အင်္ဂလိပ်|እንግሊዝኛ|ინგლისური|անգլերեն|англи|англійская|англиски|англисче|"
    "ағылшын тілі|ағылшынша|инглиз|inglizcha|ingilis|angleščina|anglicky|anglický|anglisht|anglų|angļu|inglise|ingelesa|anglès|ingles|"
    "Inggeris|tieng anh|Kiingereza|Icyongereza|Ingiriisi|Turanci|Gĩthungũ|Béarla|Beurla|Saesneg|enska|Änglisch|ענגליש|angla|Inglis; "
    "eo Esperanto|espéranto|エスペラント; es spa|esp|castellà|castellano|Castilian|西语; et Estonian|eesti|Estnisch|viro; eu Basque|"
    "euskara|Baskisch; fa Farsi|Dari; ff Fula|Pulaar|Fulani; fil Filipino|Pilipino; fj Fijian; fo Faroese|føroyskt; fr fra|fre|frz|"
    "francouzsky; fy Western Frisian|Frysk|Frisian|West Frisian; ga Irish|Gaeilge|Irisch; gd Scottish Gaelic|Gàidhlig|Gaelic; gl Galician|"
    "galego; gn Guarani|avañe'ẽ; gsw Swiss German|Schwiizertüütsch|Schweizerdeutsch; gu Gujarati|ગુજરાતી; gv Manx|Gaelg; ha Hausa; "
    "haw Hawaiian|'Ōlelo Hawai'i; he Ivrit; hi हिंदी; hmn Hmong; hr Croatian|hrvatski|Kroatisch; ht Haitian Creole|Kreyòl Ayisyen|Haitian|"
    "Kreyòl; hy Armenian|հայերեն|Armenisch; ia Interlingua; ig Igbo; ilo Iloko|Ilocano; is Icelandic|íslenska|Isländisch; iu Inuktitut|"
    "ᐃᓄᒃᑎᑐᑦ; ja jpn|jap|日語|和文|日本语|일어; jv Javanese|Jawa; ka Georgian|ქართული|Georgisch; kg Kongo; ki Kikuyu|Gikuyu; kk Kazakh|"
    "қазақ тілі|қазақша; kl Kalaallisut|Greenlandic; km Khmer|ខ្មែរ; kn Kannada|ಕನ್ನಡ|Canarese; ko kor|韓語|韩文|朝鲜语|朝鮮語|국어|한글|"
    "국문|조선말; ks Kashmiri|کٲشُر; ku Kurdish|kurdî|Kurmanji; kw Cornish|kernewek; ky Kyrgyz|кыргызча|Kirghiz; lb Luxembourgish|"
    "Lëtzebuergesch|Luxemburgisch; lg Ganda|Luganda; li Limburgish; ln Lingala|lingála; lo Lao|ລາວ; lt Lithuanian|lietuvių|Litauisch; "
    "lv Latvian|latviešu|Lettisch; lzh Literary Chinese|文言|文言文|古文; mai Maithili|मैथिली; mg Malagasy; mh Marshallese; mi Māori|"
    "Maori; mk Macedonian|македонски|Mazedonisch; ml Malayalam|മലയാളം; mn Mongolian|монгол|Mongolisch; mr Marathi|मराठी; ms Malay|Melayu|"
    "Bahasa Melayu; mt Maltese|Malti; my Burmese|မြန်မာ|Myanmar; na Nauru; nb Norwegian Bokmål|norsk bokmål|Bokmål; nd North Ndebele|"
    "isiNdebele; nds Low German|Neddersass'sch|Plattdeutsch; ne Nepali|नेपाली; nl Flemish|Vlaams|holandés; nn Norwegian Nynorsk|"
    "norsk nynorsk|Nynorsk; no bokmaal; nr South Ndebele; nso Northern Sotho|Sesotho sa Leboa; nv Navajo|Diné Bizaad; ny Nyanja|Chichewa; "
    "oc Occitan; om Oromo|Oromoo; or Odia|ଓଡ଼ିଆ|Oriya; os Ossetic|ирон; pa Punjabi|ਪੰਜਾਬੀ; pap Papiamento|Papiamentu; ps Pashto|پښتو|Pushto; "
    "pt Brazilian; qu Quechua|Runasimi; rm Romansh|rumantsch; rn Rundi|Ikirundi; ro Moldovan; ru rus|俄語; rw Kinyarwanda|Ikinyarwanda; "
    "sa Sanskrit|संस्कृत भाषा; sc Sardinian|sardu; sd Sindhi|سنڌي; se Northern Sami|davvisámegiella; sg Sango|Sängö; sh Serbo-Croatian|"
    "Serbocroatian; si Sinhala|සිංහල|Sinhalese; sk Slovak|slovenčina|Slowakisch; sl Slovenian|slovenščina|Slowenisch|Slovene; sm Samoan; "
    "sn Shona|chiShona; so Somali|Soomaali; sq Albanian|shqip|Albanisch; sr Serbian|српски|srpski|Serbisch; ss Swati|siSwati; "
    "st Southern Sotho|Sesotho|Sotho; su Sundanese|Basa Sunda; sw Swahili|Kiswahili; ta Tamil|தமிழ்; te Telugu|తెలుగు; tet Tetum; tg Tajik|"
    "тоҷикӣ; ti Tigrinya|ትግርኛ; tk Turkmen|türkmen dili; tl Tagalog; tlh Klingon; tn Tswana|Setswana; to Tongan|lea fakatonga; "
    "tok Toki Pona; tpi Tok Pisin; tr 터키어; ts Tsonga|Xitsonga; tt Tatar|татар|татарча; ug Uyghur|ئۇيغۇرچە|Uighur; ur Urdu|اردو; "
    "uz Uzbek|o'zbek; ve Venda|Tshivenḓa; vi tieng viet|Việt; wa Walloon|walon; war Waray; wo Wolof; xh Xhosa|IsiXhosa; yi Yiddish|ייִדיש; "
    "yo Yoruba|Èdè Yorùbá; yue Cantonese|粵語|粤语|廣東話|广东话; za Zhuang|Vahcuengh; zh chi|chn|中文|华语|華語|國語|国语|普通话|普通話|"
    "白话|白话文|白話文|现代文|現代文|중문|Mandarin|kitajščina|Standard Chinese; zu Zulu|isiZulu; it ita"
)
_WITHOUT_CODE = (  # languages without a code common in files
    "Acehnese Aramaic Balinese Banjar Batak Bemba Berber Bikol Cherokee Coptic Cree Dinka Dogri Fon Hakka Hiligaynon Hokkien Kabyle "
    "Kapampangan Konkani Lakota Lozi Luba Luo Madurese Manipuri Mapudungun Marwari Maya Minangkabau Nahuatl Nuer Ojibwe Pangasinan Quichua "
    "Rajasthani Romani Santali Shan Shanghainese Syriac Taiwanese Tamazight Tulu Umbundu Volapük Ido Asturian Sicilian Venetian Lombard "
    "Ladin Friulian Sorbian Silesian Yakut Udmurt Chechen Karelian"
)
_SCRIPTED = re.compile(r"([a-z]{2,3})([-_][A-Za-z]{4})?([-_]([A-Za-z]{2}|\d{3}))?")  # en, en-US, zh_Hans_CN, eng_Latn, es-419
_MAX_NAME_CHARACTERS = 40
_INFLECTED = ("er", "es", "en", "e")  # Englischer Satz, phrase anglaise


def fold(name: str) -> str:
    """Folds a name to lower case without the accents on Latin letters, which users often omit."""
    low = unicodedata.normalize("NFC", name.strip().casefold()).replace("’", "'").replace("ʼ", "'")
    bare = low if low.isascii() else "".join(sign for sign in unicodedata.normalize("NFD", low) if not unicodedata.combining(sign))
    return bare if bare.isascii() else low


def _build_names() -> dict[str, str]:
    """Maps names to codes; a shared name belongs to the more common language."""
    codes = {fold(name): name for name in _WITHOUT_CODE.split()}
    for code, _, names in (entry.partition(" ") for entry in _OTHER_NAMES.split("; ")):
        codes |= dict.fromkeys(map(fold, names.split("|")), code)
    for names in _COMMON_NAMES:
        codes |= zip(map(fold, names.split("|")), _ORDER.split(), strict=True)
    return codes


_KNOWN = frozenset(_CODES.split())
NAMES = _build_names()


def find_language(name: str) -> str:
    """Returns the code of the language with this name, in any inflection; else ""."""
    low = fold(name[: 2 * _MAX_NAME_CHARACTERS])
    roots = (low, *(low.removesuffix(end) for end in _INFLECTED if low.endswith(end) and len(low) > 6), low.removeprefix("ภาษา"))
    return next((NAMES[root] for root in roots if root in NAMES), "")


def find_code(name: str) -> str:
    """Returns the language in a code, in lower case: "en", "pt-BR", "eng_Latn"; else ""."""
    match = _SCRIPTED.fullmatch(name.strip(), 0, 20)
    return match[1] if match and match[1] in _KNOWN else ""


def is_language(name: str) -> bool:
    """Whether a column or a file is named after a language: "de", "pt-BR", "eng_Latn", "German"."""
    return bool(find_language(name) or find_code(name))
