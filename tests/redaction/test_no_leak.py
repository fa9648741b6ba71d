"""Two hundred seeded secrets, everywhere a secret can stand; a byte search finds none."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Iterator

from agenttrace.records import canonical
from agenttrace.redaction import Redactor

REDACTOR = Redactor(b"0123456789abcdef0123456789abcdef")
NAMES = ["password", "api_key", "accessToken", "client_secret", "authorization", "ssn", "cvv"]


def seeded(count: int) -> Iterator[tuple[random.Random, str, str]]:
    for seed in range(count):
        source = random.Random(seed)
        kind = seed % 4
        letters = source.choices(string.ascii_letters + string.digits, k=source.randint(8, 40))
        secret = "".join(letters)
        if kind == 1:
            secret += source.choice(['"q', "\\b", "ä€", "/+=", " two words"])
        elif kind == 2:
            secret = f"sk-{secret}0{'x' * 16}"
        elif kind == 3:
            secret = str(source.randrange(10**8, 10**16))
        yield source, source.choice(NAMES), secret


def spellings(secret: str) -> set[str]:
    return {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}


def test_none_of_200_secrets_is_found_in_anything_that_was_masked():
    found = []
    for source, name, secret in seeded(200):
        value: object = int(secret) if secret.isdigit() and source.random() < 0.5 else secret
        given = {
            "order_id": "A-104",
            name: value,
            "note": f"please use {secret} today",
            "nested": {"rows": [{name: value}, [f"({secret})"]]},
            "body": json.dumps({"headers": {name: value}, "text": f"x {secret} y"}),
            f"key {secret}": 1,
        }
        raw = json.dumps(given, ensure_ascii=source.random() < 0.5)
        mask = REDACTOR.for_run()
        shown = [
            mask.mask_raw(raw),
            json.dumps(mask.mask_arguments(given), ensure_ascii=False),
            mask.mask_text(f"ValueError: cannot log in with {secret!r}: {given!r}"),
            json.dumps(mask.mask_value({"status": f"sent {secret}"}), ensure_ascii=False),
            mask.mask_raw(raw.replace('"', "'")),
            mask.mask_raw(raw.replace(":", "=>", 1).replace("{", "", 1)),
        ]
        shown += [mask.mask_raw(raw[: source.randrange(len(raw))]) for _ in range(10)]
        found += [
            (name, secret, text)
            for text in shown
            for spelled in spellings(secret)
            if spelled in text
        ]

    assert found == []


def test_no_cut_of_raw_text_lets_a_secret_through():
    raw = json.dumps(
        {"a": 1, "password": "S3CRETvalue", "b": {"api_key": "S3CRETvalue", "note": "S3CRETvalue"}}
    )

    leaks = [cut for cut in range(len(raw)) if "S3CRET" in REDACTOR.for_run().mask_raw(raw[:cut])]

    assert leaks == []


def test_equality_survives_for_all_pairs():
    values = [secret for _, _, secret in seeded(200)]
    masked = [canonical(REDACTOR.mask_expected({"token": value})) for value in values]

    assert len(set(masked)) == len(set(values))
    assert masked == [canonical(REDACTOR.mask_expected({"token": value})) for value in values]


def test_a_digest_is_no_plain_hash_of_the_value():
    import hashlib

    digest = REDACTOR.digest("1234")

    assert hashlib.sha256(b'"1234"').hexdigest() not in digest
    assert base64.b64encode(hashlib.sha256(b'"1234"').digest()).decode() not in digest
