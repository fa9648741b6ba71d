"""Which names hold secrets."""

from __future__ import annotations

import pytest

from agenttrace.redaction import DEFAULT_FIELDS

SECRET = {
    "password": "password PASSWORD passWord pass-word user_password PGPASSWORD passwd pwd",
    "token": "token access_token refreshToken id-token x-auth-token csrf_token jwt sessionToken",
    "secret": "secret client_secret clientSecret WEBHOOK_SECRET secrets",
    "api_key": "api_key apiKey APIKEY x-api-key STRIPE_API_KEY openaiapikey aws_secret_access_key",
    "auth": "auth Authorization proxy-authorization",
    "cookie": "cookie set-cookie Cookies",
    "private_key": "private_key ssh_private_key PrivateKey",
    "credential": "credential credentials aws_credentials",
    "national_id": "ssn social_security_number",
    "card": "card_number cardNumber credit_card_number",
    "card_code": "cvv CVC",
    "pin": "pin PIN card_pin",
    "iban": "iban sender_iban",
}

PLAIN = (
    "tokens max_tokens maxTokens token_count tokenizer next_page_token author authority authored "
    "pinned pins spin shipping passenger passed secretary key keys keyboard monkey card cards "
    "order_id amount_cents id name note query idempotency_key key_id email iban_country_name "
    "session_id has_password password_reset_url cookies_accepted pinterest"
)


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, names in SECRET.items() for name in names.split()]
)
def test_a_secret_name_is_found_in_any_spelling(group: str, name: str):
    assert DEFAULT_FIELDS.group_of(name) == group


@pytest.mark.parametrize("name", PLAIN.split())
def test_a_name_that_only_looks_like_one_is_left_alone(name: str):
    assert DEFAULT_FIELDS.group_of(name) is None


def test_names_can_be_added_and_taken_out():
    rules = DEFAULT_FIELDS.adding("Customer Note").without("pin")

    assert rules.group_of("customerNote") == "customer_note"
    assert rules.group_of("pin") is None
    assert rules.group_of("password") == "password"


def test_a_very_long_key_is_no_name():
    assert DEFAULT_FIELDS.group_of("x" * 1_000_000 + "_password") is None
