from __future__ import annotations

import asyncio

import pytest
from pipelines.sink_samples import Outages

from crawler.base.errors import SinkRejectedError, UnavailableError
from crawler.pipelines import batch
from crawler.pipelines.batch import ALONE_TRIES, BatchConfig, Batcher

NEVER_S = 3_600.0


class Server:
    """Takes batches; is away for the first `failures` of them."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.sent: list[list[int]] = []
        self.refuses: dict[int, str] = {}
        self.blocked = 0  # proofs until it refuses no longer every write
        self.proofs = 0  # writes that show that it takes others
        self.error: Exception | None = None
        self.open = asyncio.Event()
        self.open.set()
        self.called = asyncio.Event()

    async def send(self, items):
        self.sent.append(list(items))
        self.called.set()
        await self.open.wait()
        if self.error and items:
            raise self.error
        if self.failures:
            self.failures -= 1
            raise UnavailableError("away")
        if self.blocked:
            return dict.fromkeys(range(len(items)), "blocked")
        return {position: self.refuses[item] for position, item in enumerate(items) if item in self.refuses}

    async def prove(self):
        self.proofs += 1
        if self.blocked:
            self.blocked -= 1
            raise UnavailableError("writes are blocked")


def batcher(server: Server, outages: Outages | None = None, *, size: int = 3, wait_s: float = NEVER_S) -> Batcher[int]:
    config = BatchConfig(size, wait_s, retry_max_s=0.01)
    return Batcher("test", server.send, server.prove, config, in_flight=2, process=outages or Outages())


async def test_a_full_batch_goes_at_once_and_what_is_left_after_the_wait():
    server = Server()
    sink = batcher(server, wait_s=0.001)
    await asyncio.gather(*(sink.put(number) for number in range(4)))
    assert server.sent == [[0, 1, 2], [3]]


async def test_what_waits_for_a_node_s_own_sink_is_left_to_other_nodes_where_there_are_any(monkeypatch):
    monkeypatch.setattr(batch, "HAND_BACK_SECONDS", 0.0)
    server, outages = Server(failures=NEVER_S), Outages()
    config = BatchConfig(1, NEVER_S, retry_max_s=0.01)
    sink = Batcher("test", server.send, server.prove, config, in_flight=1, is_nodes_own=True, process=outages)
    putting = [asyncio.create_task(sink.put(number)) for number in range(3)]
    await outages.down.wait()
    await outages.asked_for_others.wait()
    assert not any(task.done() for task in putting)
    outages.others = True
    for task in (*putting, sink.put(3)):
        with pytest.raises(UnavailableError, match="other nodes"):
            await task
    server.failures = 0
    await outages.up.wait()
    await sink.put(4)
    assert server.sent[-2:] == [[0], [4]]


async def test_put_returns_only_with_the_acknowledgement():
    server = Server()
    server.open.clear()
    putting = asyncio.create_task(batcher(server, size=1).put(1))
    await server.called.wait()
    assert not putting.done()
    server.open.set()
    await putting


async def test_two_batches_are_on_their_way_and_the_rest_waits():
    server = Server()
    server.open.clear()
    sink = batcher(server, size=1)
    putting = [asyncio.create_task(sink.put(number)) for number in range(5)]
    await server.called.wait()
    for _ in range(10):  # as long as a third batch would need to set out
        await asyncio.sleep(0)
    assert server.sent == [[0], [1]]
    server.open.set()
    await asyncio.gather(*putting)
    assert sorted(server.sent) == [[0], [1], [2], [3], [4]]


async def test_an_outage_is_told_once_and_nothing_is_dropped():
    server, outages = Server(failures=5), Outages()
    sink = batcher(server, outages)
    await asyncio.gather(*(sink.put(number) for number in range(6)))
    assert outages.told == ["test down", "test up"]
    assert len(server.sent) == 7
    assert {tuple(sent) for sent in server.sent} == {(0, 1, 2), (3, 4, 5)}  # always whole, always the same


async def test_what_the_sink_refuses_fails_alone_after_three_more_tries():
    server, outages = Server(), Outages()
    server.refuses = {1: "message-too-large"}
    sink = batcher(server, outages)
    results = await asyncio.gather(*(sink.put(number) for number in range(3)), return_exceptions=True)
    assert results[0] is results[2] is None
    assert isinstance(results[1], SinkRejectedError)
    assert results[1].reason == "message-too-large"
    assert server.sent == [[0, 1, 2], [1], [1], [1]]
    assert server.proofs == 2  # the first time others of its batch were taken
    assert not outages.told


async def test_a_refused_item_with_nothing_beside_it_fails_since_the_sink_takes_a_proof():
    server, outages = Server(), Outages()
    server.refuses = {1: "message-too-large"}
    with pytest.raises(SinkRejectedError):
        await batcher(server, outages, size=1).put(1)
    assert server.sent == [[1]] * 4
    assert server.proofs == 3
    assert not outages.told


async def test_a_sink_that_refuses_everything_is_down_and_fails_nothing(caplog):
    server, outages = Server(), Outages()
    server.blocked = 10
    sink = batcher(server, outages)
    await asyncio.gather(*(sink.put(number) for number in range(6)))
    assert server.proofs == 10
    assert outages.told == ["test down", "test up"]
    assert "test: down, its items wait: writes are blocked" in caplog.text


async def test_what_was_refused_for_a_moment_is_delivered():
    server = Server()
    server.refuses = {1: "busy"}
    tries = 0

    async def send(items):
        nonlocal tries
        tries += items == [1]
        if tries == ALONE_TRIES:
            server.refuses = {}
        return await Server.send(server, items)

    server.send = send
    sink = batcher(server)
    await asyncio.gather(*(sink.put(number) for number in range(3)))


async def test_refused_items_keep_no_batch_back():
    server = Server()
    server.refuses = dict.fromkeys(range(10), "busy")
    sink = batcher(server, size=5)
    refused = [asyncio.create_task(sink.put(number)) for number in range(10)]
    await asyncio.gather(*(sink.put(number) for number in range(10, 20)))
    assert not any(put.done() for put in refused)
    await sink.close(timeout_s=0)
    assert all(isinstance(put.exception(), UnavailableError) for put in refused)


@pytest.mark.parametrize("error", [ZeroDivisionError(), SinkRejectedError("test", "refused")])
async def test_an_error_of_one_item_that_hits_its_batch_fails_that_item_alone(error):
    server = Server()

    async def send(items):
        if 1 in items:
            raise error
        return await Server.send(server, items)

    server.send = send
    sink = batcher(server)
    results = await asyncio.gather(*(sink.put(number) for number in range(3)), return_exceptions=True)
    assert [type(result) for result in results] == [type(None), SinkRejectedError, type(None)]
    assert sorted(server.sent) == [[0], [2]]


async def test_an_unknown_error_of_a_sink_that_takes_nothing_waits():
    server, outages = Server(), Outages()
    server.error, server.blocked = ZeroDivisionError(), 1_000_000
    putting = asyncio.create_task(batcher(server, outages, size=1).put(1))
    await outages.down.wait()
    server.error, server.blocked = None, 0
    await putting


async def test_a_cancelled_caller_disturbs_no_other():
    server = Server()
    server.open.clear()
    sink = batcher(server, size=2)
    gone, stays = asyncio.create_task(sink.put(1)), asyncio.create_task(sink.put(2))
    await server.called.wait()
    gone.cancel()
    server.open.set()
    await stays
    assert gone.cancelled()


async def test_close_sends_what_waits_and_takes_nothing_more():
    server = Server()
    sink = batcher(server)
    putting = asyncio.create_task(sink.put(1))
    await asyncio.sleep(0)
    await sink.close(timeout_s=5)
    await putting
    assert server.sent == [[1]]
    with pytest.raises(UnavailableError):
        await sink.put(2)


async def test_close_in_an_outage_tells_those_who_wait():
    server, outages = Server(failures=1_000_000), Outages()
    sink = batcher(server, outages, size=1)
    putting = [asyncio.create_task(sink.put(number)) for number in range(5)]
    await outages.down.wait()
    await sink.close(timeout_s=0)
    results = await asyncio.gather(*putting, return_exceptions=True)
    assert all(isinstance(result, UnavailableError) for result in results)
    assert outages.told == ["test down"]


async def test_the_probe_finds_an_outage_before_any_item_does():
    server, outages = Server(failures=2), Outages()
    sink = batcher(server, outages)
    sink.probe()
    await outages.down.wait()
    await outages.up.wait()
    assert server.sent == [[], [], []]


async def test_a_sink_that_answers_with_nothing_it_should_keeps_no_item_waiting(caplog):
    server = Server()

    async def send(items):
        await Server.send(server, items)

    server.send = send
    with pytest.raises(SinkRejectedError, match="refused-by-sink"):
        await asyncio.wait_for(batcher(server, size=1).put(1), 30)
    assert "answers with NoneType" in caplog.text


async def test_a_delivery_that_dies_ends_the_wait_of_its_items(caplog):
    class Broken(Outages):
        def sink_down(self, name, why):
            raise RuntimeError(name)

    with pytest.raises(RuntimeError, match="test"):
        await asyncio.wait_for(batcher(Server(failures=1), Broken(), size=1).put(1), 30)
    assert "can't deliver a batch" in caplog.text


async def test_an_item_whose_sink_takes_nothing_at_all_is_asked_for_again_until_it_is_taken():
    server, outages = Server(), Outages()
    server.refuses[1] = "not allowed"

    async def prove():
        raise UnavailableError("not allowed either")

    server.prove = prove
    sink = batcher(server, outages, size=1)
    putting = asyncio.create_task(sink.put(1))
    async with asyncio.timeout(30):
        await outages.down.wait()
        del server.refuses[1]  # the operator has allowed the item, and nothing else
        await putting
    assert (outages.told, outages.whys) == (["test down", "test up"], ["not allowed either"])


async def test_each_new_reason_of_an_outage_is_told():
    server, outages = Server(failures=3), Outages()
    words = iter(("away", "away", "shut"))

    async def send(items):
        if server.failures:
            server.failures -= 1
            raise UnavailableError(next(words))
        return {}

    server.send = send
    await asyncio.wait_for(batcher(server, outages, size=1).put(1), 30)
    assert outages.whys == ["away", "shut"]
