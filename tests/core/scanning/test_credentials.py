"""Credentials in every usual shape and in prose, and the sentences about credentials that hold none."""

import pytest

from tenure.core.scanning import FindingKind, scan

# Put together here, so that no whole key stands in the repository.
FILLER = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"

HEX = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"
UPPER = "QWERTYUIOP234567"

SHAPES = {
    "credential.private-key": "-----BEGIN " + "OPENSSH PRIVATE KEY-----",
    "credential.aws-access-key": "AKIA" + UPPER,
    "credential.github-token": "ghp_" + FILLER[:36],
    "credential.gitlab-token": "glpat-" + FILLER[:20],
    "credential.atlassian-token": "ATATT3" + FILLER,
    "credential.slack-token": "xoxb-" + "123456789012-" + FILLER[:24],
    "credential.slack-webhook": "hooks.slack.com/services/" + "T0000/B0000/" + FILLER[:24],
    "credential.discord-webhook": "discord.com/api/webhooks/" + "123456789012345678/" + FILLER + FILLER[:28],
    "credential.telegram-token": "123456789:" + "AA" + FILLER[:33],
    "credential.stripe-key": "sk_live_" + FILLER[:24],
    "credential.square-token": "sq0atp-" + FILLER[:22],
    "credential.shopify-token": "shpat_" + HEX,
    "credential.mailgun-key": "key-" + HEX,
    "credential.mailchimp-key": HEX + "-us14",
    "credential.anthropic-key": "sk-ant-" + "api03-" + FILLER,
    "credential.openai-key": "sk-proj-" + FILLER,
    "credential.model-key": "gsk_" + FILLER + FILLER[:12],
    "credential.google-key": "AIza" + FILLER[:35],
    "credential.google-service-account": 'private_key_id": "' + HEX + HEX[:8],
    "credential.azure-key": "AccountKey=" + FILLER + FILLER + FILLER[:6] + "==",
    "credential.azure-signature": "?sig=" + FILLER + "%3D",
    "credential.azure-secret": "a1B8Q~" + FILLER[:34],
    "credential.digitalocean-token": "dop_v1_" + HEX + HEX,
    "credential.databricks-token": "dapi" + HEX,
    "credential.vault-token": "hvs." + FILLER,
    "credential.terraform-token": FILLER[:14] + ".atlasv1." + FILLER + FILLER[:24],
    "credential.grafana-token": "glsa_" + FILLER[:32] + "_" + HEX[:8],
    "credential.newrelic-key": "NRAK-" + UPPER + UPPER[:11],
    "credential.doppler-token": "dp.pt." + FILLER + FILLER[:3],
    "credential.supabase-key": "sbp_" + HEX + HEX[:8],
    "credential.tailscale-key": "tskey-auth-" + FILLER[:20],
    "credential.npm-token": "npm_" + FILLER[:36],
    "credential.pypi-token": "pypi-AgE" + FILLER + FILLER[:20],
    "credential.rubygems-token": "rubygems_" + HEX + HEX[:16],
    "credential.docker-token": "dckr_pat_" + FILLER[:27],
    "credential.linear-key": "lin_api_" + FILLER,
    "credential.notion-token": "ntn_" + FILLER + FILLER[:3],
    "credential.postman-key": "PMAK-" + HEX[:24] + "-" + HEX + HEX[:2],
    "credential.hugging-face-token": "hf_" + FILLER[:34],
    "credential.sendgrid-key": "SG." + FILLER[:22] + "." + FILLER,
    "credential.json-web-token": "eyJ" + FILLER[:20] + ".eyJ" + FILLER[:20] + "." + FILLER,
    "credential.one-time-secret": "otpauth://totp/Acme:kim?secret=" + UPPER,
    "credential.1password-key": "A3-" + "ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB",
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
        "redis://:s3cr3t99@cache.example.org:6379/0",
        "Server=db.example.org;Uid=app;Pwd=Sommer!2031;",
        "docker login -u admin -p MyP@ssw0rd registry.example.org",
        "mysqldump -h db -u root -pS0mmer2031 shop",
        "Set password to 'admin123'",
        "Reset all passwords to 'password123'",
        "The private key is 0x" + HEX + HEX,
        "x-api-key: " + FILLER[:20],
        "Set-Cookie: auth_token=" + FILLER[:24] + "; Path=/",
        "my session id is " + FILLER[:20],
        "Recovery codes: 4f7k-9x2m, 8d3p-1q6z",
        "the backup code for the bank is 93hd72ks",
        "legal winner thank year wave sausage worth useful legal winner thank yellow",
        "1. abandon 2. ability 3. act 4. air 5. arm 6. ask 7. acid 8. actor 9. age 10. any 11. act 12. add",
        "Kim's: letter, advice, cage, absurd, amount, doctor, acoustic, avoid, letterz, advice, cage, above",
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
        "The password policy says that passwords have 14 characters and change every 90 days.",
        "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a098765432 fixed it",
        "sha256 " + HEX + HEX,
        "order 3f2b8c1e-9a4d-4e5f-8b7a-6c5d4e3f2a1b is on its way",
        "ghp_" + "x" * 36,
        "sk_live_your_key_goes_here_1234",
        "AIza" + "0" * 35,
        "Set the password to something longer",
        "change the password to one with digits",
        "docker run -p 8080:80 nginx",
        "mysql -u root -p",
        "recovery codes: printed on paper",
        "The backup code is in the safe",
        "we keep recovery codes for 30 days",
        "Each action can change what any other person may see, so please check before you share a link.",
        "the session id is logged",
        "private keys are kept in the vault",
    ],
)
def test_a_sentence_about_credentials_holds_none(text: str) -> None:
    """SPEC L3: what looks like a credential is refused, so what only speaks of one must not be."""
    assert FindingKind.CREDENTIAL not in {one.kind for one in scan(text)}


def test_a_seed_phrase_has_its_place_and_nothing_else() -> None:
    """SPEC E6: a finding says where the words stand, and holds none of them."""
    phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow"
    content = f"Please keep this. {phrase}! Thanks."

    (found,) = [one for one in scan(content) if one.rule == "credential.seed-phrase"]

    assert content[found.start : found.end] == phrase
    assert "sausage" not in repr(found)


def test_every_key_in_a_text_has_its_place() -> None:
    """Two keys are two findings."""
    key = SHAPES["credential.npm-token"]

    assert len([one for one in scan(f"{key} and {key}") if one.rule == "credential.npm-token"]) == 2


def test_a_key_in_a_code_is_found() -> None:
    """SPEC M5b: hexadecimal does not hide it."""
    written = f"key {SHAPES['credential.github-token']}".encode().hex()

    assert "credential.github-token" in {one.rule for one in scan(f"store {written}")}
