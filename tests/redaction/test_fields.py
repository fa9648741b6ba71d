"""Which names hold secrets."""

from __future__ import annotations

import base64
import json

import pytest

from agenttrace.redaction import DEFAULT_FIELDS, Redactor

SECRET = {
    "password": "password PASSWORD passWord pass-word user_password PGPASSWORD passwd pwd "
    "password1 password_2 password_confirmation passwordConfirm passwordconfirmation userpwd "
    "pass pw db_pw SMTP_PASS user[password] user[password][0] user[password1] "
    "user[password]_confirmation password1_confirm repeat_password password_repeat",
    "token": "token access_token refreshToken id-token x-auth-token csrf_token jwt sessionToken "
    "tokenValue token_value2 token_1",
    "secret": "secret client_secret clientSecret WEBHOOK_SECRET secrets mysecret "
    "APPSECRET secret_value secretValues",
    "api_key": "api_key apiKey APIKEY x-api-key STRIPE_API_KEY openaiapikey aws_secret_access_key "
    "stripe_key STRIPE_KEY my_openai_key",
    "auth": "auth Authorization proxy-authorization authorization_header authHeaders",
    "cookie": "cookie set-cookie Cookies",
    "private_key": "private_key ssh_private_key PrivateKey",
    "credential": "credential credentials aws_credentials",
    "national_id": "ssn social_security_number passport passportNumber",
    "card": "card_number cardNumber credit_card_number",
    "card_code": "cvv CVC cvv2",
    "pin": "pin PIN card_pin",
    "iban": "iban sender_iban",
}

PLAIN = (
    "tokens max_tokens maxTokens token_count tokenizer next_page_token author authority authored "
    "pinned pins spin shipping passenger passed secretary key keys keyboard monkey card cards "
    "order_id amount_cents id name note query idempotency_key key_id email iban_country_name "
    "session_id has_password password_reset_url cookies_accepted pinterest compass bypass "
    "pass_rate boarding_pass primary_key foreign_key sort_key turnkey max_token_value next_token1 "
    "max_token[0] auth0 value header confirm header_value user[name] key1 1 [0] [] passes "
    "account_number passport_issued cors_headers"
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


@pytest.mark.parametrize(
    "name", ["customer_note", "customerNote2", "customer-note_3", "[customer]note"]
)
def test_a_name_of_ones_own_counts_in_any_spelling(name: str):
    assert DEFAULT_FIELDS.adding("customer note").group_of(name) == "customer_note"


@pytest.mark.parametrize("name", ["password", "apiKey", "user[pin]"])
def test_a_key_of_bytes_names_its_field_as_a_text_does_at_every_boundary(name: str):
    redactor = Redactor(b"0123456789abcdef0123456789abcdef")
    key = f"$bytes:{base64.b64encode(name.encode()).decode()}"
    given = {"headers": {key: "hunter22", "$bytes:bm90ZQ==": "seen", "$bytes:%": "seen"}}

    masked = redactor.mask_expected(given)
    raw = redactor.for_run().mask_raw(json.dumps(given))
    quoted = redactor.mask_expected({"text": json.dumps(given)})["text"]

    token = redactor.token("hunter22", redactor.group_of(name) or "")
    assert masked == json.loads(raw) == json.loads(str(quoted))
    assert masked["headers"] == {key: token, "$bytes:bm90ZQ==": "seen", "$bytes:%": "seen"}
