"""Which URLs may be fetched: every way to spell an internal address is refused."""

from __future__ import annotations

import ipaddress

import pytest

from core.domain.addresses import NotAllowed, address_allowed, checked_url

INTERNAL = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254", "127.0.0.1", "127.0.0.53"),
    *(
        "127.255.255.254",
        "169.254.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.254",
        "192.0.0.8",
        "192.0.0.171",
    ),
    *("192.0.2.1", "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7"),
    *("203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "100.100.100.200"),
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1"),
    *("64:ff9b:1::7f00:1", "64:ff9b::a00:1", "100::1", "2001::1", "2001:10::1", "2001:db8::1", "2002:7f00:1::"),
    *("2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "feb0::1", "fec0::1"),
    *("feff::1", "ff00::1", "ff02::1", "::ffff:0:0", "::ffff:192.168.1.1", "::2"),
]
SPELLINGS = [
    *(
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "0177.0.0.01",
        "127.1",
        "127.0.1",
        "0x7f.1",
        "017700000001",
    ),
    *("0", "0x0", "00.0.0.0", "2852039166", "0xa9fea9fe", "169.254.43518", "0251.0376.0251.0376", "3232235521"),
    *("0xc0a80001", "192.168.1", "10.1", "167772161", "0x0a000001", "012.0.0.1", "127.0.0.1.", "2130706433."),
]
NAMES = [
    *("localhost", "LOCALHOST", "localhost.", "a.localhost", "x.local", "metadata.google.internal", "db.internal"),
    *("router.home.arpa", "abc.onion", "printer.lan", "intra.corp", "wiki.intranet", "redis", "postgres", "a"),
    *(
        "①②⑦.0.0.1",
        "127。0。0。1",
        "１２７.0.0.1",
        "ｌocalhost",
        "loc\u0430lhost.com",
        "exämple.com",
        "a..b",
        "." * 3,
    ),
    *("-" * 64 + ".com", "a" * 300 + ".com"),
]
ODD = [
    *(
        "file:///etc/passwd",
        "gopher://example.com",
        "ftp://example.com/x",
        "javascript:alert(1)",
        "data:text/plain,x",
    ),
    *(
        "example.com",
        "//example.com",
        "http:example.com",
        "http://",
        "https://",
        "",
        "https:///x",
        "ws://example.com",
    ),
    *("https://user@example.com", "https://user:pw@example.com", "https://:pw@example.com", "https://example.com#x"),
    *("https://h#@evil.example", "https://h\\@evil.example", "https://exa\tmple.com", "https://exa\nmple.com"),
    *("https://example.com /x", " https://example.com", "https://example.com\x00", "https://example.com\x7f"),
    *("https://example.com:0", "https://example.com:22", "https://example.com:25", "https://example.com:6379"),
    *("https://example.com:99999", "https://example.com:-1", "https://example.com:x", "http://example.com:443"),
    *("http://example.com:5432", "https://example.com:80", "https://[::1", "https://[zz::1]", "https://[]"),
    *(
        "https://[fe80::1%25eth0]",
        "https://" + "a" * 3000 + ".com",
        "HTTPS://USER@EXAMPLE.COM",
        "https://@example.com",
    ),
    *("https://a@b@example.com", "unix:///var/run/docker.sock", "dict://example.com:11211/", "ldap://example.com"),
]
URLS = [
    *(f"https://{f'[{host}]' if ':' in host else host}/hook" for host in INTERNAL),
    *(f"http://{host}/" for host in SPELLINGS),
    *(f"https://{host}/" for host in NAMES),
    *ODD,
]


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(set(URLS)) >= 150


@pytest.mark.parametrize("url", URLS)
def test_an_internal_or_odd_url_is_refused(url: str) -> None:
    with pytest.raises(NotAllowed):
        checked_url(url, "none")


@pytest.mark.parametrize("address", INTERNAL)
def test_an_internal_address_is_refused_also_when_a_name_resolves_to_it(address: str) -> None:
    assert not address_allowed(address, "none")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/x",
        "https://example.com:8443/",
        "http://a.example.org/h?x=1",
        "https://93.184.216.34/",
        "https://[2606:2800:220:1::1]/",
        "https://EXAMPLE.com./",
    ],
)
def test_a_public_url_is_let_through(url: str) -> None:
    assert checked_url(url, "none").hostname


def test_loopback_and_private_are_opened_one_by_one() -> None:
    assert checked_url("http://127.0.0.1:9001/h", "loopback")
    assert address_allowed("::1", "loopback")
    assert not address_allowed("10.0.0.1", "loopback")
    assert address_allowed("10.0.0.1", "private")
    assert not address_allowed("169.254.169.254", "private")
    assert not address_allowed("100.64.0.1", "private")
    assert checked_url("http://receiver:8000/h", "private")


def test_text_that_is_no_address_is_never_allowed() -> None:
    assert not address_allowed("example.com", "private")
    with pytest.raises(ValueError, match="appear"):
        ipaddress.ip_address("example.com")
