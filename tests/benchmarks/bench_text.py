"""How many short texts a second the analyser handles on one core (processor time, caches cold at the start).

    python -m tests.benchmarks.bench_text [--texts 20000]

The words come from a vocabulary of 30,000 drawn by Zipf's law, so that caches see what they see in life.
"""

from __future__ import annotations

import argparse
import platform
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime

from core.domain.memory import Turn
from core.text import bm25, dates, entities, rules, similar, tokens
from core.text.grounding import ungrounded

NOW = datetime(2026, 5, 20, tzinfo=UTC)
SYLLABLES = "ka lo mi ter an sul be ron dy vex pra gi not hum is el qua fo zen tri".split()  # noqa: SIM905
COMMON = "I you my we the a to of in and is was with for on at have had will it that this very".split()  # noqa: SIM905
HAN = "我在杭州工作喜欢喝茶他对芒果过敏住的是测试工程师昨天去了北京公司开会负责人周岚明年要学日语和编程"


def vocabulary(rng: random.Random, size: int) -> list[str]:
    return ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(size)]


def short_texts(rng: random.Random, count: int) -> list[str]:
    """One in five Chinese, the others of 8 to 20 words, a third of them function words."""
    words = vocabulary(rng, 30_000)
    weights = [1 / (rank + 10) for rank in range(len(words))]
    drawn = iter(rng.choices(words, weights, k=count * 20))
    texts = []
    for index in range(count):
        if index % 5 == 4:
            texts.append("".join(rng.choices(HAN, k=rng.randint(10, 30))) + "。")
            continue
        text = [rng.choice(COMMON) if rng.random() < 0.35 else next(drawn) for _ in range(rng.randint(8, 20))]
        texts.append(" ".join(text).capitalize() + ".")
    return texts


def rate(work: Callable[[str], object], texts: list[str]) -> float:
    began = time.process_time()
    for text in texts:
        work(text)
    return len(texts) / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=20_000, help="how many texts (default 20000)")
    texts = short_texts(random.Random(7), parser.parse_args().texts)
    tokens.tokens("warm up 暖机")
    work: dict[str, Callable[[str], object]] = {
        "tokens": tokens.tokens,
        "bm25.document": bm25.document,
        "entities": entities.entities,
        "dates.mentions": lambda text: dates.mentions(text, NOW),
        "rules.extract": lambda text: rules.extract([Turn(0, "user", text, NOW)], [], []),
        "grounding": lambda text: ungrounded(text, [text]),
        "near_duplicate": lambda text: similar.near_duplicate(text, text.upper(), None),
    }
    print(f"{len(texts)} texts, one core, {platform.machine()}, Python {platform.python_version()}")
    for name, function in work.items():
        sample = texts if name in ("tokens", "bm25.document") else texts[:2000]
        print(f"{name:16}{rate(function, sample):>12,.0f} texts/s")


if __name__ == "__main__":
    main()
