"""Masking of one run: values by their field, and what was masked by value in every later text.

Values are masked one by one, also inside an object that is secret as a whole, so that paths stay
comparable. Null, true, false and the empty text hide nothing and stay. The same value gives the
same token parsed, in raw argument text, in JSON text inside a string, and in a case's plan.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock, local
from typing import TYPE_CHECKING, Any, Final, TypeVar

from agenttrace.domain import JsonObject, JsonValue
from agenttrace.records import JsonTextError, canonical, mask_text, parse_json
from agenttrace.redaction._forms import (
    BYTES_KEY,
    BYTES_MARK,
    empty_like,
    is_base64_at,
    is_container,
    is_known,
    is_long_number,
    may_be_json,
    quoted,
    spellings,
    text_of_base64,
    with_keys,
)
from agenttrace.redaction._keyed import Keyed
from agenttrace.redaction._memory import Remembered
from agenttrace.redaction._passing import let_pass
from agenttrace.redaction._schemas import mask_schema
from agenttrace.redaction._texts import TextMask
from agenttrace.redaction._tokens import DROPPED, SetAside, is_token

if TYPE_CHECKING:
    from agenttrace.records import Found
    from agenttrace.redaction._redactor import Redactor

MAX_NESTED_TEXTS: Final = 8
"""JSON texts inside each other's strings that are read as JSON; deeper ones are read as prose."""

_MAX_CLEAN: Final = 4_096
_MAX_CLEAN_LENGTH: Final = 256
_MIN_KEY: Final = 8
_BYTES_KEYS: Final = frozenset({BYTES_MARK, "head"})
_Path = tuple[str | int, ...]
_Frame = tuple[Any, Any, str | None, _Path | None]
_T = TypeVar("_T")


class _Drops(local):
    """How many values the call of this thread has dropped."""

    count = 0


class RunMask(Keyed):
    """Masks what one run records; usable from several threads. Nothing here raises.

    What cannot be masked is dropped: `[dropped:mask-error]` stands in its place, and `errors`
    counts it.
    """

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(redactor)
        self._memory = Remembered()
        self._texts = TextMask(redactor, self._memory)
        self._clean: set[str] = set()
        """Short texts known to hold no secret of those known when `_clean_at` were remembered."""
        self._plain_names: set[str] = set()
        """Names of fields that are no secrets, with no secret in the name."""
        self._clean_at = 0
        self._drops = _Drops()
        self._lock = RLock()
        self.errors = 0
        """Values that were dropped because masking them failed."""

    def forget_threads(self) -> None:
        """Go on in a forked child, where nobody is left who could give a lock back."""
        self._lock = RLock()
        self._memory.forget_threads()

    @property
    def forgotten(self) -> int:
        """Masked values that are not looked for in texts because there were too many."""
        return self._memory.forgotten

    def mask_arguments(self, arguments: JsonObject) -> dict[str, JsonValue]:
        """A call's arguments with secret values replaced by tokens."""
        masked = self.mask_value(arguments)
        return masked if isinstance(masked, dict) else {DROPPED: None}

    def mask_value(self, value: JsonValue, name: str | None = None) -> JsonValue:
        """A JSON value with secrets replaced; the result shares no container with it.

        Args:
            name: Field that the value is of, where there is one.
        """
        group = None if name is None else self._redactor.group_of(name)
        if group is None and type(value) is dict and self._is_plain(value):
            return value.copy()
        dropped: JsonValue = DROPPED
        return self._guarded(lambda: self._walk(value, group)[0], dropped)

    def mask_fields(self, data: JsonObject, kept: frozenset[str]) -> dict[str, JsonValue]:
        """What an event says, with secrets replaced."""
        return self.mask_arguments(data)

    def mask_schema(self, schema: JsonValue) -> JsonValue:
        """A tool's JSON Schema: its types stay, its texts and stated values are masked."""
        group_of = self._redactor.group_of
        dropped: JsonValue = DROPPED
        return self._guarded(
            lambda: mask_schema(schema, group_of, lambda value, group: self._walk(value, group)[0]),
            dropped,
        )

    def mask_raw(self, text: str) -> str:
        """Argument text, valid or broken; parsed, it gives what `mask_arguments` gives.

        What is not masked stays byte for byte.
        """
        if not may_be_json(text):
            return self.mask_text(text)
        return self._guarded(lambda: self._json_text(text, 0, ()), DROPPED)

    def mask_text(self, text: str) -> str:
        """Prose, such as a message or an error, with every secret in it replaced.

        Secrets are values masked earlier in the run, from 4 characters or 6 digits on; values
        behind the name of a secret field; and shapes of well-known secrets.
        """
        return self._guarded(lambda: self._text(text, 0), DROPPED)

    def remember(self, arguments: JsonObject) -> None:
        """Note the secrets of arguments without masking them.

        Of several calls that arrive together, each is to be noted before the first is masked, so
        that a text is masked alike before and after another call's secret was seen.
        """
        self._guarded(lambda: self._walk(arguments, None)[0], None)

    def learn(self, text: str, token: str) -> None:
        """Note a secret that was masked elsewhere."""
        self._memory.add(text, token)

    def _guarded(self, mask: Callable[[], _T], dropped: _T) -> _T:
        """Mask; again when that showed a secret which an earlier part may hold as well."""
        drops = self._drops
        drops.count = 0
        try:
            known = len(self._memory)
            masked = mask()
            if len(self._memory) != known:
                drops.count = 0
                masked = mask()
        except Exception as error:  # noqa: BLE001 - a value that cannot be masked is not shown
            let_pass(error)
            drops.count, masked = 1, dropped
        if drops.count:
            with self._lock:
                self.errors += drops.count
        return masked

    # Parsed values

    def _is_plain(self, value: dict[str, JsonValue]) -> bool:
        """Whether an object holds names and scalars only that are known to be no secrets."""
        if self._clean_at != len(self._memory) or self._redactor.paths.depth:
            return False
        return is_known(value, self._plain_names, self._clean, has_secrets=self._clean_at > 0)

    def _walk(
        self, value: JsonValue, group: str | None, *, level: int = 0, at: _Path | None = ()
    ) -> tuple[JsonValue, bool]:
        """The masked value, and whether nothing in it was masked.

        Args:
            level: How many strings' JSON texts the value stands in.
            at: Where the value stands among arguments; None: no path leads into it.
        """
        paths = self._redactor.paths
        start = at if paths.depth and group is None else None
        if not is_container(value):
            masked = self._leaf(value, group, level, start)
            return masked, masked == value
        result = empty_like(value)
        is_same = True
        stack: list[_Frame] = [(value, result, group, start)]
        while stack:
            source, out, group, path = stack.pop()
            pairs = source.items() if isinstance(out, dict) else enumerate(source)
            for key, item in pairs:
                inner, here, shown = group, None, key
                if isinstance(key, str) and key not in self._plain_names:
                    shown, named = self._field(key)
                    inner = inner or named
                if inner is None and path is not None and len(path) < paths.depth:
                    here = (*path, key)
                    inner = paths.group_at(here)
                if is_container(item):
                    masked = empty_like(item)
                    stack.append((item, masked, inner, here))
                else:
                    is_bytes = key in _BYTES_KEYS and is_base64_at(source, key)
                    mask = self._bytes if is_bytes else self._leaf
                    masked = mask(item, inner, level, here)
                    if masked is not item and masked != item:
                        is_same = False
                if isinstance(out, list):
                    out.append(masked)
                else:
                    out[shown] = masked
                    if shown is not key:
                        is_same = False
        return result, is_same

    def _leaf(
        self, value: JsonValue, group: str | None, level: int, at: _Path | None = None
    ) -> JsonValue:
        if group is None:
            try:
                if isinstance(value, str):
                    return self._text(value, level, at)
                if is_long_number(value):
                    return self._number(value) or value
                return value if value is None or isinstance(value, int | float) else DROPPED
            except Exception as error:  # noqa: BLE001 - one text is lost, and not the call
                let_pass(error)
                self._drops.count += 1
                return DROPPED
        if value is None or value is True or value is False or value == "":
            return value
        try:
            return self._token(value, group)
        except Exception as error:  # noqa: BLE001 - as above
            let_pass(error)
            self._drops.count += 1
            return DROPPED

    def _number(self, value: int | float) -> str | None:
        """The token of a number that was masked elsewhere in the run."""
        group = self._memory.group_of(canonical(value)) if len(self._memory) else None
        return None if group is None else self._redactor.token(value, group)

    def _bytes(
        self, value: JsonValue, group: str | None, level: int = 0, at: _Path | None = None
    ) -> JsonValue:
        """Bytes in base64, which hide a secret from a search and from nobody else."""
        text = text_of_base64(value) if isinstance(value, str) else None
        if text is None:
            return self._leaf(value, group, level, at)
        try:
            if group is None:
                is_clean = self._texts.mask(text, is_cut=True) == text
                return value if is_clean else self._token(value, "bytes")
            token = self._token(value, group)
            if text.isprintable():
                self._memory.add(text, token)
            return token
        except Exception as error:  # noqa: BLE001 - as above
            let_pass(error)
            self._drops.count += 1
            return DROPPED

    def _token(self, value: JsonValue, group: str) -> str:
        if isinstance(value, str) and (value == DROPPED or is_token(value)):
            return value
        token = self._redactor.token(value, group)
        text = value if isinstance(value, str) else canonical(value)
        if self._memory.add(text, token) and text is value:
            for spelled in spellings(text):
                self._memory.add(spelled, token)
        return token

    def _field(self, name: str) -> tuple[str, str | None]:
        """A field's name, masked where it holds a secret itself, and its group."""
        self._is_clean("")
        plain = self._plain_names
        group = self._redactor.group_of(name)
        shown = name
        if name.startswith(BYTES_KEY):
            masked = self._bytes(name.removeprefix(BYTES_KEY), None)
            shown = name if name.endswith(str(masked)) else f"{BYTES_KEY}{masked}"
        elif len(name) >= _MIN_KEY:
            masked = self._texts.mask(name, assignments=False)
            shown = name if masked == name else masked
        elif len(self._memory) and not name.isalpha():
            # A short name of letters alone is likelier to be a name than somebody's secret.
            shown = self._memory.token_of(name) or name
        if group is None and shown is name and len(name) <= _MAX_CLEAN_LENGTH:
            if len(plain) >= _MAX_CLEAN:
                plain.clear()
            plain.add(name)
        return shown, group

    # Texts

    def _text(self, text: str, level: int, at: _Path | None = None) -> str:
        if at is not None and not (may_be_json(text) and self._redactor.paths.lead_below(at)):
            at = None
        # What a path leads into is known to be clean nowhere: that depends on where it stands.
        if at is None and self._is_clean(text):
            return text
        clean = self._clean
        masked = text if self._redactor.mask is None else self._redactor.mask(text)
        if not isinstance(masked, str):
            raise TypeError("a mask gives text")
        if level < MAX_NESTED_TEXTS and may_be_json(masked) and not is_token(masked):
            masked = self._json_text(masked, level + 1, at)
        else:
            masked = self._texts.mask(masked)
        if at is None and masked == text and len(text) <= _MAX_CLEAN_LENGTH:
            if len(clean) >= _MAX_CLEAN:
                clean.clear()
            clean.add(text)
        return masked

    def _is_clean(self, text: str) -> bool:
        """Whether the text is known to hold no secret of those that are known now."""
        known = len(self._memory)
        if self._clean_at != known:
            # In this order, and with sets that others may still be adding to left behind: what was
            # found clean before a secret was known must not count as clean after.
            self._clean, self._plain_names = set(), set()
            self._clean_at = known
        return text in self._clean

    def _json_text(self, text: str, level: int, at: _Path | None) -> str:
        """Mask a text that begins like JSON.

        JSON without secrets is told by reading it, which is cheaper than walking its text. In
        broken text a secret may stand where no value is seen, so it is searched as prose too.
        """
        try:
            document = parse_json(text)
        except JsonTextError:
            masked = self._inside(text, level, None, at)
            return self._texts.mask(masked, is_cut=True)
        if not document.duplicate_count:
            _, is_same = self._walk(document.value, None, level=level, at=at)
            if is_same:
                return text
        masked = self._inside(text, level, None, at)
        return with_keys(masked, lambda key: self._field(key)[0])

    def _inside(self, text: str, level: int, group: str | None, at: _Path | None) -> str:
        """Mask inside JSON text that may be broken; with a group, every value in it."""
        paths = self._redactor.paths
        depth = paths.depth - len(at) if at is not None else 0
        aside = SetAside(text)

        def masker(found: Found) -> str | None:
            inner = group
            if inner is None and isinstance(found.key, str):
                inner = self._redactor.group_of(found.key)
            here = None
            if inner is None and at is not None and found.depth <= depth:
                here = (*at, *found.path)
                inner = paths.group_at(here)
            if found.is_container:
                if inner is None or group is not None:
                    return None
                return self._inside(aside.restored(found.source), level, inner, None)
            source, value = aside.restored(found.source), found.value
            if isinstance(value, str):
                value = aside.restored(value)
            return self._found(source, value, level, inner, here)

        return aside.restored(mask_text(aside.text, masker))

    def _found(
        self, source: str, value: object, level: int, group: str | None, at: _Path | None
    ) -> str | None:
        """What to put in place of a scalar in a JSON text; None: it stays."""
        try:
            if group is None:
                if isinstance(value, str):
                    masked = self._text(value, level, at)
                    return None if masked == value else quoted(masked, source)
                if is_long_number(value):
                    number = self._number(value)
                    return None if number is None else quoted(number, source)
                if value is None and source != "null":
                    masked = self._texts.mask(source)
                    return None if masked == source else masked
                return None
            if isinstance(value, bool) or value == "" or source == "null":
                return None
            known = value if isinstance(value, str | int | float) else source
            token = self._token(known, group)
            return None if token == value else quoted(token, source)
        except Exception as error:  # noqa: BLE001 - one value is lost, and not the text around it
            let_pass(error)
            self._drops.count += 1
            return quoted(DROPPED, source)
