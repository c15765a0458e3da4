"""The commands and files for deployments on the pages of the site."""

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

from conftest import ROOT, dist

from site_pages import commands_with, only_block, samples_of  # isort: skip
from test_chart import KUBERNETES, LEAST, render  # isort: skip
from test_image import AMD64, Layout, elf  # isort: skip
from test_release import write_commands  # isort: skip


def test_a_release_is_built(tmp_path: Path) -> None:
    """Of scripts in place of the binaries."""
    [sample] = commands_with("python3 deploy/release/build_release.py")
    words = shlex.split(sample.text)
    assert words[words.index("--commands") + 1] == write_commands(tmp_path / "commands").name
    for option in ("--commands", "--out"):
        place = words.index(option) + 1
        words[place] = str(tmp_path / words[place])
    subprocess.run([*words, "--dist", dist()], cwd=ROOT, check=True)
    repository = words[words.index("--repository") + 1]
    installer = tmp_path / "release" / "antiphon-installer.sh"
    assert f"{repository}/releases/download/v0.1.0" in installer.read_text()


def test_an_image_is_built(tmp_path: Path) -> None:
    """Of a small ELF file in place of the binary."""
    [sample] = commands_with("python3 deploy/container/build_image.py")
    *words, binary = shlex.split(sample.text)
    [build] = commands_with("deploy/container/build_binary.sh")
    assert binary == f"target/{build.text.split()[1]}/release/antiphon"
    (tmp_path / "antiphon").write_bytes(elf(AMD64))
    words[words.index("--out") + 1] = str(tmp_path / "antiphon.tar")
    subprocess.run([*words, tmp_path / "antiphon"], cwd=ROOT, check=True)
    assert Layout((tmp_path / "antiphon.tar").read_bytes()).config()["architecture"] == "amd64"


def test_the_examples_become_settings(tmp_path: Path) -> None:
    """In a copy of the directory."""
    shutil.copytree(ROOT / "deploy" / "compose", tmp_path / "deploy" / "compose")
    into, *copies = [
        sample.text
        for sample in samples_of("docs/docker.md")
        if sample.text.startswith(("cd ", "cp "))
    ]
    subprocess.run("\n".join([into, *copies]), cwd=tmp_path, shell=True, check=True)
    written = {file.name for file in (tmp_path / "deploy" / "compose").iterdir()}
    assert {copy.split()[2] for copy in copies} == {".env", "antiphon.env"}
    assert {".env", "antiphon.env"} <= written


def test_helm_accepts_the_values() -> None:
    """Of `--set`, whose names stand for the levels of a tree."""
    [sample] = commands_with("helm install")
    words = shlex.split(sample.text)
    name, chart = words[2:4]
    assert (name, ROOT / chart) == ("gateway", ROOT / "deploy" / "helm" / "antiphon")
    values: dict[str, Any] = {}
    for option, given in zip(words, words[1:], strict=False):
        if option == "--set":
            path, _, value = given.partition("=")
            insert(values, path.split("."), value)
    manifests = render(values)
    assert_valid(manifests)
    secrets = yaml.safe_dump(manifests["Deployment"])
    made = commands_with("kubectl --namespace agents create secret generic")
    assert len(made) == 4
    assert all(command.text.split()[6] in secrets for command in made)


def insert(tree: dict[str, Any], path: list[str], value: str) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value


def test_the_chart_accepts_the_network_policy() -> None:
    values = yaml.safe_load(only_block("docs/kubernetes.md", "yaml"))
    manifests = render({**LEAST, **values})
    assert_valid(manifests)
    policy = manifests["NetworkPolicy"]["spec"]
    [rule] = values["networkPolicy"]["egress"]
    assert rule in policy["egress"]
    assert values["networkPolicy"]["callers"] in [rule.get("from") for rule in policy["ingress"]]


def assert_valid(manifests: dict[str, dict[str, Any]]) -> None:
    for kubernetes in KUBERNETES:
        for manifest in manifests.values():
            kubernetes_validate.validate(manifest, kubernetes, strict=True)


def test_the_collector_exports_all_that_it_receives() -> None:
    """There is no schema of its file: the parts that a pipeline names are those that exist."""
    collector = yaml.safe_load(only_block("docs/tracing.md", "yaml"))
    pipelines = collector["service"]["pipelines"]
    assert set(pipelines) == {"traces", "metrics"}
    for kind in ("receivers", "processors", "exporters"):
        used = {name for pipeline in pipelines.values() for name in pipeline[kind]}
        assert used == set(collector[kind])
    assert set(collector["receivers"]["otlp"]["protocols"]) == {"http"}
