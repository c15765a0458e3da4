"""What a schema cannot say about requests: which model there is."""

from zlib import crc32

import schemathesis

# The model that is built into the gateway. One request in eight keeps the name that was made up.
MODEL = "sim"


@schemathesis.hook
def map_body(context, body):
    if isinstance(body, dict) and isinstance(body.get("model"), str) and crc32(body["model"].encode(errors="replace")) % 8:
        body["model"] = MODEL
    return body
