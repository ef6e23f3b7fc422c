"""Made-up memories and questions about them: any number, all different, the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass

_PEOPLE = "Ada Bruno Chidi Dana Emre Farah Goran Hana Ivo Jun Kaja Luis Mira Noor Otto Pia Rafi Sana Tomo Uma".split()  # noqa: SIM905
_VERBS = (
    "keeps {thing} in {place}",
    "bought {thing} in {place}",
    "lost {thing} near {place}",
    "repairs {thing} every autumn in {place}",
    "wants to sell {thing} before moving to {place}",
    "lent {thing} to a neighbour from {place}",
    "paints {thing} for an exhibition in {place}",
    "learned to build {thing} during a course in {place}",
)
_ADJECTIVES = "copper folding striped heavy borrowed wooden quiet spare antique yellow wireless cracked".split()  # noqa: SIM905
_THINGS = (
    "bicycle", "telescope", "tent", "violin", "kayak", "sewing machine", "beehive", "lantern", "chess set", "camera",
    "greenhouse", "piano", "ladder", "record player", "loom", "rucksack", "typewriter", "oven", "surfboard", "clock",
)  # fmt: skip
_PLACES = (
    "Oslo", "Porto", "Nagoya", "Quito", "Tartu", "Windhoek", "Lyon", "Perth", "Izmir", "Bergen", "Turin", "Cusco",
    "Hue", "Accra", "Gdansk", "Leeds", "Split", "Fez", "Tbilisi", "Utrecht",
)  # fmt: skip
_ENDINGS = (
    "since the spring of {year}", "because the old one broke in {year}", "and it cost {price} euros",
    "which took {days} days", "together with a cousin, in {year}", "and has a receipt with the number {price}",
)  # fmt: skip


@dataclass(frozen=True)
class Item:
    """A memory of one user and a question that it answers; `key` is unique."""

    key: str
    user: int
    text: str
    question: str


def made_up(count: int, users: int, seed: int = 7) -> list[Item]:
    """`count` items, dealt to `users` in turn. Every text and every question occurs once."""
    chance = random.Random(seed)
    return [_item(number, number % users, chance) for number in range(count)]


def _item(number: int, user: int, chance: random.Random) -> Item:
    person, place = chance.choice(_PEOPLE), chance.choice(_PLACES)
    thing = f"{chance.choice(_ADJECTIVES)} {chance.choice(_THINGS)}"
    did = chance.choice(_VERBS).format(thing=f"a {thing}", place=place)
    end = chance.choice(_ENDINGS).format(
        year=chance.randint(1990, 2025), price=chance.randint(20, 4_000), days=chance.randint(2, 90)
    )
    text = f"{person} {did} {end} (note {number})."
    return Item(f"item-{number}", user, text, f"What about {person}'s {thing} in {place}, note {number}?")
