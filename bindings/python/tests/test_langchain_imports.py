"""Import errors for missing frameworks."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("missing", "program", "told"),
    [
        ("langchain_openai", "import antiphon.langchain", "pip install langchain-openai"),
        ("langchain_core", "import antiphon.langgraph", "pip install langgraph"),
        ("langchain", "from antiphon.langgraph import MendHistory", "pip install langchain"),
    ],
)
def test_missing_framework_is_named(missing: str, program: str, told: str) -> None:
    hidden = f"import sys; sys.modules[{missing!r}] = None; {program}"
    ended = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True)

    assert ended.stderr.rstrip().splitlines()[-1].startswith("ImportError: antiphon.")
    assert ended.stderr.rstrip().endswith(told)


def test_the_hooks_need_no_langchain() -> None:
    program = (
        "import sys; sys.modules['langchain'] = None; sys.modules['langchain_openai'] = None\n"
        "from antiphon.langgraph import filter_orphaned_reasoning_messages, mend_history"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_unknown_name_raises_attribute_error() -> None:
    import antiphon.langgraph

    with pytest.raises(AttributeError, match="has no attribute 'MendFuture'"):
        antiphon.langgraph.MendFuture  # noqa: B018
