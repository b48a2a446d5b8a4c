"""Blocks as HTML, for applications that store that."""

from __future__ import annotations

from html import escape

from testbed.applications.articles import Article, Block, Bullets, Code, Heading, Notice, Paragraph, Table


def html_of(article: Article) -> str:
    """Returns an article's text as HTML."""
    return "\n".join(map(_html, article.blocks))


def _html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h2>{_text(block.text)}</h2>"
        case Paragraph():
            return f"<p>{_text(block.text)}</p>"
        case Bullets():
            return "<ul>" + "".join(f"<li>{_text(item)}</li>" for item in block.items) + "</ul>"
        case Table():
            head, *rows = block.rows
            lines = ["".join(f"<th>{_text(cell)}</th>" for cell in head)]
            lines += ["".join(f"<td>{_text(cell)}</td>" for cell in row) for row in rows]
            return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
        case Code():
            return f"<pre><code>{_text(block.text)}</code></pre>"
        case Notice():
            return f"<blockquote><p>{_text(block.text)}</p></blockquote>"


def _text(text: str) -> str:
    return escape(text, quote=False)
