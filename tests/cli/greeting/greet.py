"""A command of Headroom's, for the tests of what commands share."""

from crawler import config
from crawler.base.errors import PlanError
from crawler.cli.command import HeadroomCommand
from crawler.cli.output import print_json


class Command(HeadroomCommand):
    summary = "Greets"
    arguments_max = 1

    def execute(self, args, opts):
        match args:
            case ["fail"]:
                raise PlanError("no such plan:\n\x1b[31mred\nend")
            case ["bug"]:
                raise ZeroDivisionError
            case ["say"]:
                print("洪水")
            case ["much"]:
                for number in range(200_000):
                    print(number)
            case _:
                print_json(
                    {"name": self.name, "words": args, "prefix": config.KEY_PREFIX.of(self.values), "json": opts.json}
                )
