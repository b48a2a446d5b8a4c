from crawler.base.seldom import SILENT_SECONDS, Seldom


def test_an_hour_of_failing_tries_is_a_line_a_minute_which_counts_them():
    said, clock = [], [0.0]
    warn = Seldom(lambda template, *args: said.append(template % args), lambda: clock[0])
    for second in range(3_600):
        clock[0] = float(second)
        warn("%d offers: waiting for Redis: %s", second, "away")
    assert said[0] == "0 offers: waiting for Redis: away"
    assert said[1] == "60 offers: waiting for Redis: away (and 59 times more since it was last said)"
    assert len(said) == 3_600 / SILENT_SECONDS


def test_what_is_said_of_something_else_is_not_held_back():
    said = []
    warn = Seldom(lambda template, *args: said.append(template % args), lambda: 0.0)
    warn("one: %s", 1)
    warn("two: %s", 2)
    warn("one: %s", 3)
    assert said == ["one: 1", "two: 2"]
