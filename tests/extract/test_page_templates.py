"""Pages of one template, read without selectors: what they have in common is none of each page's own.

The templates are made here, of several kinds of sites, with no name that `page_parts.py` knows.
"""

import functools
import random
import time

import pytest
from extract.pages import html

from crawler import extract, sites
from crawler.extract import PageTemplates
from crawler.extract.markup import parse_html
from crawler.extract.page_templates import MARK_BYTES, MAX_MARKS, MAX_PAGES, MAX_TEMPLATES, skeleton

WEB = sites.load("web")
WORDS = """water bridge road school people night morning village river station report storm council harvest engine
    market winter doctor letter garden window corner mountain signal teacher winner figure memory kitchen
    ticket""".split()
NAMES = ["Ada Berg", "Bo Chen", "Cy Dorn", "Di Evans", "Ed Faro", "Flo Grant", "Gus Holm"]
LEARNED = 12  # pages that are read before the one that is judged


def own_text(number, paragraphs=3):
    """The text that page `number` alone has."""
    chance = random.Random(number)
    sentences = (f"Entry {number}.{at} " + " ".join(chance.choices(WORDS, k=30)) for at in range(paragraphs))
    return [f"{sentence}." for sentence in sentences]


def title_of(number):
    chance = random.Random(-number - 1)
    return f"{' '.join(chance.choices(WORDS, k=3))} {number}".capitalize()


def words(lines):
    return [word for line in lines for word in line.split()]


MENU = "<div class=z1><ul><li><a href=/>Start<li><a href=/a>All entries<li><a href=/m>Members</ul></div>"
NOTICE = "<p>All that is written here belongs to those who wrote it, and nobody may copy it without their word.</p>"
FOOT = "<div class=z9><p>Made with Paperweight</p><p>Layout of 3 May 2019, 10:15</p><a href=/i>Imprint</a></div>"
PROMPT = "<div class=q7><p>You must be signed in to add an answer to this page.</p><p>Forgot your password?</p></div>"


def paragraphs(number):
    return "".join(f"<p>{one}</p>" for one in own_text(number))


def thread(number):
    """A thread of a forum with its answers."""
    return (
        f"<title>{title_of(number)}</title><body>{MENU}<h1>Riverside board</h1><div class=k2>"
        f"<h2>{title_of(number)}</h2><div class=k3>{NOTICE}{paragraphs(number)}</div></div>{PROMPT}{FOOT}"
    )


def blog(number):
    """An entry, beside a box with those that were written last."""
    return (
        f"<title>{title_of(number)} | Town diary</title><body><div id=w>{MENU}<div class=x4><h1>{title_of(number)}</h1>"
        f"{paragraphs(number)}<p>Tell your friends about this diary, and come back soon.</p></div>"
        f"<div class=x5><h3>Of late</h3><ul><li>The long summer<li>A walk by the lake</ul></div>{FOOT}</div>"
    )


def ticket(number):
    """A table of properties, and a description between forms."""
    return (
        f"<title>#{number} ({title_of(number)})</title><body>{MENU}<div class=t1><h2>{title_of(number)}</h2><table>"
        f"<tr><th>State<td>open<tr><th>Area<td>{WORDS[number % 30]}</table><div class=t2>{paragraphs(number)}</div>"
        f"<div class=t3><p>Attach files with the button below.</p><p>Your votes count.</p></div></div>{FOOT}"
    )


def wiki(number):
    """A page with headings that are the same on others, and stay."""
    one, two, three = own_text(number)
    return (
        f"<title>{title_of(number)} - Almanac</title><body>{MENU}<div class=a1><h1>{title_of(number)}</h1><p>{one}</p>"
        f"<h2>History</h2><p>{two}</p><h2>Use</h2><p>{three}</p><p>This page may be changed by all members.</p></div>"
        f"{FOOT}"
    )


def shop(number):
    """A thing for sale, between offers."""
    offers = "<ul><li>Red kettle, 12.90<li>Blue kettle, 13.50<li>Lamp of glass, 30.00</ul>"
    return (
        f"<title>Kettles &amp; Co: {title_of(number)}</title><body>{MENU}<div class=s0>{offers}</div><div class=s1>"
        f"<h1>{title_of(number)}</h1>{paragraphs(number)}<p>Sent to you within three days.</p></div>{PROMPT}{FOOT}"
    )


def news(number):
    """An article in a page made of tables, below a line that stands on all."""
    return (
        f"<title>{title_of(number)} - The Courier</title><body><table width=100%><tr><td>{MENU}<td><h3>The Courier</h3>"
        f"<p>Subscribe for two coins a week and read what others will only hear of.</p><h1>{title_of(number)}</h1>"
        f"{paragraphs(number)}<td><p>Letters to the editors are read by the editors.</p></table>{FOOT}"
    )


KINDS = [thread, blog, ticket, wiki, shop, news]


def page(number, body):
    return html(f"<!doctype html><html lang=en>{body}", url=f"http://a.test/{number}")


def read_and_learn(templates, fetched):
    reading = extract.read(fetched, WEB, max_links=0, templates=templates)
    if reading.marks:
        templates.add(reading.marks.template, {reading.marks.page: reading.marks.marks})
    return reading.found


@functools.cache
def learned(make):
    templates = PageTemplates()
    for number in range(LEARNED):
        read_and_learn(templates, page(number, make(number)))
    return templates


def f1(found, wanted):
    common = sum(min(found.count(word), wanted.count(word)) for word in set(wanted))
    return 2 * common / (len(found) + len(wanted))


@pytest.mark.parametrize("make", KINDS)
def test_what_repeats_is_no_part_of_a_page(make):
    alone = extract.fields(page(99, make(99)), WEB)
    found = read_and_learn(learned(make), page(99, make(99)))
    wanted = words(own_text(99))
    assert found.title == title_of(99)
    assert found.published is None
    assert f1(words([found.content]), wanted) >= max(0.94, f1(words([alone.content]), wanted))


@pytest.mark.parametrize("make", KINDS)
def test_all_of_a_page_s_own_text_stays(make):
    found = read_and_learn(learned(make), page(99, make(99)))
    assert [line for line in own_text(99) if line not in found.content.split("\n")] == []


def test_headings_of_parts_stay_with_their_texts():
    def make(number):
        return wiki(number).replace("<div class=a1>", "<main>").replace("</div><div class=z9>", "</main><div class=z9>")

    found = read_and_learn(learned(make), page(99, make(99)))
    assert [line for line in found.content.split("\n") if len(line) < 10] == ["History", "Use"]
    assert "This page may be changed" not in found.content


def test_a_block_that_repeats_goes_in_however_many_lines_it_comes_and_so_does_the_title():
    def make(number):
        return (
            f"<title>{title_of(number)}</title><body><div><h2>{title_of(number)}</h2>{paragraphs(number)}</div>"
            "<div class=d2><p>Note:<br>See these<br>for help.</p></div>"
        )

    assert read_and_learn(learned(make), page(99, make(99))).content.split("\n") == own_text(99)


def test_comments_are_not_a_page_s_own_text():
    def make(number):
        comments = "".join(f"<div class=comment><p>{one}</p></div>" for one in own_text(-number - 5, 14))
        return (
            f"<title>{title_of(number)}</title><body><h1>{title_of(number)}</h1><div>{paragraphs(number)}"
            f"<div id=comments><h3>Comments</h3>{comments}</div></div>"
        )

    assert read_and_learn(learned(make), page(99, make(99))).content.split("\n") == own_text(99)


def test_boxes_of_the_site_beside_a_short_text_are_no_part_of_it():
    def make(number):
        archive = "".join(f"<li><a href=/{at}>Month {at}</a> ({at})" for at in range(9))
        return (
            f"<title>{title_of(number)}</title><body><div class=k1><h1>{title_of(number)}</h1></div><div class=k2>"
            f"<div class=k3><p>{own_text(number)[0]}</p></div><div class=k4><h3>Feeds</h3><p>RSS / Atom</p><ul>"
            f"{archive}</ul><ul><li>Anna Keller (9)</ul></div></div>"
        )

    assert read_and_learn(learned(make), page(99, make(99))).content == own_text(99)[0]


@pytest.mark.parametrize(
    "shared", ["<p>{}</p>", "<ol><li>{}<li>Then start it again.</ol>", "<blockquote>{}</blockquote>"]
)
def test_a_sentence_of_several_pages_within_a_text_is_its_author_s(shared):
    sentence = "Turn the pump off and wait until the light is green."

    def make(number):
        one, two, three = own_text(number)
        within = shared.format(sentence)
        texts = f"<p>{one}</p><p>{two}</p>{within}<p>{three}</p>" if number % 2 else f"{within}<p>{one}</p>{within}"
        return f"<title>{title_of(number)}</title><body><main><h1>{title_of(number)}</h1>{texts}</main>{FOOT}"

    assert sentence in read_and_learn(learned(make), page(99, make(99))).content.split("\n")
    assert sentence not in read_and_learn(learned(make), page(98, make(98))).content.split("\n")


def test_a_box_of_several_pages_within_a_text_is_the_site_s():
    def make(number):
        one, two, three = own_text(number)
        box = "<div class=k9><p>Tell your friends about this diary, and come back soon.</p></div>"
        texts = f"<p>{one}</p><p>{two}</p>{box}<p>{three}</p>"
        return f"<title>{title_of(number)}</title><body><main><h1>{title_of(number)}</h1>{texts}</main>{FOOT}"

    assert read_and_learn(learned(make), page(99, make(99))).content.split("\n") == own_text(99)


def test_code_and_tables_keep_lines_that_others_have():
    def make(number):
        rows = (
            f"<table><tr><th>Height<td>{number} m<tr><th>Built<td>yes</table><pre>for x in {number}:\n    end\n</pre>"
        )
        return f"<title>{title_of(number)}</title><body>{MENU}<main><h1>{title_of(number)}</h1>{rows}</main>{FOOT}"

    assert read_and_learn(learned(make), page(99, make(99))).content == (
        "Height\t99 m\nBuilt\tyes\nfor x in 99:\n    end"
    )


def by(name, number, time_of="2026-03-04T10:15:00Z", foot=""):
    """A page that names an author, in words, and has a time."""
    return (
        f"<title>{title_of(number)}</title><body>{MENU}<div class=c1><span class=author>{name}</span>"
        f"<time datetime={time_of}></time><h1>{title_of(number)}</h1>{paragraphs(number)}</div>{foot}"
    )


def test_a_title_that_others_have_is_not_the_page_s():
    def make(number):
        return f"<title>The Courier</title><body>{MENU}<h1>The Courier</h1><div>{paragraphs(number)}</div>{FOOT}"

    assert read_and_learn(learned(make), page(99, make(99))).title == ""


def test_an_author_and_a_time_that_all_have_are_not_the_page_s():
    found = read_and_learn(learned(lambda number: by("Ada Berg", number)), page(99, by("Ada Berg", 99)))
    assert (found.author, found.published) == (None, None)


def test_an_author_of_many_pages_and_the_day_of_most_stay():
    def make(number):
        name = "Ada Berg" if number % 4 else NAMES[number % 7]
        return by(name, number, "2026-03-04" if number % 5 else "2026-03-03")

    found = read_and_learn(learned(make), page(99, make(99)))
    assert (found.author, found.published) == ("Ada Berg", "2026-03-04T00:00:00Z")


def test_the_next_candidate_takes_the_place_of_one_that_all_have():
    def make(number):
        return by("Riverside Press", number, foot=f"<p class=byline>by {NAMES[number % 7]}</p>")

    assert read_and_learn(learned(make), page(99, make(99))).author == NAMES[99 % 7]


def test_a_page_that_is_read_again_does_not_repeat_itself():
    templates = PageTemplates()
    for number in (*range(3), *[99] * 9):
        read_and_learn(templates, page(number, thread(number)))
    assert all(line in read_and_learn(templates, page(99, thread(99))).content for line in own_text(99))


def test_copies_at_other_addresses_count_once():
    templates = PageTemplates()
    for number in range(9):
        read_and_learn(templates, page(f"copy/{number}", thread(99)))
    assert (found := read_and_learn(templates, page(99, thread(99)))).title == title_of(99)
    assert all(line in found.content for line in own_text(99))


def test_a_text_of_which_others_have_all_is_left_whole():
    templates = learned(thread)
    empty = thread(0).replace(paragraphs(0), "")
    assert "belongs to those who wrote it" in read_and_learn(templates, page(50, empty)).content


def test_remarks_of_some_pages_stay():
    def make(number):
        remark = "<p>Thanks, that did it!</p>" if number % 4 == 0 else ""
        return thread(number).replace("</div></div>", f"{remark}</div></div>", 1)

    assert "Thanks, that did it!" in read_and_learn(learned(make), page(100, make(100))).content


@pytest.mark.parametrize("make", KINDS)
def test_pages_of_one_kind_have_one_skeleton(make):
    assert len({skeleton(parse_html(make(number).encode())) for number in range(20)}) == 1


def test_kinds_of_pages_have_skeletons_of_their_own():
    assert len({skeleton(parse_html(make(1).encode())) for make in (thread, blog, ticket, news)}) == 4


def test_only_digests_are_kept_and_never_many():
    templates = PageTemplates()
    for number in range(MAX_PAGES + 5):
        body = thread(number) + "".join(f"<p>Block {at} of {number}</p>" for at in range(2_000))
        marks = templates.compare(parse_html(body.encode()), f"http://a.test/{number}", None).marks
        templates.add(marks.template, {marks.page: marks.marks})
    known = templates.of(marks.template)
    assert len(known.pages) == MAX_PAGES
    assert {len(marks) for marks in known.pages.values()} <= set(range(MARK_BYTES, MAX_MARKS * MARK_BYTES + 1))


def test_templates_that_never_repeat_are_forgotten():
    templates = PageTemplates()
    for number in range(MAX_TEMPLATES + 50):
        templates.add(number.to_bytes(8, "big"), {b"page": b"marks."})
    assert len(templates._known) == MAX_TEMPLATES
    assert templates.of((49).to_bytes(8, "big")).pages == {}


@pytest.mark.parametrize("marks", [b"", b"x" * (MAX_MARKS * MARK_BYTES + 1), b"odd"])
def test_junk_is_no_page_or_says_nothing(marks):
    templates = learned(thread)
    template = extract.read(page(1, thread(1)), WEB, max_links=0, templates=templates).marks.template
    templates.add(template, {b"junk": marks})
    assert read_and_learn(templates, page(99, thread(99))).title == title_of(99)


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 400 + "x" + "</div>" * 400,
        "<p>" + "<div>a<p>b</div>" * 12_000,
        "<table>" + "<tr><td>a" * 12_000 + "</table>",
        "<table><tr><td>" * 300,
        "<h1>a</h1>" * 20_000,
    ],
)
def test_a_comparison_of_any_page_takes_bounded_time(body):
    tree = parse_html(f"<!doctype html><body>{body}".encode())
    begun = time.process_time()
    comparison = PageTemplates().compare(tree, "http://a.test/", None)
    comparison.own_text()
    assert len(comparison.marks.marks) <= MAX_MARKS * MARK_BYTES
    assert time.process_time() - begun < 1.5  # some 0.1 s
