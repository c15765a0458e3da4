"""The Compose project: its schema, the files that it mounts, and the names that they share."""

import os
import re
import subprocess
from typing import Any

import pytest
import yaml
from compose_pydantic import ComposeSpecification
from pydantic import ValidationError

from conftest import DEPLOY, antiphon, version

COMPOSE = DEPLOY / "compose"
GATEWAYS = ["gateway-1", "gateway-2"]

VARIABLE = re.compile(r"\$\{(\w+)(:[-?][^}]*)?\}")


@pytest.fixture
def project() -> dict[str, Any]:
    return dict(read("compose.yaml"))


def read(name: str) -> Any:
    return yaml.safe_load((COMPOSE / name).read_text())


def variables_of(name: str) -> dict[str, str]:
    """The assignments of a file with variables."""
    lines = (COMPOSE / name).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def test_the_specification_knows_every_field(project: dict[str, Any]) -> None:
    del project["x-gateway"]  # an extension, which only the anchor uses
    ComposeSpecification.model_validate(project)
    with pytest.raises(ValidationError, match="stop_period"):
        project["services"]["proxy"]["stop_period"] = "1s"
        ComposeSpecification.model_validate(project)


def test_every_mounted_file_exists(project: dict[str, Any]) -> None:
    mounts = [mount for service in project["services"].values() for mount in volumes(service)]
    files = [source for source, _ in mounts if source.startswith(".")]
    assert len(files) == 7
    assert [file for file in files if not (COMPOSE / file).is_file()] == []
    assert {source for source, _ in mounts if not source.startswith(".")} == set(project["volumes"])


def volumes(service: dict[str, Any]) -> list[tuple[str, str]]:
    """The source and the target of each mount."""
    mounts = [mount.split(":") for mount in service.get("volumes", [])]
    return [(mount[0], mount[1]) for mount in mounts]


def test_every_variable_has_a_value_or_an_example() -> None:
    used = VARIABLE.findall((COMPOSE / "compose.yaml").read_text())
    required = {name for name, default in used if not default.startswith(":-")}
    assert required == set(variables_of(".env.example"))


def test_the_gateways_are_of_the_workspaces_version(project: dict[str, Any]) -> None:
    images = {project["services"][name]["image"] for name in GATEWAYS}
    assert images == {f"${{ANTIPHON_IMAGE:-antiphon:{version()}}}"}


def test_a_stop_is_longer_than_the_gateways_grace(project: dict[str, Any]) -> None:
    grace = int(variables_of("antiphon.env.example").get("ANTIPHON_SHUTDOWN_GRACE", "25"))
    for name in GATEWAYS:
        period = project["services"][name]["stop_grace_period"]
        assert int(period.removesuffix("s")) >= grace + 10


def test_the_gateways_accept_their_variables(project: dict[str, Any]) -> None:
    """With a store that needs no server."""
    for name in GATEWAYS:
        service = project["services"][name]
        assert service["env_file"] == "antiphon.env"
        assert service["environment"]["ANTIPHON_STORE"].endswith("@postgres/antiphon")
        env = {**variables_of("antiphon.env.example"), **service["environment"]}
        env |= {"ANTIPHON_STORE": "sqlite::memory:", "PATH": os.environ["PATH"]}
        command = [antiphon(), "serve", "--check", "--listen", "0.0.0.0:8484"]
        checked = subprocess.run(command, env=env, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr


def test_the_proxy_asks_every_gateway(project: dict[str, Any]) -> None:
    settings = (COMPOSE / "haproxy.cfg").read_text()
    assert re.findall(r"^ +server (\S+) (\S+)", settings, re.MULTILINE) == [
        (name, f"{name}:8484") for name in GATEWAYS
    ]
    assert "option httpchk GET /readyz" in settings
    assert project["services"]["proxy"]["ports"] == ["127.0.0.1:8484:8484"]


def test_prometheus_reads_every_gateway(project: dict[str, Any]) -> None:
    settings = read("prometheus.yml")
    [job] = settings["scrape_configs"]
    [targets] = [config["targets"] for config in job["static_configs"]]
    assert targets == [f"{name}:9464" for name in GATEWAYS]
    for name in GATEWAYS:
        environment = project["services"][name]["environment"]
        assert environment["ANTIPHON_METRICS_LISTEN"] == "0.0.0.0:9464"
    assert f'job="{job["job_name"]}"' in (DEPLOY / "prometheus" / "alerts.yaml").read_text()
    [rules] = settings["rule_files"]
    mounted = {target for _, target in volumes(project["services"]["prometheus"])}
    assert f"/etc/prometheus/{rules}" in mounted


def test_the_collector_receives_the_traces(project: dict[str, Any]) -> None:
    endpoint = project["services"]["gateway-1"]["environment"]["OTEL_EXPORTER_OTLP_ENDPOINT"]
    settings = read("collector.yaml")
    listens = settings["receivers"]["otlp"]["protocols"]["http"]["endpoint"]
    assert endpoint == f"http://collector:{listens.rpartition(':')[2]}"
    for pipeline in settings["service"]["pipelines"].values():
        for kind in ("receivers", "processors", "exporters"):
            assert set(pipeline[kind]) <= set(settings[kind])


def test_grafana_finds_the_dashboard_and_its_data(project: dict[str, Any]) -> None:
    targets = [target for _, target in volumes(project["services"]["grafana"])]
    [provider] = read("grafana/dashboards.yaml")["providers"]
    assert f"{provider['options']['path']}/antiphon.json" in targets
    [source] = read("grafana/datasources.yaml")["datasources"]
    host = re.sub(r"http://|:\d+", "", source["url"])
    assert host in project["services"]
    assert source["type"] == "prometheus"


def test_only_this_machine_reaches_the_ports(project: dict[str, Any]) -> None:
    ports = [port for service in project["services"].values() for port in service.get("ports", [])]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_secrets_are_not_in_the_repository() -> None:
    """Docker reads them from files that git ignores."""
    for name in (".env", "antiphon.env"):
        command = ["git", "check-ignore", "--quiet", name]
        ignored = subprocess.run(command, cwd=COMPOSE)
        assert ignored.returncode == 0, name
