"""The reference of all routes, as Markdown, from the gateway's description in OpenAPI."""

import json
from pathlib import Path
from typing import Any

Node = dict[str, Any]

METHODS = ("get", "post", "put", "patch", "delete")


def reference(description: Path) -> str:
    """The page for an OpenAPI file."""
    document = Document(json.loads(description.read_text()))
    return "\n".join([*document.head(), *document.routes(), *document.schemas()]) + "\n"


class Document:
    """An OpenAPI description."""

    def __init__(self, root: Node) -> None:
        self.root = root

    def head(self) -> list[str]:
        return [
            "# Reference of all routes",
            "",
            f"Version {self.root['info']['version']}, from the gateway's own `GET /openapi.json`. "
            "[api.md](../docs/api.md) describes the parts that OpenAI's API does not have.",
        ]

    def routes(self) -> list[str]:
        lines = ["", "## Routes"]
        for path, item in self.root["paths"].items():
            for method in METHODS:
                if method in item:
                    lines += self.operation(path, method, item)
        return lines

    def operation(self, path: str, method: str, item: Node) -> list[str]:
        operation = item[method]
        lines = ["", f"### `{method.upper()} {path}`", "", f"{operation['summary']}."]
        if text := operation.get("description"):
            lines += ["", text]
        parameters = [*item.get("parameters", []), *operation.get("parameters", [])]
        lines += self.parameters([self.resolve(parameter) for parameter in parameters])
        if body := operation.get("requestBody"):
            lines += ["", f"Body: {self.content(self.resolve(body))}."]
        return [*lines, *self.responses(operation["responses"])]

    def parameters(self, parameters: list[Node]) -> list[str]:
        rows = [
            f"| `{it['name']}` | {it['in']} | {self.type_of(it.get('schema', {}))} "
            f"| {cell(it.get('description', ''))} |"
            for it in parameters
        ]
        return ["", "| parameter | in | type | meaning |", "|---|---|---|---|", *rows] if rows else []

    def responses(self, responses: Node) -> list[str]:
        rows = []
        for status, response in responses.items():
            response = self.resolve(response)
            text = cell(response.get("description", ""))
            rows.append(f"| {status} | {text} | {self.content(response)} |")
        return ["", "| status | meaning | body |", "|---|---|---|", *rows]

    def content(self, node: Node) -> str:
        """The types of a body, each with its schema."""
        types = node.get("content", {})
        return ", ".join(
            f"`{name}`: {self.type_of(media.get('schema', {}))}" for name, media in types.items()
        )

    def schemas(self) -> list[str]:
        lines = ["", "## Schemas"]
        for name, schema in self.root["components"]["schemas"].items():
            lines += ["", f"### {name}"]
            if text := schema.get("description"):
                lines += ["", text]
            lines += self.properties(schema)
        return lines

    def properties(self, schema: Node) -> list[str]:
        required = schema.get("required", [])
        rows = [
            f"| `{name}`{'' if name in required else ', optional'} | {self.type_of(value)} "
            f"| {cell(value.get('description', ''))} |"
            for name, value in schema.get("properties", {}).items()
            if isinstance(value, dict)
        ]
        if not rows:
            return ["", f"{self.type_of(schema)}."]
        return ["", "| field | type | meaning |", "|---|---|---|", *rows]

    def type_of(self, schema: Node | bool) -> str:
        """A schema in a few words, with links to the named ones."""
        if not isinstance(schema, dict):
            return "anything"
        if ref := schema.get("$ref"):
            name = ref.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        for key in ("oneOf", "anyOf", "allOf"):
            if key in schema:
                joint = " and " if key == "allOf" else " or "
                return joint.join(self.type_of(part) for part in schema[key])
        if values := schema.get("enum", [schema["const"]] if "const" in schema else None):
            return " or ".join(f"`{cell(json.dumps(value))}`" for value in values)
        if schema.get("type") == "array":
            return f"list of {self.type_of(schema.get('items', {}))}"
        kinds = schema.get("type", "anything")
        return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)

    def resolve(self, node: Node) -> Node:
        """The node that a reference names."""
        if "$ref" not in node:
            return node
        found: Any = self.root
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        return dict(found)


def cell(text: str) -> str:
    """A text in one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
