"""Dates in Chinese and Japanese."""

from __future__ import annotations

from core.text.lang.calendar import Calendar, units

_CJK_NUMBERS = {char: value for value, char in enumerate("一二三四五六七八九十", 1)} | {
    "两": 2, "兩": 2, "几": 3, "幾": 3, "数": 3, "十一": 11, "十二": 12,
}  # fmt: skip
CHINESE = Calendar(
    months={},
    weekdays={f"{prefix}{day}": value for prefix in ("周", "星期", "礼拜", "週")
              for value, day in [*enumerate("一二三四五六日"), (6, "天")]},
    units=units(
        day="天 日", week="周 週 星期 礼拜 个星期 個星期 个礼拜", month="月 个月 個月", year="年",
        weekend="周末 週末", hour="小时 个小时 個小時", minute="分钟 分鐘",
    ),
    days={
        "大前天": -3, "前天": -2, "昨天": -1, "昨晚": -1, "昨日": -1, "今天": 0, "今早": 0, "今晚": 0, "今日": 0,
        "明天": 1, "明日": 1, "明晚": 1, "后天": 2, "後天": 2, "大后天": 3,
    },
    numbers=_CJK_NUMBERS,
    seasons={"春天": 3, "夏天": 6, "秋天": 9, "冬天": 12},
    holidays={"圣诞节": (12, 25), "聖誕節": (12, 25), "平安夜": (12, 24), "元旦": (1, 1), "情人节": (2, 14)},
    templates={
        "holiday": ("{holiday}",),
        "half_year_ago": ("半年(?:之前|以前|前)",),
        "coming": ("(?:未来|接下来){n}{unit}",),
        "ago": ("{n}{unit}(?:之前|以前|前)",),
        "ahead": ("{n}{unit}(?:之后|以后|后|後)",),
        "last": ("上(?:个|個)?{unit}", "前{unit}"),
        "last_year": ("去年",), "this_year": ("今年",), "next_year": ("明年",), "year_before": ("前年",),
        "this": ("(?:这|這|本)(?:个|個)?{unit}",),
        "next": ("下(?:个|個)?{unit}",),
        "last_weekday": ("上(?:个|個)?{weekday}",),
        "this_weekday": ("(?:这|這|本)(?:个|個)?{weekday}",),
        "next_weekday": ("下(?:个|個)?{weekday}",),
        "on_weekday": ("{weekday}",),
        "date": ("(?:{year}年)?{cjkmonth}月{cjkday}[日号號]",),
        "rel_year_date": ("(?P<rel>去年|今年|明年|前年)的?{cjkmonth}月(?:{cjkday}[日号號])?",),
        "month": ("{year}年{cjkmonth}月(?:份)?", "(?<![个個\\d一二三四五六七八九十]){cjkmonth}月(?:份)?(?!前|后)"),
        "last_season": ("去年{season}",), "this_season": ("今年{season}",), "next_season": ("明年{season}",),
        "year": ("{year}年",),
        "span": ("{n}(?:多)?{unit}(?:来|以来|了)",),
    },
    past="了|过|過",
    future="将|会|要|打算|计划|准备",
    spaced=False,
)  # fmt: skip
JAPANESE = Calendar(
    months={},
    weekdays={f"{day}{suffix}": value for value, day in enumerate("月火水木金土日") for suffix in ("曜日", "曜")},
    units=units(
        day="日 日間", week="週間 週", month="か月 ヶ月 ヵ月 カ月 ケ月 箇月 月", year="年 年間", weekend="週末",
        hour="時間", minute="分",
    ),
    days={
        "一昨日": -2, "おととい": -2, "昨日": -1, "きのう": -1, "昨夜": -1, "昨晩": -1, "今日": 0, "きょう": 0,
        "今朝": 0, "今晩": 0, "今夜": 0, "明日": 1, "あした": 1, "明後日": 2, "あさって": 2, "先日": -3,
    },
    numbers=_CJK_NUMBERS,
    seasons={"春": 3, "夏": 6, "秋": 9, "冬": 12},
    holidays={
        "クリスマスイブ": (12, 24), "クリスマス": (12, 25), "大晦日": (12, 31), "元日": (1, 1),
        "ハロウィン": (10, 31),
    },
    templates={
        "holiday": ("{holiday}",),
        "half_year_ago": ("半年前",),
        "coming": ("今後{n}{unit}",),
        "ago": ("{n}{unit}(?:ほど|くらい|ぐらい)?前",),
        "ahead": ("{n}{unit}後",),
        "last": ("先{unit}", "前の{unit}"),
        "last_week": ("先週",), "this_week": ("今週",), "next_week": ("来週",), "week_before": ("先々週",),
        "last_month_unit": ("先月",), "this_month_unit": ("今月",), "next_month_unit": ("来月",),
        "last_year": ("去年", "昨年"),
        "this_year": ("今年",),
        "next_year": ("来年",),
        "year_before": ("一昨年", "おととし"),
        "last_weekend": ("先週末", "先週の週末", "この前の週末"), "this_weekend": ("今週末", "今度の週末"),
        "last_weekday": ("(?:先週|この前)の{weekday}",),
        "this_weekday": ("今週の{weekday}",),
        "next_weekday": ("(?:来週|次)の{weekday}",),
        "on_weekday": ("{weekday}",),
        "date": ("(?:{year}年)?{cjkmonth}月{cjkday}日",),
        "rel_year_date": ("(?P<rel>去年|昨年|今年|来年|一昨年)の?{cjkmonth}月(?:{cjkday}日)?",),
        "month": ("{year}年{cjkmonth}月", "(?<![\\d一二三四五六七八九十]){cjkmonth}月(?!間|前|後)"),
        "last_season": ("(?:去年|昨年)の{season}",),
        "this_season": ("今年の{season}",),
        "next_season": ("来年の{season}",),
        "year": ("{year}年",),
        "span": ("{n}{unit}(?:前から|以上|間)",),
    },
    past="した|ました|った|いた|んだ",
    future="つもり|予定|たい|でしょう",
    spaced=False,
)  # fmt: skip
