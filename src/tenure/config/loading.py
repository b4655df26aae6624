"""Loading: command line beats environment, environment beats file, file beats default.

Loading either gives settings that are valid as a whole, or raises one `ConfigError` that lists every mistake;
it never starts half configured. The value of a secret appears in no message and no explanation.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import msgspec

from tenure.config.describing import PREFIX, Setting, declared
from tenure.config.kinds import MASK
from tenure.config.settings import Settings

DATABASE_SCHEMES = ("postgresql://", "postgres://")
FILE_VARIABLE = "TENURE_CONFIG_FILE"
FILE_NAME = "tenure.toml"
COMMAND_LINE = "command line"
DEFAULT = "default"
ONE_OF_TWO = (
    ("keys.kek", "keys.kek_file"),
    ("keys.kek", "keys.kms_aws_key_id"),
    ("keys.kek_file", "keys.kms_aws_key_id"),
    ("jwt.jwks_file", "jwt.jwks_url"),
)


class ConfigError(Exception):
    """The configuration is wrong; the message lists every mistake with its setting, origin and remedy."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        """Keep the problems one by one, for callers that print them as a list."""
        self.problems = problems
        lines = "".join(f"\n  - {problem}" for problem in problems)
        super().__init__(f"The configuration cannot be used:{lines}")


class Explained(NamedTuple):
    """One line of `tenure config`."""

    name: str
    value: str
    origin: str
    help: str


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """Settings in force, and where the value of each came from."""

    settings: Settings
    origin: dict[str, str]

    def explain(self) -> list[Explained]:
        """List every setting with the value in force, secrets masked."""
        return [
            Explained(name, setting.show(_value_of(self.settings, name)), self.origin[name], setting.help)
            for name, setting in declared().items()
        ]


def load(
    *, environment: Mapping[str, str], file: Path | None = None, overrides: Mapping[str, object] | None = None
) -> Loaded:
    """Give the settings in force, or raise one `ConfigError` with every mistake; `None` overrides nothing."""
    problems: list[str] = []
    given: dict[str, _Given] = {}
    # Later sources replace earlier ones, so the weakest comes first.
    for each in (
        *_from_file(environment, file, problems),
        *_from_environment(environment, problems),
        *_from_overrides(overrides or {}),
    ):
        if each.name in declared():
            given[each.name] = each
        else:
            problems.append(_unknown(each))
    values = _convert(given, problems)
    problems.extend(_conflicts(given))
    if problems:
        raise ConfigError(tuple(problems))
    origin = {name: given[name].origin if name in given else DEFAULT for name in declared()}
    return Loaded(settings=_build(values, origin), origin=origin)


def is_database_url(text: str) -> bool:
    """Whether PostgreSQL's own client can read this as an address; nothing is connected to."""
    if not text.startswith(DATABASE_SCHEMES):
        return False
    # Loaded when needed: an embedded store does without the driver.
    from psycopg import ProgrammingError  # noqa: PLC0415
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415

    try:
        conninfo_to_dict(text)
    except ProgrammingError:
        # Its text quotes the address, which may hold a password.
        return False
    return True


class _Given(msgspec.Struct, frozen=True, kw_only=True):
    """A value as somebody gave it, not yet checked."""

    name: str
    value: object
    origin: str


def _from_file(environment: Mapping[str, str], file: Path | None, problems: list[str]) -> Iterator[_Given]:
    """Read the TOML file; only the one in the working directory may be missing."""
    named = file or (Path(environment[FILE_VARIABLE]) if environment.get(FILE_VARIABLE) else None)
    path = named or Path(FILE_NAME)
    origin = f"file {path}"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if named:
            problems.append(f"{origin}: it does not exist; name a file that does, or leave the name out.")
        return
    except OSError as fault:
        problems.append(f"{origin}: it cannot be read ({fault.strerror}); make it readable for this user.")
        return
    except ValueError as fault:
        # Neither error quotes the file's text: the decoder of TOML gives a position, the one of UTF-8 a byte.
        problems.append(f"{origin}: it is not valid TOML in UTF-8 ({fault}).")
        return
    for key, value in content.items():
        yield from _from_entry(key, value, origin, problems)


def _from_entry(key: str, value: object, origin: str, problems: list[str]) -> Iterator[_Given]:
    """Turn one top-level entry of the file into settings: a table is a section, anything else a setting."""
    is_section = any(name.startswith(f"{key}.") for name in declared())
    if isinstance(value, dict) and (value or is_section) and key not in declared():
        for name, inner in value.items():
            yield _Given(name=f"{key}.{name}", value=inner, origin=origin)
    elif is_section:
        problems.append(f"{key} ({origin}): it is a section; write its settings under [{key}].")
    else:
        yield _Given(name=key, value=value, origin=origin)


def _from_environment(environment: Mapping[str, str], problems: list[str]) -> Iterator[_Given]:
    """Read every variable with our prefix; an empty one counts as not set, an unknown one as a mistake."""
    names = {setting.environment: name for name, setting in declared().items()}
    for variable in sorted(environment):
        if not variable.startswith(PREFIX) or variable == FILE_VARIABLE:
            continue
        if variable not in names:
            nearest = _nearest(variable.removeprefix(PREFIX).replace("__", ".").lower())
            hint = f"; did you mean {declared()[nearest].environment}?" if nearest else ""
            problems.append(f"{variable} (environment): there is no such setting{hint}")
        elif environment[variable].strip():
            origin = f"environment {variable}"
            yield _Given(name=names[variable], value=environment[variable].strip(), origin=origin)


def _from_overrides(overrides: Mapping[str, object]) -> Iterator[_Given]:
    """Take what the command line names; an option that was not given is `None`."""
    for name, value in overrides.items():
        if value is not None:
            plain = os.fspath(value) if isinstance(value, os.PathLike) else value
            yield _Given(name=name, value=plain, origin=COMMAND_LINE)


def _unknown(given: _Given) -> str:
    nearest = _nearest(given.name)
    hint = f"; did you mean {nearest}?" if nearest else ""
    return f"{given.name} ({given.origin}): there is no such setting{hint}"


def _nearest(name: str) -> str | None:
    """Find the known name that was probably meant: the same last part in another place, or a likely typo."""
    last = name.rpartition(".")[2]
    misplaced = [known for known in declared() if known.rpartition(".")[2] == last]
    return next(iter(misplaced or get_close_matches(name, declared(), n=1)), None)


def _convert(given: Mapping[str, _Given], problems: list[str]) -> dict[str, object]:
    """Check each value against the type of its setting, leniently where all there is is text."""
    values: dict[str, object] = {}
    for name, each in given.items():
        setting = declared()[name]
        is_text = isinstance(each.value, str) and not each.origin.startswith("file ")
        value = _read_text(setting, str(each.value)) if is_text else each.value
        try:
            values[name] = msgspec.convert(value, type=setting.declared_type, strict=not is_text)
        except msgspec.ValidationError:
            # The decoder's own message may quote the value, which may be a secret.
            wrong = "the value given" if setting.is_secret else _describe(each.value)
            problems.append(f"{name} ({each.origin}): {wrong} is not accepted; it takes {setting.accepts}.")
    return values


def _read_text(setting: Setting, text: str) -> object:
    """Split lists at commas, read tables as JSON, and let words such as INFO stand for their choice."""
    choices = {choice.lower(): choice for choice in setting.choices}
    if isinstance(setting.default, tuple):
        parts = [part.strip() for part in text.split(",") if part.strip()]
        return [choices.get(part.lower(), part) for part in parts]
    if isinstance(setting.default, Mapping):
        with suppress(msgspec.DecodeError, RecursionError):
            return msgspec.json.decode(text)
    return choices.get(text.lower(), text)


def _describe(value: object) -> str:
    """Name a refused value for its owner, without any password that an address may carry."""
    match value:
        case str():
            shown = re.sub(r"//[^/\s]*@", f"//{MASK}@", value)
            return f"the text {shown[:80]!r}"
        case bool() | int() | float():
            return str(value).lower()
        case list():
            return "this list"
        case dict():
            return "a table"
        case _:
            return f"a {type(value).__name__}"


def _conflicts(given: Mapping[str, _Given]) -> Iterator[str]:
    """Find values that have the right type and cannot be used, or that are fine alone and wrong together."""
    yield from _wrong_databases(given)
    for first, second in ONE_OF_TWO:
        if first in given and second in given:
            origins = f"{given[first].origin}, {given[second].origin}"
            yield f"{first} and {second} ({origins}): only one of them may be set; leave the other out."
    yield from _half_set_jwt(given)
    yield from _half_set_webhook(given)
    yield from _secrets_for_nobody(given)


def _wrong_databases(given: Mapping[str, _Given]) -> Iterator[str]:
    """Refuse an address that no database can be behind, and keys apart from data that is in no database."""
    for name in ("database_url", "keys.database_url"):
        # What is not even text was refused already; an address is never shown, since it may hold a password.
        if name in given and isinstance(text := given[name].value, str) and not is_database_url(text):
            yield (
                f"{name} ({given[name].origin}): the value given is not accepted; it takes "
                f"{declared()[name].accepts}, with %XX for characters of their own meaning there."
            )
    if "keys.database_url" in given and "database_url" not in given:
        yield (
            f"keys.database_url ({given['keys.database_url'].origin}): an embedded store keeps its keys in "
            "its folder; set database_url as well, or leave this out."
        )


def _half_set_jwt(given: Mapping[str, _Given]) -> Iterator[str]:
    """Refuse a verification of tokens that somebody began to configure: it would silently be off."""
    needed = (("jwt.issuer",), ("jwt.audience",), ("jwt.jwks_file", "jwt.jwks_url"))
    present = [given[name] for names in needed for name in names if name in given]
    for names in needed:
        if present and not any(name in given for name in names):
            begun = ", ".join(f"{each.name} ({each.origin})" for each in present)
            yield (
                f"{' or '.join(names)} ({DEFAULT}): it is not set but is needed beside {begun}; tokens need "
                "jwt.issuer, jwt.audience and one of jwt.jwks_file and jwt.jwks_url, or none of them."
            )


def _half_set_webhook(given: Mapping[str, _Given]) -> Iterator[str]:
    """Refuse a receiver without a secret, which could not tell who speaks; and a secret alone."""
    url, secret = "alerts.webhook_url", "alerts.webhook_secret"
    for one, other in ((url, secret), (secret, url)):
        if one in given and other not in given:
            yield f"{other} ({DEFAULT}): it is not set but is needed beside {one} ({given[one].origin})."


def _secrets_for_nobody(given: Mapping[str, _Given]) -> Iterator[str]:
    """Refuse a secret of a service that no address is set for: it would silently not be asked."""
    for address, secret in (
        ("embedding.url", "embedding.key"),
        ("scanning.prompt_shields_endpoint", "scanning.prompt_shields_key"),
        ("scanning.http_classifier_url", "scanning.http_classifier_token"),
    ):
        if secret in given and address not in given:
            beside = f"{secret} ({given[secret].origin})"
            yield f"{address} ({DEFAULT}): it is not set but is needed beside {beside}."


def _build(values: Mapping[str, object], origin: Mapping[str, str]) -> Settings:
    """Put checked values into their sections; what nobody gave keeps its default.

    Raises ConfigError for those that are each right and cannot be meant together.
    """
    sections: dict[str, object] = {}
    problems: list[str] = []
    for field in msgspec.structs.fields(Settings):
        if isinstance(field.default, msgspec.Struct):
            prefix = f"{field.name}."
            inner = {name.removeprefix(prefix): values[name] for name in values if name.startswith(prefix)}
            try:
                sections[field.name] = msgspec.structs.replace(field.default, **inner)
            except ValueError as fault:
                given = ", ".join(sorted({origin[f"{prefix}{name}"] for name in inner}))
                problems.append(f"{field.name} ({given}): {fault}.")
        elif field.name in values:
            sections[field.name] = values[field.name]
    if problems:
        raise ConfigError(tuple(problems))
    return msgspec.structs.replace(Settings(), **sections)


def _value_of(settings: Settings, name: str) -> object:
    value: object = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value
