"""What is masked and with which key: field names, paths, shapes, tokens and keyed digests.

One redactor serves a process. It keeps nothing of what it masks; what one run needs to remember is
in the `RunMask` that `for_run` gives.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final

from agenttrace.domain import BOUNDARIES, Evidence, JsonObject, JsonValue, Masking
from agenttrace.records import canonical
from agenttrace.redaction._digest_text import key_ids
from agenttrace.redaction._digests import Digester
from agenttrace.redaction._expected import Expected
from agenttrace.redaction._fields import (
    DEFAULT_FIELDS,
    MAX_NAME_LENGTH,
    FieldRules,
    field_rules,
    group_name,
)
from agenttrace.redaction._forms import BYTES_KEY, text_of_base64
from agenttrace.redaction._paths import PathRules
from agenttrace.redaction._patterns import DEFAULT_PATTERNS, SecretPattern
from agenttrace.redaction._run_digest import RunDigests
from agenttrace.redaction._run_mask import RunMask
from agenttrace.redaction._tokens import BITS, contains_token, make_token
from agenttrace.redaction._triggers import Triggers

MIN_KEY_BYTES: Final = 16
METHOD: Final = "hmac-sha256"
_MAX_CACHED_NAMES: Final = 4_096
_MAX_CACHED_LENGTH: Final = 64
_CHUNK: Final = 1 << 20


def key_id_of(key: bytes) -> str:
    """Eight hexadecimal digits that name a key and tell nothing of it."""
    return sha256(_derived(key, "key id")).hexdigest()[:8]


def _derived(key: bytes, use: str) -> bytes:
    return hmac.digest(key, f"agenttrace/1/{use}".encode(), "sha256")


class Redactor:
    """Makes tokens and digests with one key, and says what is to be masked.

    Args:
        key: Secret of the project; at least 16 bytes.
        key_id: Its public name; `key_id_of(key)` unless you keep your own register of keys.
        fields: Names of fields whose values are masked; a list of names adds to the default ones.
        paths: JSON pointers of further values; `*` stands for any one key or index.
        patterns: Shapes of secrets that are masked wherever they stand.
        mask: Called with each text that is not masked whole, before the patterns; gives the text
            to go on with. It has to answer alike for equal texts, and answers from several threads.

    Raises:
        ValueError: The key is too short, the key id or a path is malformed.
    """

    def __init__(
        self,
        key: bytes,
        key_id: str | None = None,
        *,
        fields: FieldRules | Iterable[str] = DEFAULT_FIELDS,
        paths: Iterable[str] = (),
        patterns: Iterable[SecretPattern] = DEFAULT_PATTERNS,
        mask: Callable[[str], str] | None = None,
        source: str = "argument",
    ) -> None:
        if len(key) < MIN_KEY_BYTES:
            raise ValueError(f"a key of {len(key)} bytes is too short; {MIN_KEY_BYTES} are needed")
        self.key_id: Final = key_id_of(key) if key_id is None else key_id
        if len(self.key_id) != 8 or not set(self.key_id) <= set("0123456789abcdef"):
            raise ValueError("a key id has eight hexadecimal digits, in lower case")
        self.source: Final = source
        """Where the key came from: `argument`, `environment`, `file` or `ephemeral`."""
        self.paths: Final = PathRules(paths)
        self.patterns: Final = tuple(patterns)
        self.mask: Final = mask
        self._fields = field_rules(fields)
        self._token_key = _derived(key, "token")
        self._digest_key = _derived(key, "digest")
        self._leaf_key = _derived(key, "leaf")
        self._groups: dict[str, str | None] = {}
        self.triggers: Final = Triggers(self.patterns)
        self.endings: Final = self._fields.endings()

        self.digester: Final = Digester(self.key_id, self._leaf_hash)

    def _leaf_hash(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        return hmac.digest(self._leaf_key, data, "sha256")[: BITS // 8].hex()

    def __repr__(self) -> str:
        return f"<Redactor key_id={self.key_id} source={self.source}>"

    def group_of(self, name: str) -> str | None:
        """The group of a secret field's name; None for any other."""
        try:
            return self._groups[name]
        except KeyError:
            pass
        if len(name) > MAX_NAME_LENGTH:
            return None
        shown = name
        if name.startswith(BYTES_KEY):
            # A key of bytes names its field as a text does.
            shown = text_of_base64(name.removeprefix(BYTES_KEY)) or name
        group = self._fields.group_of(shown)
        if len(name) <= _MAX_CACHED_LENGTH:
            if len(self._groups) >= _MAX_CACHED_NAMES:
                self._groups = {}
            self._groups[name] = group
        return group

    def token(self, value: JsonValue, group: str) -> str:
        """The token of a value, equal for equal values of one group and for no others.

        Raises:
            ValueError: The value has no canonical JSON text.
        """
        group = group_name(group)
        text = f"{_type_of(value)}\0{group}\0{canonical(value)}"
        digest = hmac.digest(self._token_key, text.encode("ascii"), "sha256")
        return make_token(group, self.key_id, digest)

    def for_run(self) -> RunMask:
        """The masks of one run, which also finds what was masked before in later texts."""
        return RunMask(self)

    def digests_for_run(self) -> RunDigests:
        """What one run is recorded with where no value at all may be kept."""
        return RunDigests(self)

    def mask_expected(self, arguments: JsonObject) -> dict[str, JsonValue]:
        """A case's expected arguments, masked like observed ones; tokens are left as they are."""
        return self.for_run().mask_arguments(arguments)

    def expected_by(self, evidence: Evidence) -> Expected:
        """What brings a case's values into the form that the values of this evidence have."""
        return Expected(self, evidence)

    def digest_expected(self, arguments: JsonObject) -> dict[str, JsonValue]:
        """A case's expected arguments, each leaf a digest."""
        return self.digests_for_run().mask_arguments(arguments)

    def unknown_keys(self, evidence: Evidence) -> frozenset[str]:
        """Ids of other keys that the evidence's calls were masked with.

        Values that such a key masked can be compared with each other and with nothing else.
        """
        found: set[str] = set()
        for boundary in BOUNDARIES:
            for call in evidence.at(boundary):
                found |= contains_token(call.arguments) | contains_token(call.raw)
                found |= key_ids(call.arguments)
        return frozenset(found - {self.key_id})

    def digest(self, value: JsonValue) -> str:
        """Keyed digest of a JSON value, over its canonical text.

        Raises:
            ValueError: The value has no canonical JSON text.
        """
        return self._digest(canonical(value).encode("ascii"))

    def digest_text(self, text: str | bytes) -> str:
        """Keyed digest of a text as it stands; of canonical text, that of the value."""
        if isinstance(text, bytes):
            return self._digest(text)
        if len(text) <= _CHUNK:
            return self._digest(text.encode("utf-8", "surrogatepass"))
        state = hmac.new(self._digest_key, digestmod="sha256")
        for start in range(0, len(text), _CHUNK):
            state.update(text[start : start + _CHUNK].encode("utf-8", "surrogatepass"))
        return f"{METHOD}:{self.key_id}:{state.hexdigest()}"

    def _digest(self, data: bytes) -> str:
        made = hmac.digest(self._digest_key, data, "sha256")
        return f"{METHOD}:{self.key_id}:{made.hex()}"

    def masking(self) -> Masking:
        """What the run's record says about its masks."""
        return Masking(
            method=METHOD, boundaries=BOUNDARIES, reference=True, bits=BITS, key_id=self.key_id
        )


def _type_of(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    return "number" if isinstance(value, float) else "value"
