"""The model's answers are py3langid's, whole texts or pieces of them."""

import random

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from crawler import language, text

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


@pytest.fixture(scope="module")
def theirs():
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(text.LANGUAGES))
    return identifier


def samples():
    dice = random.Random(1)
    words = [word for passage in PASSAGES.values() for word in passage.split()]
    yield from PASSAGES.values()
    yield from ("ABC DEF GHI JKL", "\ud800 lone", "a\u0301 e\u0301", "12345 67890 x", "x" * 5_000)
    for _ in range(300):
        yield " ".join(dice.choices(words, k=dice.randint(1, 60)))
        yield "".join(dice.choices("ab \n漢éΩ\u0301क。!", k=dice.randint(5, 60)))


def test_the_answers_are_py3langids(theirs):
    ours = text._identifier()
    for sample in samples():
        (code, likely), (wanted, as_likely) = ours.classify(sample), theirs.classify(sample)
        assert likely == pytest.approx(as_likely, abs=1e-5), sample
        assert code == wanted or likely < 0.5, sample


def test_a_text_without_any_of_the_models_sequences_is_in_any_language():
    assert text._identifier().classify("😀" * 50)[1] == pytest.approx(1 / len(text.LANGUAGES))


def test_words_are_forgotten_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr(language, "WORDS_REMEMBERED", 20)
    identifier = text._identifier()
    identifier._automaton._known.clear()
    alone = {word: identifier.classify(word) for word in PASSAGES["en"].split()}
    assert len(identifier._automaton._known) <= 20
    assert {word: identifier.classify(word) for word in alone} == alone


@pytest.mark.parametrize("code", PASSAGES)
def test_a_long_texts_pieces_speak_for_all_of_it(code):
    dice = random.Random(code)
    sentences = [PASSAGES[code], PASSAGES[code][::2], PASSAGES[code][20:], PASSAGES[code][:60]]
    for _ in range(20):
        long = "\n".join(dice.choices(sentences, weights=(9, 1, 9, 9), k=20))
        whole, likely = text._identifier().classify(long[: text.LANGUAGE_SAMPLE_CHARACTERS])
        assert likely >= text.LANGUAGE_MIN_CONFIDENCE
        assert text.language(long) == whole == code
