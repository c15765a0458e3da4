"""The gateways of the comparison: their commands and configurations."""

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent.resolve()


@dataclass(frozen=True)
class Gateway:
    """A gateway: its command, its version, and the upstream that it needs.

    `Running.values` are put into its texts.
    """

    name: str
    command: str
    version: str
    upstream: str = "provider"
    model: str = "gpt-5"
    files: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    has_database: bool = False


def package_version(venv: str, package: str) -> str:
    code = f"import importlib.metadata; print(importlib.metadata.version({package!r}))"
    return f"{{venvs}}/{venv}/bin/python -c \"{code}\""


ANTIPHON = "{antiphon} serve --listen 127.0.0.1:{port} --store sqlite:{directory}/antiphon.db"
LITELLM_CONFIG = """
model_list:
  - model_name: gpt-5
    litellm_params: {{model: openai/gpt-5, api_base: "{upstream}/v1", api_key: "{key}"}}
"""
SMG = (
    "{venvs}/smg/bin/smg launch --backend openai --worker-urls {upstream} --host 127.0.0.1 "
    "--port {port} --prometheus-port {second_port} --history-backend "
)
GATEWAYS = [
    Gateway("the strict provider alone", "", "{antiphon} -V"),
    Gateway(
        "Antiphon, --state upstream",
        ANTIPHON + " --upstream {upstream}/v1 --state upstream",
        "{antiphon} -V",
    ),
    Gateway("Antiphon", ANTIPHON + " --upstream {upstream}/v1", "{antiphon} -V"),
    Gateway(
        "LiteLLM",
        "{venvs}/litellm/bin/litellm --config {directory}/config.yaml --host 127.0.0.1 "
        "--port {port}",
        package_version("litellm", "litellm"),
        files={"config.yaml": LITELLM_CONFIG},
        environment={"LITELLM_MASTER_KEY": "{key}"},
    ),
    Gateway(
        "smg, memory",
        SMG + "memory",
        package_version("smg", "smg"),
    ),
    Gateway(
        "smg, PostgreSQL",
        SMG + "postgres --postgres-db-url {postgres}",
        package_version("smg", "smg"),
        environment={"DB_AUTO_MIGRATE": "true"},
        has_database=True,
    ),
    Gateway(
        "agentic-api",
        "{venvs}/agentic/bin/agentic-server --llm-api-base {upstream} --skip-llm-ready-check "
        "--openai-api-key {key} --gateway-host 127.0.0.1 --gateway-port {port} "
        "--db-url sqlite://{directory}/agentic.db?mode=rwc",
        package_version("agentic", "agentic-api"),
    ),
    Gateway(
        "ogx",
        f"{{venvs}}/ogx/bin/ogx run {HERE}/ogx.yaml --port {{port}} --insecure",
        package_version("ogx", "ogx"),
        upstream="chat",
        model="openai/fake-model",
        environment={
            "DIRECTORY": "{directory}",
            "UPSTREAM": "{upstream}",
            "KEY": "{key}",
            "HOME": "{directory}",
            "TIKTOKEN_CACHE_DIR": "{tokenizers}",
        },
    ),
]
