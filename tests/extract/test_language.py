"""Texts in the expected languages are recognized, and other texts have no language."""

import random

import pytest

from crawler.extract.language import LANGUAGES, language_of, likeliest

PASSAGES = {
    "en": "The water rose over night, and people from all the streets near the river left their homes for the school.",
    "de": "Das Wasser stieg über Nacht, und die Menschen aus den Straßen am Fluss verließen ihre Häuser und Wohnungen.",
    "fr": "L'eau est montée pendant la nuit et les habitants des rues proches de la rivière ont quitté leurs maisons.",
    "es": "El agua subió durante la noche y los vecinos de las calles cercanas al río abandonaron todas sus casas.",
    "pl": "Woda podniosła się w nocy, a ludzie z ulic położonych blisko rzeki musieli opuścić swoje domy i mieszkania.",
    "vi": "Nước dâng cao trong đêm và người dân ở các con đường gần sông đã phải rời khỏi nhà của mình để đến trường.",
    "ru": "За ночь вода поднялась, и люди со всех улиц у реки покинули свои дома и перебрались в здание школы.",
    "uk": "За ніч вода піднялася, і люди з усіх вулиць біля річки залишили свої будинки та перейшли до школи.",
    "zh": "昨夜水位上涨，河边街道的居民离开家园，救援人员用船把食物和毛毯送到学校，多地停电，道路封闭。",
    "ja": "昨夜、川の水位が上がり、近くの住民は家を離れて学校に避難しました。救助隊がボートで食料を運んでいます。",
    "ko": "밤사이 강물이 불어나 강변 거리의 주민들이 집을 떠나 학교로 대피했고 구조대가 보트로 음식을 날랐습니다.",
    "th": "น้ำขึ้นสูงในตอนกลางคืนและผู้คนจากถนนใกล้แม่น้ำต้องออกจากบ้านไปอยู่ที่โรงเรียนจนกว่าไฟฟ้าจะกลับมา",
    "ar": "ارتفعت المياه خلال الليل وغادر سكان الشوارع القريبة من النهر منازلهم إلى المدرسة حتى تعود الكهرباء.",
    "hi": "रात में पानी बढ़ गया और नदी के पास की सड़कों के लोग अपने घर छोड़कर स्कूल चले गए जहाँ उन्हें खाना मिला।",
}


@pytest.mark.parametrize("code", PASSAGES)
def test_a_passage_half_of_it_and_many_are_in_its_language(code):
    passage = PASSAGES[code]
    assert language_of(passage) == code
    assert language_of(passage[: len(passage) // 2]) == code
    dice = random.Random(code)
    for _ in range(20):
        assert language_of("\n".join(dice.choices([passage, passage[20:], passage[:60]], k=20))) == code


def test_the_likeliest_is_one_of_those_asked_for():
    assert likeliest(PASSAGES["es"], ("pt", "fr"))[0] in ("pt", "fr", "")
    assert likeliest(PASSAGES["th"], ("en",)) == ("", 0.0)
    assert likeliest("", ("en",))[1] <= 1.01


def test_a_title_in_no_language_does_not_hide_that_of_the_text():
    for code, passage in PASSAGES.items():
        assert language_of(f"RTX 5090 Ti: 4K @ 120 fps, Windows 11 KB5034441\n{passage}\n{passage}") == code


@pytest.mark.parametrize("code", PASSAGES)
def test_what_is_quoted_does_not_hide_the_language_of_the_text(code):
    """Above, in the middle, or below; nor does a title, or code."""
    own = "\n".join([PASSAGES[code]] * 4)
    quotes = [passage for other, passage in PASSAGES.items() if other != code]
    quotes.append("for (int i = 0; i < size; ++i) { total += rows[i].count; } // https://example.org/a/b?c=d&e=f")
    for quote in quotes:
        for text in (f"{quote}\n{own}", f"{own}\n{quote}\n{own}", f"{own}\n{quote}", f"{quote[:50]}\n{own}"):
            assert language_of(text) == code


def test_a_long_text_of_random_letters_has_hardly_ever_a_language():
    dice = random.Random(1)
    found = [language_of("".join(dice.choices("abcdefghijklmnopqrstuvwxyz    ", k=600))) for _ in range(100)]
    assert found.count(None) >= 80


def test_any_characters_have_a_probability():
    dice = random.Random(1)
    for _ in range(300):
        sample = "".join(dice.choices("ab \n漢éΩ\u0301ク。!\ud800\0\u2028", k=dice.randint(0, 200)))
        code, likely = likeliest(sample, LANGUAGES)
        assert code in ("", *LANGUAGES)
        assert 0 <= likely <= 1.01


@pytest.mark.parametrize(
    ("sample", "language"),
    [
        ("重庆暴雨引发洪水，消防救援人员连夜转移被困群众，多地停电。", "zh"),
        ("The flood in Chongqing forced hundreds of people to leave their homes.", "en"),
        ("東京で地震が発生しました。津波の心配はありませんと気象庁は伝えています。", "ja"),
        ("Наводнение в Чунцине вынудило сотни людей покинуть дома.", "ru"),
        ("Das Hochwasser zwang Hunderte von Menschen, ihre Häuser zu verlassen.", "de"),
        (PASSAGES["en"].upper(), "en"),
        ("昨夜水位上涨，河边街道的居民离开家园，多地停电，道路封闭，学校停课。", "zh"),  # no kana
        ("重庆暴雨致千人转移", "zh"),
        ("iPhone 18 Pro 国行版正式发布", "zh"),
        ("台風接近で新幹線が運休", "ja"),
        ("東京で震度4の地震", "ja"),
        ("태풍 북상에 항공편 결항", "ko"),
        ("เตือนพายุฝนฟ้าคะนอง", "th"),
        ("Danke, jetzt geht es wieder", "de"),
        ("Спасибо, теперь всё работает", "ru"),
        ("The word for flood is 洪水 in Chinese and also in Japanese, says my teacher", "en"),
        ("东京时间今晨，地震调查委员会召开紧急会议，讨论余震的可能性和对策。", "zh"),
        ("Ευρωπαϊκή ένωση είναι μια πολιτική και οικονομική ένωση", None),
        ("asdf qwer zxcv uiop hjkl vbnm tyui", None),
        ("ABC DEF GHI JKL MNO PQR STU VWX", None),
        ("😀" * 50, None),
        ("too short", None),
        ("洪水", None),
        ("", None),
        ("12345 67890 !!! --- 12345 67890 === 12345 67890", None),
        ("x" * 5_000, None),
    ],
)
def test_a_short_text_has_its_language_or_none(sample, language):
    assert language_of(sample) == language
