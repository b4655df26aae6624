"""Credentials in every usual shape and in prose, and the sentences about credentials that hold none."""

import pytest

from tenure.core.scanning import FindingKind, scan

# Put together here, so that no whole key stands in the repository.
FILLER = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

SHAPES = {
    "credential.private-key": "-----BEGIN " + "OPENSSH PRIVATE KEY-----",
    "credential.aws-access-key": "AKIA" + "QWERTYUIOP234567",
    "credential.github-token": "ghp_" + FILLER[:36],
    "credential.gitlab-token": "glpat-" + FILLER[:20],
    "credential.slack-token": "xoxb-" + "123456789012-" + FILLER[:24],
    "credential.slack-webhook": "hooks.slack.com/services/" + "T0000/B0000/" + FILLER[:24],
    "credential.stripe-key": "sk_live_" + FILLER[:24],
    "credential.anthropic-key": "sk-ant-" + "api03-" + FILLER,
    "credential.openai-key": "sk-proj-" + FILLER,
    "credential.google-key": "AIza" + FILLER[:35],
    "credential.npm-token": "npm_" + FILLER[:36],
    "credential.pypi-token": "pypi-AgE" + FILLER + FILLER[:20],
    "credential.hugging-face-token": "hf_" + FILLER[:34],
    "credential.sendgrid-key": "SG." + FILLER[:22] + "." + FILLER,
    "credential.json-web-token": "eyJ" + FILLER[:20] + ".eyJ" + FILLER[:20] + "." + FILLER,
}


@pytest.mark.parametrize("rule", SHAPES)
def test_the_shape_of_a_key_is_a_credential(rule: str) -> None:
    """SPEC L3: wherever it stands in the text, at its exact place."""
    key = SHAPES[rule]
    content = f"For the record, we use {key} until June."

    found = [one for one in scan(content) if one.rule == rule]

    assert [(one.kind, content[one.start : one.end]) for one in found] == [(FindingKind.CREDENTIAL, key)]


@pytest.mark.parametrize(
    "rule", ["credential.aws-access-key", "credential.github-token", "credential.openai-key"]
)
def test_a_key_inside_a_longer_word_is_none(rule: str) -> None:
    """A shape begins where a word begins."""
    assert rule not in {one.rule for one in scan(f"x{SHAPES[rule]}")}


@pytest.mark.parametrize(
    "text",
    [
        "the password is hunter2",
        "The password for the staging server is Tr0ub4dor&3.",
        "wifi password: blue42heron",
        "PASSWORD=Sommer!2031",
        "His passphrase was changed to P@perPlane",
        "our API key is 9f8e7d6c5b4a3f2e",
        'client_secret = "zX81kLm22Q"',
        "auth token: 77aa88bb99cc",
        "the secret is a8f3k2l9x0",
        "login: kim7734pass",
        "use password Wint3rfell to get in",
        "My bank PIN is 4821.",
        "the alarm code is 99 41 20",
        "The passcode was reset to 771209",
        "your verification code is 482913",
        "Authorization: Bearer " + FILLER,
        "send the header bearer " + FILLER,
        "Cookie: theme=dark; sessionid=" + FILLER[:24],
        "postgres://app:s3cr3t@db.example.org:5432/main",
        "curl -u admin:letmein99 https://api.example.org/v1",
        "seed phrase: river stone apple cloud green table window paper silver garden orange winter",
    ],
)
def test_a_credential_is_found_in_prose(text: str) -> None:
    """SPEC L4: a value behind the words that name it."""
    assert FindingKind.CREDENTIAL in {one.kind for one in scan(text)}


@pytest.mark.parametrize(
    "text",
    [
        "The password is required.",
        "Forgot the password, is there another way in?",
        "the PIN is four digits",
        "The PIN is 4 digits long",
        "a passcode of 6 to 12 characters",
        "The password must be at least 12 characters and is hashed with SHA256.",
        "password: string",
        "password = getpass()",
        "const token = request.headers.authorization",
        "secret: process.env.SECRET1",
        "api_key=YOUR_API_KEY_2",
        "api key: <your-key-1>",
        "password is ${DB_PASSWORD}",
        "The access token is valid for 30 days",
        "the token limit is 4096 tokens",
        "The secret is patience.",
        "The password policy is NIST800-63 compliant",
        "password reset: contact help@example.org",
        "postgres://user:<password>@host/db",
        "https://example.org:8443/a@b",
        "Bearer of bad news that travels surprisingly far",
        "Pin 13 is high when the button is pressed",
        "The seed phrase is a list of twelve words that nobody else should ever see or keep",
        "the backup is every day at noon and takes about as long as one cup of coffee",
        "sk-learn-contrib is a family of packages",
        "the zip code is on the letter",
    ],
)
def test_a_sentence_about_credentials_holds_none(text: str) -> None:
    """SPEC L3: what looks like a credential is refused, so what only speaks of one must not be."""
    assert FindingKind.CREDENTIAL not in {one.kind for one in scan(text)}


def test_every_key_in_a_text_has_its_place() -> None:
    """Two keys are two findings."""
    key = SHAPES["credential.npm-token"]

    assert len([one for one in scan(f"{key} and {key}") if one.rule == "credential.npm-token"]) == 2


def test_a_key_in_a_code_is_found() -> None:
    """SPEC M5b: hexadecimal does not hide it."""
    written = f"key {SHAPES['credential.github-token']}".encode().hex()

    assert "credential.github-token" in {one.rule for one in scan(f"store {written}")}
