"""Which language is a text in? py3langid's model and arithmetic, in a tenth of its memory and less time.

The model finds byte sequences of a text with an automaton and adds up what each says for a language. py3langid holds
the automaton as one table, 37 MB and half as much again beside it, and the weights of 142 languages; here rows of the
table share their parts, 5 MB in all, only the wanted languages' weights are kept, and what a word leads to is
remembered. The answers are py3langid's.
"""

from __future__ import annotations

import lzma
import math
import re
import shutil
import zipfile
from array import array
from collections import Counter
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, Self
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BYTE_VALUES = 256
PART = 16  # states of a row that are stored together; wider parts are shared less, narrower ones need a longer index
READ_ROWS = 1_024  # of a table at a time: the whole would stand in the process's peak memory
WORDS_REMEMBERED = 10_000  # some 300 bytes each
_RUNS = re.compile(r"[!-~]{1,20}| |[^ -~]+")  # words in ASCII, which come again and again, and what else there is
_HIGH = bytes(byte // PART for byte in range(BYTE_VALUES))
_LOW = bytes(byte % PART for byte in range(BYTE_VALUES))


class Automaton:
    """Finds the model's byte sequences: a table state, byte -> state, whose rows share equal parts.

    Args:
        rows: Where each state's row begins in the index.
        index: Where each part of a row begins in the parts, for each `PART` bytes.
        parts: The states that follow.
        features: What is found in each state; -1: nothing.
    """

    def __init__(self, rows: array[int], index: array[int], parts: array[int], features: array[int]) -> None:
        self._rows, self._index, self._parts, self._features = rows, index, parts, features
        self._known: dict[tuple[int, str], tuple[list[int], int]] = {}  # from a state, by an ASCII word

    def counts(self, text: str) -> Counter[int]:
        """Returns how often each feature is in a text."""
        known, state = self._known, 0
        features: list[int] = []
        for run in _RUNS.findall(text):
            step = known.get((state, run))
            if step is None:
                step = self._walk(state, run)
                if run.isascii():
                    if len(known) >= WORDS_REMEMBERED:
                        known.clear()
                    known[state, run] = step
            found, state = step
            features += found
        return Counter(features)

    def _walk(self, state: int, run: str) -> tuple[list[int], int]:
        """Returns the features found on the way through a run, and the state at its end."""
        rows, index, parts, features = self._rows, self._index, self._parts, self._features
        data = run.encode(errors="surrogatepass")
        found = [
            features[state := parts[index[rows[state] + high] + low]]
            for high, low in zip(data.translate(_HIGH), data.translate(_LOW), strict=True)
        ]
        return [feature for feature in found if feature >= 0], state


class Identifier:
    """Tells a text's language.

    Args:
        automaton: Finds the model's features.
        weights: A row for each feature, a column for each language.
        priors: Of the languages.
        languages: Their codes.
    """

    def __init__(self, automaton: Automaton, weights: Any, priors: Any, languages: Sequence[str]) -> None:
        self._automaton, self._weights, self._priors, self._languages = automaton, weights, priors, languages

    @classmethod
    def load(cls, languages: Sequence[str]) -> Self:
        """Reads py3langid's model: half a second.

        Args:
            languages: That it chooses from, ISO 639-1; the model must know them, each under one name.
        """
        import numpy as np
        from py3langid.langid import MODEL_DIR, MODEL_FILE

        with TemporaryFile() as file, lzma.open(MODEL_DIR / MODEL_FILE) as packed:
            shutil.copyfileobj(packed, file, 1 << 20)
            with zipfile.ZipFile(file) as members:
                known = _whole(members, "classes").tolist()
                columns = [known.index(name) for name in languages]
                weights = np.concatenate([chunk[:, columns] for chunk in _chunks(members, "ptc", len(known))])
                priors = _whole(members, "pc")[columns]
                rows, features = _whole(members, "nextmove_row"), _whole(members, "out_feat")
                index, parts = _shared(_chunks(members, "nextmove", BYTE_VALUES))
        starts = array("I", (rows * np.uint32(BYTE_VALUES // PART)).tobytes())
        automaton = Automaton(starts, index, parts, array("i", features.tobytes()))
        return cls(automaton, weights, priors, tuple(languages))

    def classify(self, text: str) -> tuple[str, float]:
        """Returns the likeliest language and how likely it is, 0 to 1."""
        import numpy as np

        text = normalize("NFC", text.lower() if text.isupper() else text)
        counts = self._automaton.counts(text)
        if not counts:
            return self._languages[0], 1 / len(self._languages)
        features = np.fromiter(counts.keys(), np.intp, len(counts))
        amounts = np.log1p(np.fromiter(counts.values(), np.float32, len(counts)))
        scores = amounts @ self._weights[features] + self._priors
        scores *= 1 / math.sqrt(len(text.encode(errors="surrogatepass")))
        best = int(scores.argmax())
        return self._languages[best], 1 / float(np.exp(scores - scores[best]).sum())


def _shared(chunks: Iterator[Any]) -> tuple[array[int], array[int]]:
    """Returns a table's index and its parts, each once."""
    parts: dict[bytes, int] = {}
    index = array("I")
    width = 0
    for chunk in chunks:
        data, width = chunk.tobytes(), PART * chunk.itemsize
        index.extend([PART * parts.setdefault(data[at : at + width], len(parts)) for at in range(0, len(data), width)])
    return index, array("I", b"".join(parts))


def _whole(members: zipfile.ZipFile, name: str) -> Any:
    from numpy.lib.format import read_array

    with members.open(f"{name}.npy") as file:
        return read_array(file, allow_pickle=False)


def _chunks(members: zipfile.ZipFile, name: str, columns: int) -> Iterator[Any]:
    """Yields a table of `columns` columns, some rows at a time."""
    import numpy as np

    with members.open(f"{name}.npy") as file:
        kind = _kind(file)
        while data := file.read(READ_ROWS * columns * kind.itemsize):
            yield np.frombuffer(data, kind).reshape(-1, columns)


def _kind(file: IO[bytes]) -> Any:
    from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic

    read_header = read_array_header_1_0 if read_magic(file) == (1, 0) else read_array_header_2_0
    return read_header(file)[2]
