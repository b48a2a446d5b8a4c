"""The pages of the test wiki: the same every time, and in English, because MediaWiki's search can't split Chinese."""

from __future__ import annotations

REGIONS = ("Chongqing", "Sichuan", "Yunnan", "Guizhou", "Hubei")
EVENTS = ("flood", "earthquake", "drought", "landslide", "snowfall")
TOPICS = ("rescue", "outage", "aid", "traffic", "school", "harvest", "shelter")
PAGES = 250


def wiki_pages(count: int = PAGES) -> dict[str, str]:
    """Returns text by title. Every page has the word `bulletin`; regions and events are spread over them evenly."""
    pages = {}
    for number in range(count):
        region = REGIONS[number % len(REGIONS)]
        event = EVENTS[number // len(REGIONS) % len(EVENTS)]
        topic = TOPICS[number % len(TOPICS)]
        title = f"{region} {event} {number:03d}"
        before = f"{REGIONS[(number - 1) % len(REGIONS)]} {EVENTS[(number - 1) // len(REGIONS) % len(EVENTS)]}"
        pages[title] = (
            f"This bulletin tells of the {event} in {region}, report {number:03d}.\n\n"
            f"== {topic.capitalize()} ==\n"
            f"The people of {region} ask for {topic}. Some {100 + number * 7} families wait, the water stands at "
            f"{number % 9 + 1}.{number % 10} metres and the road is closed for {number % 6 + 1} days.\n\n"
            f"== Sources ==\n* Station {number % 13 + 1} of {region}\n* [[{before} {(number - 1) % count:03d}]]\n"
        )
    return pages
