"""The test of each program, command and settings block of the site, or the reason for none."""

import re
from dataclasses import dataclass
from fnmatch import fnmatch

from site_pages import Sample

COMMANDS = "tests/packages/test_site_commands.py"
GATEWAY_PAGES = "tests/packages/test_gateway_documents.py"
PROGRAMS = "tests/packages/test_documents.py"
EXAMPLES = "crates/antiphon-agents/tests/examples.rs"
DEPLOY = "tests/deploy/test_site_samples.py"


@dataclass(frozen=True)
class Row:
    """The samples of some pages, in some languages, in which a pattern is found."""

    pages: str
    languages: str
    pattern: str
    # A test as FILE::NAME, or a reason.
    outcome: str

    def is_about(self, sample: Sample) -> bool:
        is_there = fnmatch(sample.page, self.pages) and sample.language in self.languages.split()
        return is_there and bool(re.search(self.pattern, sample.text))


TESTED = [
    Row("*", "sh", r"^(ANTIPHON.* )?antiphon (serve|mock)", f"{COMMANDS}::test_a_server_starts"),
    Row("*", "sh", "^antiphon run", f"{COMMANDS}::test_a_coding_agent_starts"),
    Row("*", "sh", "^antiphon inspect", f"{COMMANDS}::test_the_inspector_shows_a_store"),
    Row("*", "sh", "^antiphon (tenants|export|import)", f"{COMMANDS}::test_a_tenant_moves"),
    Row("*", "sh", "^antiphon (completions|man)", f"{COMMANDS}::test_shells_are_completed"),
    Row("*", "sh", "antiphon convert", f"{COMMANDS}::test_a_stream_is_converted"),
    Row("*", "sh", "^export OPENAI_BASE_URL", f"{COMMANDS}::test_a_client_reads_the_variable"),
    Row("*", "sh", "^antiphon conformance", f"{COMMANDS}::test_a_server_is_compared"),
    Row("*", "sh", "^antiphon explain", f"{COMMANDS}::test_an_error_is_explained"),
    Row("*", "sh", "^antiphon doctor", f"{COMMANDS}::test_the_doctor_finds_no_failure"),
    Row("docs/*", "sh", "^curl -(i|s) ", f"{COMMANDS}::test_curl_asks_a_gateway_how_it_is"),
    Row("README.md", "sh", "^curl", f"{COMMANDS}::test_curl_receives_a_report"),
    Row(
        *("README.md", "sh", "history.json"),
        f"{GATEWAY_PAGES}::test_the_commands_of_the_readme_print_what_it_shows",
    ),
    Row("*", "sh", "release/build_release.py", f"{DEPLOY}::test_a_release_is_built"),
    Row("*", "sh", "build_image.py", f"{DEPLOY}::test_an_image_is_built"),
    Row("docs/docker.md", "sh", "^cd|^cp", f"{DEPLOY}::test_the_examples_become_settings"),
    Row("*", "sh", "^helm install", f"{DEPLOY}::test_helm_accepts_the_values"),
    Row("*", "sh", "--example quickstart", f"{EXAMPLES}::quickstart_refunds_after_an_approval"),
    Row(
        *("README.md", "python", "127.0.0.1:8485"),
        f"{GATEWAY_PAGES}::test_the_failure_of_the_readme_and_its_fix",
    ),
    Row(
        *("README.md", "python", "127.0.0.1:8484"),
        f"{GATEWAY_PAGES}::test_the_built_in_model_answers",
    ),
    Row("README.md", "python js", "antiphon[.\"]", f"{PROGRAMS}::test_a_program_of_a_readme_runs"),
    Row("bindings/*", "python js", "", f"{PROGRAMS}::test_a_program_of_a_readme_runs"),
    Row("docs/frameworks/*", "python js", "", f"{PROGRAMS}::test_the_programs_of_a_page_run"),
    Row("docs/mock.md", "python", "", f"{GATEWAY_PAGES}::test_the_programs_of_the_mock_page_run"),
    Row(
        *("docs/*s.md", "python", "model=\"sim\""),
        f"{GATEWAY_PAGES}::test_the_program_of_an_api_runs",
    ),
    Row("docs/gemini.md", "python", "", f"{GATEWAY_PAGES}::test_the_program_of_an_api_runs"),
    Row("docs/agents/*", "rust", r"^//!", f"{EXAMPLES}::pages_begin_with_their_examples"),
    Row("docs/agents/*", "rust", "^let mut", f"{EXAMPLES}::block_of_the_mcp_page_compiles"),
    Row(
        *("docs/settings.md", "toml", ""),
        f"{GATEWAY_PAGES}::test_the_files_of_the_settings_page_are_accepted",
    ),
    Row("docs/codex.md", "toml", "", f"{COMMANDS}::test_codex_gets_the_settings_of_its_page"),
    Row("docs/agents/*", "toml", "", f"{GATEWAY_PAGES}::test_the_guide_names_its_dependencies"),
    Row("docs/kubernetes.md", "yaml", "", f"{DEPLOY}::test_the_chart_accepts_the_network_policy"),
    Row(
        *("docs/tracing.md", "yaml", ""),
        f"{DEPLOY}::test_the_collector_exports_all_that_it_receives",
    ),
]

NOT_RUN = [
    Row("docs/docker.md", "sh", "^docker", "It needs a container engine."),
    Row("docs/docker.md", "sh", "build_binary.sh", "A release build takes minutes: a workflow."),
    Row("docs/kubernetes.md", "sh", "^kubectl", "It needs a cluster."),
    Row("*", "sh", "^sudo|^journalctl", "It needs root and a running systemd."),
    Row("docs/install.md", "sh", "^cargo install", "A release build takes minutes: a workflow."),
    Row("*", "sh", "pc-windows-gnu", "It needs a compiler for Windows."),
    Row("*", "sh", "^cargo run (--release )?-- serve", "It builds the workspace again."),
    Row("*", "sh", "^cargo (test|xtask)", "It runs these tests, or others for minutes."),
    Row("*", "sh", "^pip install (?!antiphon)", "`building.py` builds the same wheel."),
    Row("docs/install.md", "sh", "^maturin|add_command", "`building.py` builds the same wheel."),
    Row("*", "sh", r"bindings/node", "`building.py` builds the same npm package."),
    Row("*", "sh", "^(pip|npm) install antiphon$", "It needs a published package."),
    Row("docs/upgrade.md", "sh", "^umask|^sqlite3", "`test_backup.py` calls SQLite's function."),
    Row("docs/upgrade.md", "sh", "^pg_dump", "It needs the programs of PostgreSQL and a server."),
    Row("README.md", "rust", "", "It is abridged; the page of the guide has whole programs."),
]
