"""What a schema cannot say about requests: which model there is, what names something that exists,
which fields only make sense together.

Of the requests that would ask a model most are made such that it can answer; the others stay as they
were made up.
"""

import json
from zlib import crc32

import schemathesis

# The model that is built into the gateway.
MODEL = "sim"

# What a request goes on from, and how an id of it begins.
SOURCES = {"previous_response_id": "resp_", "conversation": "conv_"}

# Fields of which most made-up values are refused.
DELICATE = ["prompt", "text", "tools", "tool_choice", "reasoning", "include", "stream_options"]


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        return body
    number = crc32(json.dumps(body, sort_keys=True).encode())
    if number % 4 == 0:
        return body
    body = {**body, "model": MODEL}
    # Every fourth request keeps one of the delicate fields.
    kept = DELICATE[number // 16 % len(DELICATE)] if number // 4 % 4 == 0 else None
    for name in DELICATE:
        if name != kept:
            body.pop(name, None)
    for name, prefix in SOURCES.items():
        if not str(body.get(name)).startswith(prefix):
            body.pop(name, None)
    if "conversation" in body:
        body.pop("previous_response_id", None)
    if not body.get("input") or number // 256 % 2:
        body["input"] = "Hello"
    return body
