"""Which field names hold secrets, and the group that names of one kind of secret share.

Names are compared without regard to case, `_`, `-`, `.`, brackets and blanks, and to digits at
their end. Beside whole names, the last words of a name count, so that `STRIPE_API_KEY`,
`dbPassword` and `x-auth-token` are found while `max_tokens`, `token_count`, `author` and `pinned`
are not. Words that say which of several values it is, as in `password_confirmation`, do not count
as the last ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from agenttrace._dataclass import dataclass, field

_GROUPS: Final[Mapping[str, str]] = {
    "password": "password passwd pwd passphrase passcode pass_word passwords pass pw "
    "user_pass db_pass smtp_pass mail_pass email_pass admin_pass root_pass login_pass ftp_pass "
    "password_confirmation password_confirm",
    "token": "token access_token refresh_token id_token auth_token bearer_token security_token "
    "session_token csrf_token xsrf_token csrf xsrf jwt bearer access_tokens refresh_tokens "
    "api_token oauth_token",
    "secret": "secret secrets client_secret shared_secret app_secret webhook_secret",
    "api_key": "api_key api_keys x_api_key access_key secret_key secret_access_key access_key_id "
    "subscription_key signing_key encryption_key master_key account_key",
    "auth": "auth authorization proxy_authorization www_authenticate basic_auth http_auth",
    "cookie": "cookie cookies set_cookie session_cookie",
    "private_key": "private_key private_keys ssh_key pgp_key seed_phrase recovery_phrase mnemonic",
    "credential": "credential credentials creds connection_string",
    "one_time_code": "otp totp otp_code mfa_code one_time_code two_factor_code",
    "national_id": "ssn social_security_number national_insurance_number passport "
    "passport_number passport_no",
    "card": "card_number credit_card credit_card_number debit_card_number cc_number card_no",
    "card_code": "cvv cvc cvv2 cvc2 card_code security_code",
    "pin": "pin card_pin user_pin pin_number",
    "iban": "iban iban_number bank_account_number",
}

_LAST_WORDS: Final[Mapping[str, str]] = {
    "password": "password passwd pwd passphrase passcode pw",
    "token": "token jwt",
    "secret": "secret secrets",
    "api_key": "apikey api_key access_key secret_key signing_key encryption_key master_key "
    "access_key_id auth_key stripe_key openai_key anthropic_key gemini_key mistral_key cohere_key "
    "groq_key aws_key gcp_key azure_key google_key github_key sendgrid_key twilio_key mailgun_key "
    "slack_key hf_key paypal_key",
    "auth": "authorization",
    "cookie": "cookie cookies",
    "private_key": "private_key ssh_key",
    "credential": "credential credentials",
    "national_id": "ssn passport",
    "card": "card_number",
    "card_code": "cvv cvc",
    "pin": "pin",
    "iban": "iban",
}

_GLUED: Final[Mapping[str, str]] = {
    "password": "password passwd passphrase pwd",
    "token": "accesstoken refreshtoken authtoken bearertoken sessiontoken apitoken",
    "secret": "secret",
    "api_key": "apikey secretkey secretaccesskey",
    "private_key": "privatekey",
}
"""Ends that give a name away also where nothing separates the words."""

_NO_SECRETS: Final = (
    "max_token min_token next_token page_token next_page_token prev_page_token previous_page_token "
    "continuation_token sync_token cursor_token per_token cost_per_token price_per_token pad_token "
    "bos_token eos_token unk_token mask_token sep_token cls_token stop_token first_token "
    "last_token time_to_first_token ms_per_token no_password has_password requires_password "
    "drop_pin map_pin gpio_pin auth0"
)
"""Names that end like a secret's and are none."""

_WHICH: Final = frozenset(
    {"confirmation", "confirm", "repeat", "again", "value", "values", "header", "headers"}
)
"""Last words that say which value of a secret it is, or where it stands."""

_FOLDED: Final = str.maketrans("", "", "_-. \t\n[]")
_SEPARATOR: Final = re.compile(r"[_\-.\s\[\]]+|(?<=[a-z0-9])(?=[A-Z])")
_DIGITS: Final = "0123456789_-. \t\n[]"
MAX_NAME_LENGTH: Final = 128
"""Longest key that is looked at as a field name."""


def fold(name: str) -> str:
    """A field name without what spellings differ in.

    Example:
        >>> fold("X-Api_Key") == fold("xApiKey")
        True
    """
    return name.casefold().translate(_FOLDED)


def _by_name(groups: Mapping[str, str]) -> dict[str, str]:
    return {fold(name): group for group, names in groups.items() for name in names.split()}


@dataclass(frozen=True, kw_only=True)
class FieldRules:
    """Field names whose values are masked; all names folded."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Whole name to its group."""

    last_words: Mapping[str, str] = field(default_factory=dict)
    """Last words of a name, joined, to the group."""

    glued: Mapping[str, str] = field(default_factory=dict)
    """End of a name, separated or not, to the group."""

    never: frozenset[str] = frozenset()
    """Whole names that are left alone whatever they end in."""

    def group_of(self, name: str) -> str | None:
        """The group of a secret field's name; None for any other.

        Example:
            >>> DEFAULT_FIELDS.group_of("dbPassword"), DEFAULT_FIELDS.group_of("max_tokens")
            ('password', None)
        """
        if len(name) > MAX_NAME_LENGTH:
            return None
        folded = fold(name)
        if folded in self.never:
            return None
        group = self.names.get(folded)
        if group is not None:
            return group
        words = [fold(word) for word in _SEPARATOR.split(name.rstrip(_DIGITS)) if word]
        group = self._group_of_words(words)
        while group is None and len(words) > 1 and words[-1] in _WHICH:
            words.pop()
            words[-1] = words[-1].rstrip(_DIGITS)
            group = self._group_of_words(words)
        return group

    def _group_of_words(self, words: list[str]) -> str | None:
        folded = "".join(words)
        if folded in self.never:
            return None
        group = self.names.get(folded)
        if group is not None:
            return group
        if len(words) > 1:
            for count in (3, 2, 1):
                group = self.last_words.get("".join(words[-count:]))
                if group is not None:
                    return group
        return next((g for end, g in self.glued.items() if folded.endswith(end)), None)

    def endings(self) -> frozenset[str]:
        """The last two letters of all names, for a first look at a text."""
        listed = (self.names, self.last_words, self.glued, _WHICH)
        return frozenset(name[-2:] for names in listed for name in names)

    def adding(self, *names: str, group: str | None = None) -> FieldRules:
        """These rules and further whole names; without a group each is a group of its own."""
        more = {fold(name): group or group_name(name) for name in names}
        never = self.never - more.keys()
        return FieldRules(
            names={**self.names, **more}, last_words=self.last_words, glued=self.glued, never=never
        )

    def without(self, *names: str) -> FieldRules:
        """These rules, leaving fields of these whole names alone."""
        return FieldRules(
            names=self.names,
            last_words=self.last_words,
            glued=self.glued,
            never=self.never.union(fold(name) for name in names),
        )


def group_name(name: str) -> str:
    """A field name as it may stand in a token.

    Example:
        >>> group_name("Customer Note")
        'customer_note'
    """
    text = re.sub(r"[^a-z0-9]+", "_", name[:MAX_NAME_LENGTH].casefold()).strip("_")
    return text[:32] or "field"


def field_rules(fields: FieldRules | Iterable[str]) -> FieldRules:
    """Rules as they are, or the default ones with further names."""
    return fields if isinstance(fields, FieldRules) else DEFAULT_FIELDS.adding(*fields)


DEFAULT_FIELDS: Final = FieldRules(
    names=_by_name(_GROUPS),
    last_words=_by_name(_LAST_WORDS),
    glued=_by_name(_GLUED),
    never=frozenset(fold(name) for name in _NO_SECRETS.split()),
)
