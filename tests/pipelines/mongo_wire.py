"""A wire to a Mongo server on which some commands are answered with errors that the server would not give by itself."""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING, Any, Self

import bson

if TYPE_CHECKING:
    from collections.abc import Callable

HEADER = struct.Struct("<iiii")  # length, request id, answers to, kind
MESSAGE = 2_013  # OP_MSG
DOCUMENTS = 1  # the kind of a section that holds a sequence of documents

Answer = dict[str, Any]


class MongoWire:
    """Passes commands on to a server, but answers those for which `rule` has an answer.

    Attributes:
        rule: From a command with its documents in it (`updates`, `documents`) to the answer, or None to pass it on.
        url: Where the wire listens.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self.rule: Callable[[Answer], Answer | None] = lambda _command: None
        self.url = ""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"mongodb://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/?directConnection=true"
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _connected(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        back = asyncio.create_task(_pipe(server, to_client))
        try:
            while True:
                head = await client.readexactly(HEADER.size)
                length, number, _, kind = HEADER.unpack(head)
                body = await client.readexactly(length - HEADER.size)
                answer = self.rule(_command(body)) if kind == MESSAGE else None
                if answer is None:
                    to_server.write(head + body)
                else:
                    said = b"\0\0\0\0\0" + bson.encode(answer)
                    to_client.write(HEADER.pack(HEADER.size + len(said), 0, number, MESSAGE) + said)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            back.cancel()
            to_server.close()
            to_client.close()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
    writer.close()


def _command(body: bytes) -> Answer:
    """Reads an OP_MSG: flags, then sections, of which the first is the command."""
    command: Answer = {}
    at = 4
    while at + 5 <= len(body):
        kind, size = body[at], int.from_bytes(body[at + 1 : at + 5], "little")
        section = body[at + 1 : at + 1 + size]
        if kind == DOCUMENTS:
            name, _, documents = section[4:].partition(b"\0")
            command[name.decode()] = bson.decode_all(documents)
        else:
            command = {**bson.decode(section), **command}
        at += 1 + size
    return command
