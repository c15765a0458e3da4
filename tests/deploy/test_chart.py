"""The Helm chart, rendered by Helm, against the schemas of Kubernetes."""

import json
import os
import re
import subprocess
from typing import Any

import kubernetes_validate
import pytest
import yaml

from conftest import DEPLOY, ROOT, antiphon, version

pytest.importorskip("helm_python", reason="there is no wheel of Helm for this machine")

from helm_python import chart, errors  # noqa: E402

CHART = DEPLOY / "helm" / "antiphon"

# The oldest Kubernetes that the chart is for, and the newest whose schemas are installed.
KUBERNETES = ["1.30", kubernetes_validate.latest_version()]

Values = dict[str, Any]
Manifest = dict[str, Any]

LEAST: Values = {"store": {"existingSecret": "antiphon-store"}}
MOST: Values = {
    **LEAST,
    "encryption": {"existingSecret": "antiphon-secret"},
    "callers": {"existingSecret": "antiphon-callers"},
    "upstream": {"url": "https://models.example/v1", "existingSecret": "antiphon-upstream"},
    "settings": "[limits]\nmax-connections = 100\n",
    "env": [{"name": "ANTIPHON_LOG", "value": "info"}],
    "metrics": {"serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}}},
    "otlp": {"endpoint": "http://collector:4318"},
    "service": {"annotations": {"example.com/a": "b"}},
    "imagePullSecrets": [{"name": "registry"}],
    "podAnnotations": {"example.com/c": "d"},
    "podLabels": {"team": "agents"},
    "nodeSelector": {"kubernetes.io/arch": "arm64"},
    "tolerations": [{"key": "spot", "operator": "Exists"}],
    "affinity": {"nodeAffinity": {}},
    "serviceAccount": {"annotations": {"example.com/e": "f"}},
    "networkPolicy": {"egress": [{"ports": [{"protocol": "TCP", "port": 8000}]}]},
    "strategy": "Recreate",
}


def render(values: Values) -> dict[str, Manifest]:
    """The manifests by their kinds, as `helm install gateway --namespace agents` makes them."""
    with chart.Chart.load(CHART) as loaded:
        rendered = loaded.render(values=values, name="gateway", namespace="agents")
    texts = [text for name, text in rendered.items() if not name.endswith("NOTES.txt")]
    manifests = [manifest for text in texts for manifest in yaml.safe_load_all(text) if manifest]
    return {manifest["kind"]: manifest for manifest in manifests}


def pod(manifests: dict[str, Manifest]) -> dict[str, Any]:
    return dict(manifests["Deployment"]["spec"]["template"]["spec"])


def container(manifests: dict[str, Manifest]) -> dict[str, Any]:
    [only] = pod(manifests)["containers"]
    return dict(only)


def test_it_passes_helms_own_checks() -> None:
    found = chart.lint(CHART, LEAST, strict=True)
    assert (found["errors"], found["total_charts_linted"]) == ([], 1)


def test_it_has_the_workspaces_version() -> None:
    described = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (described["version"], described["appVersion"]) == (version(), version())
    assert container(render(LEAST))["image"] == f"antiphon:{version()}"


@pytest.mark.parametrize("kubernetes", KUBERNETES)
@pytest.mark.parametrize("values", [LEAST, MOST], ids=["least", "most"])
def test_kubernetes_knows_every_field(values: Values, kubernetes: str) -> None:
    manifests = render(values)
    manifests.pop("ServiceMonitor", None)  # of the Prometheus Operator
    for manifest in manifests.values():
        kubernetes_validate.validate(manifest, kubernetes, strict=True)


def test_everything_is_rendered() -> None:
    least = {"Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "ServiceAccount"}
    assert set(render(LEAST)) == least
    assert set(render(MOST)) == least | {"ConfigMap", "ServiceMonitor"}
    without = {"networkPolicy": {"enabled": False}, "podDisruptionBudget": {"enabled": False}}
    own_account = {"serviceAccount": {"name": "other"}}
    assert set(render({**LEAST, **without, **own_account})) == {"Deployment", "Service"}


def test_there_are_two_gateways_and_one_stays() -> None:
    manifests = render(LEAST)
    assert manifests["Deployment"]["spec"]["replicas"] == 2
    assert manifests["PodDisruptionBudget"]["spec"]["minAvailable"] == 1
    assert manifests["Deployment"]["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


@pytest.mark.parametrize(("grace", "delay"), [(25, 5), (600, 5), (0, 60)])
def test_a_pod_has_longer_than_its_gateway(grace: int, delay: int) -> None:
    """The gateway gets its signal after the delay, and exports for up to 5 seconds at the end."""
    manifests = render({**LEAST, "shutdownGrace": grace, "preStopDelay": delay})
    assert container(manifests)["lifecycle"]["preStop"] == {"sleep": {"seconds": delay}}
    assert {"name": "ANTIPHON_SHUTDOWN_GRACE", "value": str(grace)} in container(manifests)["env"]
    assert pod(manifests)["terminationGracePeriodSeconds"] >= delay + grace + 10


def test_the_default_grace_is_the_gateways() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert f"[default: {values['shutdownGrace']}]" in help_of("--shutdown-grace")


def test_probes_ask_the_gateways_own_routes() -> None:
    openapi = ROOT / "crates" / "antiphon-gateway" / "src" / "routes" / "openapi.json"
    routes = json.loads(openapi.read_text())["paths"]
    only = container(render(LEAST))
    paths = {kind: only[f"{kind}Probe"]["httpGet"]["path"] for kind in ("liveness", "readiness")}
    assert paths == {"liveness": "/healthz", "readiness": "/readyz"}
    assert set(paths.values()) <= set(routes)


def test_a_gateway_has_no_rights() -> None:
    manifests = render(MOST)
    spec, own = pod(manifests), container(manifests)["securityContext"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert own == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }


def test_selectors_find_the_pods() -> None:
    manifests = render(MOST)
    labels = manifests["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    selectors = [
        manifests["Deployment"]["spec"]["selector"]["matchLabels"],
        manifests["Service"]["spec"]["selector"],
        manifests["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        manifests["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(selector and selector.items() <= labels for selector in selectors)
    monitored = manifests["ServiceMonitor"]["spec"]["selector"]["matchLabels"]
    assert monitored.items() <= manifests["Service"]["metadata"]["labels"].items()


def test_ports_by_name_are_the_containers() -> None:
    manifests = render(MOST)
    ports = {port["name"]: port["containerPort"] for port in container(manifests)["ports"]}
    assert ports == {"http": 8484, "metrics": 9464}
    assert {port["targetPort"] for port in manifests["Service"]["spec"]["ports"]} == set(ports)
    ingress = manifests["NetworkPolicy"]["spec"]["ingress"]
    assert {port["port"] for rule in ingress for port in rule["ports"]} == set(ports)
    [scraped] = manifests["ServiceMonitor"]["spec"]["endpoints"]
    assert scraped["port"] in ports


@pytest.mark.parametrize(
    ("endpoint", "port"),
    [("http://collector:4318", 4318), ("https://otlp.example/base", 443), ("http://otlp", 80)],
)
def test_the_receiver_of_traces_can_be_reached(endpoint: str, port: int) -> None:
    manifests = render({**LEAST, "otlp": {"endpoint": endpoint}})
    egress = manifests["NetworkPolicy"]["spec"]["egress"]
    assert port in {allowed["port"] for rule in egress for allowed in rule["ports"]}


def test_the_monitor_names_the_job_of_the_alerts() -> None:
    [scraped] = render(MOST)["ServiceMonitor"]["spec"]["endpoints"]
    [relabeling] = scraped["relabelings"]
    assert relabeling == {"targetLabel": "job", "replacement": "antiphon"}
    assert 'job="antiphon"' in (DEPLOY / "prometheus" / "alerts.yaml").read_text()


def test_the_gateway_accepts_its_variables() -> None:
    """With values in place of the secrets, and without a database."""
    manifests = render(MOST)
    secrets = {"ANTIPHON_STORE": "sqlite::memory:", "ANTIPHON_SECRET": "a secret of the test"}
    secrets |= {"ANTIPHON_API_KEY": "a-key-of-acme=acme", "ANTIPHON_UPSTREAM_KEY": "a-key"}
    given = container(manifests)["env"]
    env = {entry["name"]: entry.get("value", secrets.get(entry["name"])) for entry in given}
    assert secrets.keys() <= env.keys()
    assert {name for name in env if name.startswith("ANTIPHON_")} <= variables()
    assert env.pop("ANTIPHON_CONFIG") == "/etc/antiphon/antiphon.toml"
    check(env, manifests["ConfigMap"]["data"]["antiphon.toml"])


def check(env: dict[str, str], settings: str) -> None:
    """The gateway would start with these variables on all addresses."""
    command = [antiphon(), "serve", "--check", "--listen", "0.0.0.0:8484"]
    command += ["--config", "/dev/stdin"]
    env = {**env, "PATH": os.environ["PATH"]}
    ended = subprocess.run(command, env=env, input=settings, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr


def test_the_store_is_required() -> None:
    with pytest.raises(errors.HelmError, match="store.existingSecret is required"):
        render({})


@pytest.mark.parametrize(
    "values",
    [
        {"replicas": 3},
        {"replicaCount": 0},
        {"strategy": "Rolling"},
        {"upstream": {"url": "models.example"}},
        {"upstream": {"api": "completions"}},
        {"metrics": {"port": 94640}},
        {"shutdownGrace": "25s"},
    ],
    ids=str,
)
def test_mistaken_values_are_rejected(values: Values) -> None:
    with pytest.raises(errors.HelmError, match=str(next(iter(values)))):
        render({**LEAST, **values})


def variables() -> set[str]:
    """The environment variables of the gateway: one for each flag, and those of the log."""
    flags = re.findall(r"^ +--([a-z-]+) <", help_of(""), re.MULTILINE)
    of_log = {"ANTIPHON_LOG", "ANTIPHON_LOG_FORMAT"}
    return {f"ANTIPHON_{flag.upper().replace('-', '_')}" for flag in flags} | of_log


def help_of(flag: str) -> str:
    """The help of `antiphon serve`, from this flag to the next one."""
    command = [antiphon(), "serve", "--help"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    start = text.index(flag)
    after = text.find("\n      --", start + 1)
    return " ".join(text[start:after].split()) if flag else text
