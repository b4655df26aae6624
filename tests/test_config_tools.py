"""Declaring sensitive parameters of tools: in the file, or as JSON in the environment (SPEC X2, S3)."""

from pathlib import Path

import msgspec
import pytest

from tenure.config import ConfigError, Settings, declared, load
from tenure.config.tools import ToolParameter, ToolSettings
from tenure.core.toolguard import Sensitive
from tenure.wiring import rules

FILE = """
[tools.pay_supplier.parameters.iban]
resolver = "supplier-master"
describe = "Where the money goes."

[tools.pay_supplier.parameters."payee.bic"]
resolver = "supplier-master"

[tools."crm.write".parameters.owner]
resolver = "directory"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, so that no file is found by chance."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_tools_are_declared_in_the_file(folder: Path) -> None:
    """SPEC X2: each parameter has a table with its resolver, and the guard takes it as it stands there."""
    (folder / "tenure.toml").write_text(FILE)

    loaded = load(environment={})

    assert rules(loaded.settings).tools == {
        "pay_supplier": {
            "iban": Sensitive(resolver="supplier-master", describe="Where the money goes."),
            "payee.bic": Sensitive(resolver="supplier-master"),
        },
        "crm.write": {"owner": Sensitive(resolver="directory")},
    }
    assert loaded.origin["tools"] == "file tenure.toml"


def test_the_environment_has_them_as_json_and_replaces_the_file(folder: Path) -> None:
    """SPEC S3: as with every setting, the nearer one wins as a whole."""
    (folder / "tenure.toml").write_text(FILE)
    text = '{"deliver": {"parameters": {"place": {"resolver": "address-book"}}}}'

    loaded = load(environment={"TENURE_TOOLS": text})

    assert loaded.settings.tools == {
        "deliver": ToolSettings(parameters={"place": ToolParameter(resolver="address-book")})
    }
    (shown,) = [one for one in loaded.explain() if one.name == "tools"]
    assert (msgspec.json.decode(shown.value), shown.origin) == (
        msgspec.json.decode(text),
        "environment TENURE_TOOLS",
    )


def test_a_tool_may_be_declared_to_have_nothing_sensitive(folder: Path) -> None:
    """SPEC X2: so that it is known where tools that nobody declared are refused."""
    (folder / "tenure.toml").write_text(
        'tools_undeclared = "refuse"\n[tools.search_web]\nnothing_sensitive = true\n' + FILE
    )

    set_rules = rules(load(environment={}).settings)

    assert set_rules.tools["search_web"] == {}
    assert set_rules.refuses_undeclared_tools
    assert not rules(Settings()).refuses_undeclared_tools


def test_no_tool_is_declared_unless_somebody_does() -> None:
    """SPEC X2: not declared is not sensitive."""
    assert Settings().tools == {}
    assert declared()["tools"].show({}) == "{}"
    assert load(environment={"TENURE_TOOLS": " "}).settings.tools == {}


@pytest.mark.parametrize(
    "text",
    [
        '{"deliver"',
        "[]",
        "deliver",
        '{"deliver": {}}',
        '{"deliver": {"parameters": {}}}',
        '{"deliver": {"nothing_sensitive": false}}',
        '{"deliver": {"nothing_sensitive": true, "parameters": {"place": {"resolver": "a"}}}}',
        '{"deliver": {"parameters": {"place": {}}}}',
        '{"deliver": {"parameters": {"place": {"resolver": ""}}}}',
        '{"deliver": {"parameters": {"place": {"resolver": "a", "resovler": "b"}}}}',
        '{"deliver": {"parameters": {"": {"resolver": "a"}}}}',
        '{"deliver": {"parameters": {"to..place": {"resolver": "a"}}}}',
        '{"deliver": {"parameters": {".place": {"resolver": "a"}}}}',
        '{"deliver": {"parameters": {" place": {"resolver": "a"}}}}',
        '{"deliver": {"parameters": {"to": {"place": {"resolver": "a"}}}}}',
        '{"": {"parameters": {"place": {"resolver": "a"}}}}',
        "[" * 100_000,
    ],
)
def test_a_declaration_that_guards_nothing_is_refused(text: str) -> None:
    """SPEC S3: a slip of the pen never leaves a tool unguarded in silence."""
    with pytest.raises(ConfigError) as caught:
        load(environment={"TENURE_TOOLS": text})

    (problem,) = caught.value.problems
    assert problem.startswith("tools (environment TENURE_TOOLS): the text ")
    assert '[tools.TOOL.parameters."PARAMETER"]' in problem


@pytest.mark.parametrize(
    "text",
    [
        "tools = 3",
        "tools = ['deliver']",
        "[tools.deliver]",
        "[tools.deliver.parameters.to.place]\nresolver = 'a'",
        "[tools.deliver.parameters.place]\nresolver = 7",
    ],
)
def test_a_table_that_guards_nothing_is_refused(folder: Path, text: str) -> None:
    """SPEC S3: a dotted parameter stands in quotation marks, and the message shows it."""
    (folder / "tenure.toml").write_text(text)

    with pytest.raises(ConfigError) as caught:
        load(environment={})

    (problem,) = caught.value.problems
    assert problem.startswith("tools (file tenure.toml): ")


def test_a_path_has_as_many_steps_as_arguments_may_be_deep() -> None:
    """SPEC S2: what lies deeper could never be given."""
    for steps, fits in ((16, True), (17, False)):
        path = ".".join("a" * steps)
        table = {"deliver": {"parameters": {path: {"resolver": "a"}}}}
        if fits:
            assert load(environment={"TENURE_TOOLS": msgspec.json.encode(table).decode()}).settings.tools
        else:
            with pytest.raises(ConfigError):
                load(environment={"TENURE_TOOLS": msgspec.json.encode(table).decode()})
