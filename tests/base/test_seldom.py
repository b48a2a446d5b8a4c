from crawler.base.log_events import CLAIMS_WAITING, KAFKA_REFUSES, OFFERS_WAITING
from crawler.base.seldom import SILENT_SECONDS, Seldom


def test_an_hour_of_failing_tries_is_a_line_a_minute_which_counts_them():
    said, clock = [], [0.0]
    warn = Seldom(lambda template, *args: said.append(template % args), lambda: clock[0])
    for second in range(3_600):
        clock[0] = float(second)
        warn(OFFERS_WAITING, second, "away")
    assert said[0] == "0 offers: waiting for Redis: away"
    assert said[1] == "60 offers: waiting for Redis: away (and 59 times more since it was last said)"
    assert len(said) == 3_600 / SILENT_SECONDS


def test_what_is_said_of_something_else_is_not_held_back():
    said = []
    warn = Seldom(lambda template, *args: said.append(template % args), lambda: 0.0)
    warn(CLAIMS_WAITING, 1)
    warn(KAFKA_REFUSES, 2)
    warn(CLAIMS_WAITING, 3)
    assert said == ["claims: waiting for Redis: 1", "kafka: refuses messages: 2"]
