"""The tools of a small shop that gives money back, and what a model is told of them.

Every method carries `@trace`, so that what it really received is on record. Nothing here is faulty:
the faults of the demo stand in `_dispatch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from agenttrace.capture import trace

Tool: TypeAlias = Callable[..., Any]

_ORDERS: Final[Mapping[str, int]] = {"A-104": 9800, "B-220": 4250}
"""Order number to what was paid, in cents."""


def _paid(order_id: str) -> int:
    if order_id not in _ORDERS:
        raise ValueError(f"there is no order {order_id}")
    return _ORDERS[order_id]


class Shop:
    """The shop's own functions, as an agent calls them."""

    @trace
    def get_order(self, order_id: str) -> dict[str, Any]:
        """Say what was paid for an order."""
        return {"order_id": order_id, "paid_cents": _paid(order_id)}

    @trace
    def issue_refund(self, order_id: str, amount_cents: int) -> dict[str, Any]:
        """Give money back."""
        return {"order_id": order_id, "refunded_cents": amount_cents}

    @trace
    def send_receipt(self, order_id: str) -> dict[str, Any]:
        """Send the customer a receipt."""
        return {"order_id": order_id, "sent": True}


class AsyncShop:
    """The same functions as coroutines."""

    @trace
    async def get_order(self, order_id: str) -> dict[str, Any]:
        """Say what was paid for an order."""
        return {"order_id": order_id, "paid_cents": _paid(order_id)}

    @trace
    async def issue_refund(self, order_id: str, amount_cents: int) -> dict[str, Any]:
        """Give money back."""
        return {"order_id": order_id, "refunded_cents": amount_cents}

    @trace
    async def send_receipt(self, order_id: str) -> dict[str, Any]:
        """Send the customer a receipt."""
        return {"order_id": order_id, "sent": True}


def tools_of(shop: Shop | AsyncShop) -> dict[str, Tool]:
    """The shop's tools by the names that a model calls them by."""
    return {name: getattr(shop, name) for name in SCHEMAS}


def _schema(**properties: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "get_order": _schema(order_id="string"),
    "issue_refund": _schema(order_id="string", amount_cents="integer"),
    "send_receipt": _schema(order_id="string"),
}
"""Tool to the JSON Schema of its arguments, as it is offered to a model."""

DESCRIPTIONS: Final[Mapping[str, str]] = {
    "get_order": "What was paid for an order, in cents.",
    "issue_refund": "Give money back for an order; the amount is in cents.",
    "send_receipt": "Send the customer a receipt for an order.",
}
