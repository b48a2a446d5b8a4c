"""What would crash the parser doesn't reach it."""

import os
import subprocess
import sys

import pytest

from crawler.extract.encoding import decode
from crawler.extract.markup import without_foreign_templates
from crawler.models import Fetched

CRASH = b"<svg><template><foreignObject><d></template><a><div><a>"
JAPANESE = b"<meta charset=iso-2022-jp>" + CRASH.replace(b"<temp", b"<temp\x1b(B") + b"\x1b$B\x21\x21"


def read_encodings(pages):
    for page in pages:
        decode(Fetched("http://x.test/", 200, "text/html", page))


def test_pages_that_crash_the_parser_are_read():
    """In a process of its own, which may die of it."""
    pages = [page + end for page in (CRASH, CRASH.upper(), JAPANESE) for end in (b"", b"\xe9", "é".encode() * 50)]
    code = "import sys; from extract.test_markup import read_encodings; "
    code += "read_encodings(sys.stdin.buffer.read().split(b'\\n'))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], input=b"\n".join(pages), env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr[-1_000:]


@pytest.mark.parametrize(
    ("page", "read_as"),
    [
        ("<template><svg></svg></template><p>", None),
        ("<p>template</p><svg></svg> template", None),
        ("<svg><Template a>x</TEMPLATE >", "<svg><x-template a>x</x-template >"),
        (
            "<template><svg></svg><template></template></template>",
            "<template><svg></svg><x-template></x-template></template>",
        ),
        ("<math></math></template><template>", "<math></math></template><x-template>"),
    ],
)
def test_a_template_behind_svg_or_mathml_has_another_name(page, read_as):
    assert without_foreign_templates(page.encode()) == (read_as or page).encode()
