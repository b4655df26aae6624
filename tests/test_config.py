"""Configuration: where a value comes from, what is refused, and what a refusal says (SPEC S3)."""

import base64
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from tenure.config import ConfigError, Loaded, Settings, declared, load, markdown_table

ROOT = Path(__file__).resolve().parent.parent
KEY = bytes(range(32))
ALLOWED = ("hooks.lan", "10.1.0.0/16")
KEY_TEXT = base64.b64encode(KEY).decode()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, so that no file is found by chance."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def problems_of(
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    overrides: Mapping[str, object] | None = None,
) -> tuple[str, ...]:
    """The mistakes that loading reports."""
    with pytest.raises(ConfigError) as caught:
        load(environment=environment or {}, file=file, overrides=overrides)
    return caught.value.problems


def value_of(loaded: Loaded, name: str) -> object:
    """The value in force under a dotted name."""
    value: object = loaded.settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def test_without_anything_the_defaults_are_in_force() -> None:
    """SPEC S3: nothing has to be configured."""
    loaded = load(environment={"PATH": "/bin", "HOME": "/home/ann"})

    assert loaded.settings == Settings()
    assert set(loaded.origin.values()) == {"default"}
    assert set(loaded.origin) == set(declared())


def test_the_documented_defaults_are_the_figures_of_the_rules() -> None:
    """SPEC L3, F3, R4, T5: the figures that the rules give in brackets."""
    settings = Settings()

    assert settings.admission.content_characters_max == 2_000
    assert settings.retention.task_seconds == 60 * 60
    assert settings.retention.session_seconds == 24 * 60 * 60
    assert settings.retention.user_seconds == 90 * 24 * 60 * 60
    assert settings.retention.task_inherits
    assert settings.retention.session_inherits
    assert settings.retention.probe_margin_seconds == 60
    assert settings.recall.items_max == 20
    assert settings.recall.stale_after_seconds == 7 * 24 * 60 * 60
    assert settings.recall.stale_below_freshness == 0.35
    assert settings.admission.on_scanner_failure == "quarantine"
    assert settings.evidence.reads == "batched"


def test_command_line_beats_environment_beats_file_beats_default(folder: Path) -> None:
    """SPEC S3: the nearest to the person who types wins, and says so."""
    (folder / "tenure.toml").write_text("[server]\nhost = 'a'\nport = 1\nthreads = 2\n")
    environment = {"TENURE_SERVER__PORT": "3", "TENURE_SERVER__THREADS": "4"}

    loaded = load(environment=environment, overrides={"server.threads": 5, "server.host": None})

    server = loaded.settings.server
    assert (server.host, server.port, server.threads, server.request_bytes_max) == ("a", 3, 5, 1_048_576)
    assert loaded.origin["server.host"] == "file tenure.toml"
    assert loaded.origin["server.port"] == "environment TENURE_SERVER__PORT"
    assert loaded.origin["server.threads"] == "command line"
    assert loaded.origin["server.request_bytes_max"] == "default"


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("TENURE_DATA_DIR", "/srv/tenure", "data_dir", "/srv/tenure"),
        ("TENURE_DATA_DIR", "8080", "data_dir", "8080"),
        ("TENURE_SERVER__PORT", " 8081\n", "server.port", 8081),
        ("TENURE_RATE_LIMIT__PER_MINUTE", "0", "rate_limit.per_minute", 0),
        ("TENURE_UPKEEP__INTERVAL_SECONDS", "1", "upkeep.interval_seconds", 1.0),
        ("TENURE_RECALL__STALE_BELOW_FRESHNESS", "0.5", "recall.stale_below_freshness", 0.5),
        ("TENURE_LOG__LEVEL", "WARNING", "log.level", "warning"),
        ("TENURE_JWT__ALGORITHMS", "es256, EdDSA,", "jwt.algorithms", ("ES256", "EdDSA")),
        ("TENURE_KEYS__KEK", KEY_TEXT + "\n", "keys.kek", KEY),
        ("TENURE_ALERTS__WEBHOOK_ALLOW", "hooks.lan, 10.1.0.0/16", "alerts.webhook_allow", ALLOWED),
        ("TENURE_RETENTION__TASK_INHERITS", "False", "retention.task_inherits", False),
        ("TENURE_RETENTION__SESSION_INHERITS", "1", "retention.session_inherits", True),
    ],
)
def test_text_from_the_environment_becomes_the_type_of_its_setting(
    variable: str, text: str, name: str, value: object
) -> None:
    """SPEC S3: an environment holds text only, so numbers, lists and words are read from it."""
    loaded = load(environment={variable: text})

    assert value_of(loaded, name) == value
    assert loaded.origin[name] == f"environment {variable}"


def test_every_setting_can_be_given_by_variable_file_and_command_line(folder: Path) -> None:
    """SPEC S3: the names in environment, file and command line follow from one another."""
    for name, setting in declared().items():
        if setting.default not in (None, ()):
            # A JSON value of these types is a TOML value too.
            written = msgspec.json.encode(setting.default).decode()
            (folder / "each.toml").write_text(f"{name} = {written}\n")

            loaded = [
                load(environment={setting.environment: setting.show(setting.default)}),
                load(environment={}, file=Path("each.toml")),
                load(environment={}, overrides={name: setting.default}),
            ]

            assert [value_of(each, name) for each in loaded] == [setting.default] * 3
            assert [each.origin[name] for each in loaded] == [
                f"environment {setting.environment}",
                "file each.toml",
                "command line",
            ]


def test_an_empty_variable_counts_as_not_set() -> None:
    """SPEC S3: compose files pass empty variables for what is left out."""
    loaded = load(
        environment={"TENURE_SERVER__PORT": "", "TENURE_JWT__ISSUER": " ", "TENURE_CONFIG_FILE": ""}
    )

    assert loaded.settings == Settings()
    assert loaded.origin["server.port"] == "default"


def test_a_path_on_the_command_line_is_taken_as_text() -> None:
    """SPEC S3: command-line parsers hand over paths, settings hold text."""
    assert load(environment={}, overrides={"data_dir": Path("store")}).settings.data_dir == "store"


def test_the_file_is_named_by_argument_then_variable_then_working_directory(folder: Path) -> None:
    """SPEC S3: one file is read, and its name is the origin."""
    for name, port in (("tenure.toml", 1), ("variable.toml", 2), ("argument.toml", 3)):
        (folder / name).write_text(f"[server]\nport = {port}\n")
    environment = {"TENURE_CONFIG_FILE": "variable.toml"}

    found = load(environment={})
    by_variable = load(environment=environment)
    by_argument = load(environment=environment, file=Path("argument.toml"))

    assert [each.settings.server.port for each in (found, by_variable, by_argument)] == [1, 2, 3]
    assert by_argument.origin["server.port"] == "file argument.toml"


def test_a_named_file_that_is_missing_is_a_mistake(folder: Path) -> None:
    """SPEC S3: only the file in the working directory may be missing."""
    assert problems_of({"TENURE_CONFIG_FILE": "gone.toml"}) == (
        "file gone.toml: it does not exist; name a file that does, or leave the name out.",
    )
    assert "it cannot be read (Is a directory)" in problems_of(file=folder)[0]


@pytest.mark.parametrize("content", [b"kek = 'hunter2", b"keys.kek = hunter2", b"\xff hunter2"])
def test_a_file_that_is_no_toml_is_refused_without_quoting_it(folder: Path, content: bytes) -> None:
    """SPEC S3, E6: a broken line may hold a secret."""
    (folder / "tenure.toml").write_bytes(content)

    (problem,) = problems_of()

    assert problem.startswith("file tenure.toml: it is not valid TOML in UTF-8 (")
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("70000", "the text '70000' is not accepted; it takes a whole number from 0 to 65535."),
        ("-1", "the text '-1' is not accepted; it takes a whole number from 0 to 65535."),
        ("80.5", "the text '80.5' is not accepted; it takes a whole number from 0 to 65535."),
        ("http", "the text 'http' is not accepted; it takes a whole number from 0 to 65535."),
    ],
)
def test_a_wrong_value_is_refused_with_its_setting_origin_and_remedy(text: str, message: str) -> None:
    """SPEC S3: the message says which, from where, what is wrong and what is allowed."""
    expected = f"server.port (environment TENURE_SERVER__PORT): {message}"

    assert problems_of({"TENURE_SERVER__PORT": text}) == (expected,)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("server.port = '8080'", "server.port (file tenure.toml): the text '8080' is not accepted"),
        ("retention.task_inherits = 1", "(file tenure.toml): 1 is not accepted; it takes true or false."),
        ("server.port = true", "server.port (file tenure.toml): true is not accepted"),
        ("server.port = 80.0", "server.port (file tenure.toml): 80.0 is not accepted"),
        ("server.port = []", "server.port (file tenure.toml): this list is not accepted"),
        ("server.port.x = 1", "server.port (file tenure.toml): a table is not accepted"),
        ("data_dir = 2020-01-01", "data_dir (file tenure.toml): a date is not accepted"),
        ("data_dir = ''", "data_dir (file tenure.toml): the text '' is not accepted"),
        ("recall.stale_below_freshness = nan", "recall.stale_below_freshness (file tenure.toml): nan is"),
        ("jwt.algorithms = []", "jwt.algorithms (file tenure.toml): this list is not accepted"),
        ("jwt.algorithms = ['HS256']", "jwt.algorithms (file tenure.toml): this list is not accepted"),
        ("admission.on_scanner_failure = 'admit'", "it takes one of defer, quarantine, reject."),
        ("server = 8080", "server (file tenure.toml): it is a section; write its settings under [server]."),
    ],
)
def test_a_file_has_types_of_its_own_and_must_use_them(folder: Path, line: str, message: str) -> None:
    """SPEC S3: TOML has numbers and lists, so text is not read as one."""
    (folder / "tenure.toml").write_text(line)

    (problem,) = problems_of()

    assert message in problem


@pytest.mark.parametrize(
    ("variable", "suggested"),
    [
        ("TENURE_SERVER__PROT", "TENURE_SERVER__PORT"),
        ("TENURE_SERVER_PORT", "TENURE_SERVER__PORT"),
        ("TENURE_PORT", "TENURE_SERVER__PORT"),
        ("TENURE_DATADIR", "TENURE_DATA_DIR"),
        ("TENURE_KEYS__KEKFILE", "TENURE_KEYS__KEK_FILE"),
    ],
)
def test_an_unknown_variable_is_refused_with_the_nearest_name(variable: str, suggested: str) -> None:
    """SPEC S3: a setting that is mistyped must not silently be the default."""
    expected = f"{variable} (environment): there is no such setting; did you mean {suggested}?"

    assert problems_of({variable: "1"}) == (expected,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "[sever]\nport = 1",
            "sever.port (file tenure.toml): there is no such setting; did you mean server.port?",
        ),
        (
            "[server]\nprot = 1",
            "server.prot (file tenure.toml): there is no such setting; did you mean server.port?",
        ),
        ("port = 1", "port (file tenure.toml): there is no such setting; did you mean server.port?"),
        ("[sever]", "sever (file tenure.toml): there is no such setting"),
        ("zzzz = 1", "zzzz (file tenure.toml): there is no such setting"),
    ],
)
def test_an_unknown_name_in_the_file_is_refused(folder: Path, content: str, message: str) -> None:
    """SPEC S3: unknown sections and settings are mistakes, and the nearest known one is named."""
    (folder / "tenure.toml").write_text(content)

    (problem,) = problems_of()

    assert problem.startswith(message)


def test_an_unknown_override_is_refused() -> None:
    """SPEC S3: the same goes for the command line."""
    assert problems_of(overrides={"server.hots": "a"}) == (
        "server.hots (command line): there is no such setting; did you mean server.host?",
    )


def test_several_mistakes_are_reported_together(folder: Path) -> None:
    """SPEC S3: one start shows everything that has to be repaired."""
    (folder / "tenure.toml").write_text("[log]\nlevel = 'loud'\n[nothing]\nx = 1\n")

    with pytest.raises(ConfigError) as caught:
        load(environment={"TENURE_SERVER__PORT": "x"}, overrides={"server.threads": 0})

    message = str(caught.value)
    assert message.startswith("The configuration cannot be used:\n  - ")
    assert len(caught.value.problems) == 4
    for named in (
        "log.level (file tenure.toml)",
        "nothing.x",
        "server.port (environment",
        "server.threads (command",
    ):
        assert named in message


@pytest.mark.parametrize(
    "value", ["hunter2", "aHVudGVyMg==", KEY_TEXT + "AAAA", KEY_TEXT.rstrip("="), "hunter2é"]
)
def test_a_wrong_key_is_refused_and_never_shown(value: str) -> None:
    """SPEC S3, E6: a secret appears in no message."""
    (problem,) = problems_of({"TENURE_KEYS__KEK": value})

    assert problem == (
        "keys.kek (environment TENURE_KEYS__KEK): the value given is not accepted; "
        "it takes standard base64 of exactly 32 bytes."
    )


def test_a_secret_in_the_wrong_place_is_not_shown_either(folder: Path) -> None:
    """SPEC S3, E6: a mistyped name is named, its value is not."""
    (folder / "tenure.toml").write_text("kek = 'hunter2'\n[keys]\nkek = 7654321\n")

    message = "".join(
        problems_of({"TENURE_KEK": "hunter2", "TENURE_JWT__JWKS_URL": "https://ann:hunter2@host/keys"})
    )

    assert "did you mean keys.kek?" in message
    assert "hunter2" not in message
    assert "7654321" not in message


def test_a_key_is_given_once() -> None:
    """SPEC S3: with two keys nobody could say which one is in force."""
    environment = {"TENURE_KEYS__KEK": KEY_TEXT, "TENURE_KEYS__KEK_FILE": "kek"}

    (problem,) = problems_of(environment)

    assert problem == (
        "keys.kek and keys.kek_file (environment TENURE_KEYS__KEK, environment TENURE_KEYS__KEK_FILE): "
        "only one of them may be set; leave the other out."
    )


@pytest.mark.parametrize(
    "other", [{"TENURE_KEYS__KEK": KEY_TEXT}, {"TENURE_KEYS__KEK_FILE": "kek"}], ids=["key", "file"]
)
def test_a_key_service_stands_instead_of_a_key(other: dict[str, str]) -> None:
    """SPEC S3: what wraps the keys of tenants is one thing; what it wraps by says so."""
    (problem,) = problems_of({**other, "TENURE_KEYS__KMS_AWS_KEY_ID": "alias/tenure"})

    assert "keys.kms_aws_key_id" in problem
    assert problem.endswith("only one of them may be set; leave the other out.")


def test_a_key_service_is_reached_only_over_a_safe_way() -> None:
    """SPEC S3, attack: keys are sent to it, so a plain address is only this machine's own."""
    safe = {"TENURE_KEYS__KMS_AWS_ENDPOINT_URL": "http://127.0.0.1:5000"}
    (problem,) = problems_of({"TENURE_KEYS__KMS_AWS_ENDPOINT_URL": "http://ann:hunter2@kms.example"})

    assert load(environment=safe).settings.keys.kms_aws_endpoint_url == "http://127.0.0.1:5000"
    assert "an https:// address, or http:// to this machine" in problem
    assert "hunter2" not in problem


JWT = {"TENURE_JWT__ISSUER": "i", "TENURE_JWT__AUDIENCE": "a", "TENURE_JWT__JWKS_FILE": "f"}


def test_tokens_are_on_only_when_issuer_audience_and_keys_are_set() -> None:
    """SPEC A1: off by default, on when whole."""
    assert not load(environment={}).settings.jwt.is_on
    assert not load(environment={"TENURE_JWT__CLAIM": "grants"}).settings.jwt.is_on
    assert load(environment=JWT).settings.jwt.is_on


@pytest.mark.parametrize(
    ("left_out", "missing"),
    [
        ("TENURE_JWT__ISSUER", "jwt.issuer"),
        ("TENURE_JWT__AUDIENCE", "jwt.audience"),
        ("TENURE_JWT__JWKS_FILE", "jwt.jwks_file or jwt.jwks_url"),
    ],
)
def test_half_set_tokens_are_a_mistake_that_names_what_is_missing(left_out: str, missing: str) -> None:
    """SPEC A1: somebody who began to configure tokens must not find them off."""
    (problem,) = problems_of({name: value for name, value in JWT.items() if name != left_out})

    assert problem.startswith(f"{missing} (default): it is not set but is needed beside jwt.")


def test_one_key_set_only() -> None:
    """SPEC A1: two places of keys would be two issuers."""
    (problem,) = problems_of({**JWT, "TENURE_JWT__JWKS_URL": "https://issuer.example/keys"})

    assert problem.startswith("jwt.jwks_file and jwt.jwks_url (")


@pytest.mark.parametrize(
    ("address", "is_accepted"),
    [
        ("https://issuer.example/keys?x=1", True),
        ("https://issuer.example:8443", True),
        ("http://localhost:8000/keys", True),
        ("http://127.0.0.1/keys", True),
        ("http://[::1]:9/keys", True),
        ("http://issuer.example/keys", False),
        ("http://localhost.example/keys", False),
        ("http://127.0.0.1.example/", False),
        ("http://localhost:1@issuer.example/", False),
        ("https://ann:word@issuer.example/", False),
        ("ftp://issuer.example/keys", False),
        ("issuer.example/keys", False),
    ],
)
def test_keys_come_only_over_a_safe_way(address: str, *, is_accepted: bool) -> None:
    """SPEC A1, attack: over a plain connection anybody on the way can publish keys of their own."""
    environment = {**JWT, "TENURE_JWT__JWKS_URL": address, "TENURE_JWT__JWKS_FILE": ""}

    if is_accepted:
        assert load(environment=environment).settings.jwt.jwks_url == address
    else:
        assert "an https:// address, or http:// to this machine" in problems_of(environment)[0]


def test_explaining_shows_every_setting_with_its_origin_and_masks_secrets() -> None:
    """SPEC S3: what is in force, and why, without giving a secret away."""
    loaded = load(environment={"TENURE_KEYS__KEK": KEY_TEXT, **JWT, "TENURE_UPKEEP__INTERVAL_SECONDS": "2.5"})

    rows = {name: (value, origin, text) for name, value, origin, text in loaded.explain()}

    assert list(rows) == list(declared())
    assert rows["keys.kek"][:2] == ("********", "environment TENURE_KEYS__KEK")
    assert rows["keys.kek_file"][:2] == ("not set", "default")
    assert rows["jwt.algorithms"][0] == "RS256, ES256, EdDSA"
    assert rows["upkeep.interval_seconds"][0] == "2.5"
    assert rows["server.port"] == ("8080", "default", declared()["server.port"].help)


def test_a_secret_is_in_no_representation() -> None:
    """SPEC E6: settings end up in logs and tracebacks."""
    loaded = load(environment={"TENURE_KEYS__KEK": KEY_TEXT})

    assert repr(KEY) not in repr(loaded)
    assert loaded.settings.keys.__rich_repr__()[:2] == [("kek", "********"), ("kek_file", None)]
    assert "kek='********'" in repr(loaded.settings)


def test_every_setting_has_one_line_of_help_and_an_accepted_default() -> None:
    """SPEC S3: nothing is configurable that is not explained, and no default is refused."""
    for setting in declared().values():
        assert setting.help.endswith("."), setting.name
        assert "\n" not in setting.help, setting.name
        assert msgspec.convert(setting.default, type=setting.declared_type) == setting.default, setting.name


def test_the_documentation_holds_the_table_of_all_settings() -> None:
    """SPEC S3: if this fails, put the output of `tenure.config.markdown_table()` into the page."""
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

    assert markdown_table() in page
    assert page.count("| `TENURE_") == len(declared())


def test_the_example_of_the_documentation_is_accepted(folder: Path) -> None:
    """SPEC S3: what the page shows can be used as it stands."""
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    (folder / "tenure.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])

    loaded = load(environment={})

    assert loaded.settings.jwt.is_on
    assert loaded.origin["retention.task_seconds"] == "file tenure.toml"
