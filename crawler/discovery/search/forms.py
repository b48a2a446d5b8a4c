"""Finds the forms of a page by which it is searched, and makes the requests that they would send."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from crawler.discovery.search.search_template import QUERY, SearchTemplate, escaped, literal
from crawler.sites.search import check_encoding

if TYPE_CHECKING:
    from crawler.discovery.pages.page import ParsedPage

SORT = "{sort}"
MAX_FORMS = 50  # the most forms of a page that are looked at
MAX_FIELDS = 100  # the most fields of a form that are looked at
MAX_VALUE_CHARACTERS = 200  # the longest value that a form sends by itself; a field with a longer one is left out
# Evidence that a form is for searching, in points. What a form says of itself counts more than what its field does:
# fields are called `q` or `text` in other forms, too.
FORM_ROLE_POINTS = 3  # `role=search`
FORM_WORDS_POINTS = 3  # its address, names, labels or button speak of searching
FIELD_NAME_POINTS = 2  # the field has a usual name for words
FIELD_TYPE_POINTS = 2  # `type=search`
FIELD_WORDS_POINTS = 1  # the field's label, placeholder or class speaks of searching
ONLY_FIELD_POINTS = 1  # the form has no other field for text
MIN_POINTS = 2  # a field for text that only stands alone may be for anything: a name, an address
_TEXTS = frozenset({"", "text", "search"})
# A form with one of these asks for something else.
_NEVER = "input[type=password], input[type=email], input[type=file], textarea"
_BOXES = "input[type=search], input[role=searchbox], input[placeholder*=search i], input[aria-label*=search i]"
# Names of the field for words, and what else says that a form searches: its address, names, labels, button.
_QUERY_NAME = re.compile(
    r"(?:q|s|w|k|wd|kw|qt|st|query|search|keywords?|keys?|words?|term|terms|text|find|"
    r".*(?:search|query|keyword|srch|such|busca|recherche).*)",
    re.IGNORECASE,
)
_SAYS_SEARCH = re.compile(
    r"search|query|find\b|such|buscar|recherche|cerca|zoek|поиск|搜|查[询詢找]|检索|檢索|検索|검색", re.IGNORECASE
)
TOKEN_NAME = re.compile(r"csrf|xsrf|nonce|token|hash$|^sid$|session|captcha|authenticity", re.IGNORECASE)
_NEWEST = re.compile(r"new|date|datum|time|latest|recent|posted|desc|最新|时间|時間|日期|发布|發佈|新着", re.IGNORECASE)
_OLDEST = re.compile(r"old|asc\b|最早|最旧", re.IGNORECASE)
_RELEVANCE = re.compile(r"rel|score|match|best|相关|相關|匹配|関連", re.IGNORECASE)
_SORT_NAME = re.compile(r"sort|order|orderby|^srt$|排序", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    value: str
    is_words: bool = False
    is_button: bool = False


def searches(page: ParsedPage) -> list[SearchTemplate]:
    """Returns the searches that the forms of a page make, the likeliest first."""
    scored = []
    for number, form in enumerate(page.tree.select("form")[:MAX_FORMS]):
        points, template = _search_of(form, page)
        if template:
            scored.append((-points, number, template))
    return [template for _points, _number, template in sorted(scored, key=lambda entry: entry[:2])]


def has_box(page: ParsedPage) -> bool:
    """Returns whether a page has a field that says it is for words to search for, in a form or outside of one."""
    return page.tree.select_one(_BOXES) is not None


def _search_of(form: Any, page: ParsedPage) -> tuple[int, SearchTemplate | None]:
    """Returns how many points say that a form is for searching, and its search; None if it isn't."""
    inputs = form.select("input")[:MAX_FIELDS]
    texts = [field for field in inputs if (field.attr("type") or "").lower() in _TEXTS and field.attr("name")]
    if not texts or form.select_one(_NEVER) is not None:
        return 0, None
    field = max(texts, key=_says_words)
    points = _says_words(field) + FORM_WORDS_POINTS * bool(_SAYS_SEARCH.search(_about(form)))
    points += FORM_ROLE_POINTS * (form.attr("role") == "search") + ONLY_FIELD_POINTS * (len(texts) == 1)
    action = page.absolute(form.attr("action") or "") or page.url
    if points < MIN_POINTS:
        return 0, None
    fields, left_out = _fields(form, field)
    return points, replace(_template(form, action, fields, _encoding(form, page)), left_out=tuple(left_out))


def _template(form: Any, action: str, fields: list[_Field], encoding: str) -> SearchTemplate:
    sort, sort_field = _sort(form)
    values = {
        field.name: QUERY if field.is_words else SORT if sort and field.name == sort_field else field.value
        for field in fields
    }
    source = f"a form, whose action is {action}"
    fixed = [field.name for field in fields if not field.is_button and values[field.name] not in (QUERY, SORT)]
    if (form.attr("method") or "").strip().lower() == "post":
        body = {name: value if value in (QUERY, SORT) else _unbraced(value) for name, value in values.items()}
        return SearchTemplate(literal(action), body, encoding, sort, source=source, fixed=tuple(fixed))
    pairs = "&".join(
        f"{escaped(name, encoding)}={value if value in (QUERY, SORT) else escaped(value, encoding)}"
        for name, value in values.items()
    )
    url = f"{literal(action.partition('?')[0])}?{pairs}"  # a form that is sent by GET replaces its action's query
    return SearchTemplate(
        url, {}, encoding, sort, source=source, fixed=tuple(escaped(name, encoding) for name in fixed)
    )


def _fields(form: Any, words: Any) -> tuple[list[_Field], list[str]]:
    """Returns the fields that a browser sends, and what is left out of them, in words."""
    fields: dict[str, _Field] = {}
    left_out = []
    has_button = False
    for element in form.select("input, select, button")[:MAX_FIELDS]:
        name, input_type = element.attr("name") or "", (element.attr("type") or "").lower()
        if not name or name in fields or element.attr("disabled") is not None:
            continue
        if element == words:
            fields[name] = _Field(name, "", is_words=True)
            continue
        value = _selected(element) if element.tag == "select" else element.attr("value") or ""
        if input_type in ("checkbox", "radio") and element.attr("checked") is None:
            continue
        if input_type in ("image", "button", "reset", "file") or (input_type in _TEXTS and element.tag == "input"):
            continue
        is_button = input_type == "submit" or element.tag == "button"
        if is_button:
            if has_button or input_type not in ("submit", ""):
                continue  # a browser sends only the one that is pressed: without a mouse, the first
            has_button = True
        if TOKEN_NAME.search(name):
            left_out.append(f"the field {name[:40]}, which looks like a token of one visitor")
        elif value and len(value) <= MAX_VALUE_CHARACTERS:
            fields[name] = _Field(
                name, value if input_type not in ("checkbox", "radio") else value or "on", is_button=is_button
            )
    return list(fields.values()), left_out


def _sort(form: Any) -> tuple[dict[str, str], str]:
    """Returns what a form calls the orders of results, and the field that says which."""
    for select in form.select("select[name]")[:MAX_FIELDS]:
        orders = _orders([(option.attr("value") or "", option.text) for option in select.select("option")[:MAX_FIELDS]])
        if orders and (_SORT_NAME.search(select.attr("name") or "") or len(orders) > 1):
            return orders, select.attr("name") or ""
    radios: dict[str, list[tuple[str, str]]] = {}
    for option in form.select("input[type=radio]")[:MAX_FIELDS]:
        radios.setdefault(option.attr("name") or "", []).append((option.attr("value") or "", _label(option)))
    for name, values in radios.items():
        if _SORT_NAME.search(name) and (orders := _orders(values)):
            return orders, name
    return {}, ""


def _label(radio: Any) -> str:
    """Returns the text beside a radio button: that of the label around it, or what follows it."""
    around = radio.closest("label")
    following = around if around is not None else radio.next_sibling
    written = str(getattr(following, "text", "") or getattr(following, "data", ""))
    return written[:MAX_VALUE_CHARACTERS]


def _orders(options: list[tuple[str, str]]) -> dict[str, str]:
    orders: dict[str, str] = {}
    for value, label in options:
        says = f"{value} {label}"
        if not value or len(value) > MAX_VALUE_CHARACTERS or _OLDEST.search(says):
            continue
        if _NEWEST.search(says):
            orders.setdefault("newest", value)
        elif _RELEVANCE.search(says):
            orders.setdefault("relevance", value)
    return orders


def _selected(select: Any) -> str:
    option = select.select_one("option[selected]") or select.select_one("option")
    if option is None:
        return ""
    value = option.attr("value")
    return str(option.text if value is None else value)


def _says_words(field: Any) -> int:
    """Returns how many points say that a field is for words to search for."""
    name = field.attr("name") or ""
    about = " ".join(field.attr(key) or "" for key in ("id", "placeholder", "aria-label", "title", "class"))
    is_search = (field.attr("type") or "").lower() == "search"
    points = FIELD_NAME_POINTS * bool(_QUERY_NAME.fullmatch(name)) + FIELD_TYPE_POINTS * is_search
    return points + FIELD_WORDS_POINTS * bool(_SAYS_SEARCH.search(about))


def _about(form: Any) -> str:
    """Returns what a form says of itself: its address and names, and the words on its labels and buttons."""
    buttons = [
        element.attr("value") or "" for element in form.select("input[type=submit], input[type=image]")[:MAX_FIELDS]
    ]
    own = [form.attr(key) or "" for key in ("action", "id", "class", "name", "aria-label")]
    shown = [element.text[:MAX_VALUE_CHARACTERS] for element in form.select("button, label, legend")[:MAX_FIELDS]]
    return " ".join([*own, *buttons, *shown])


def _encoding(form: Any, page: ParsedPage) -> str:
    for name in ((form.attr("accept-charset") or "").split(",")[0].strip(), page.encoding):
        try:
            return check_encoding(name)
        except ValueError:
            continue
    return "utf-8"


def _unbraced(value: str) -> str:
    return value.replace("{", "(").replace("}", ")")  # a template of a body can't say a brace
