"""Credential rules: shapes of keys that only one issuer makes, from what is generally known of their form.

A shape is tried where a word stands that every such key begins with, or a mark that every one holds.
"""

import re
from typing import NamedTuple

from tenure.core.scanning.matching import LatePattern, Rule, starts_of
from tenure.core.scanning.normalising import View

_SURE = 0.98
_END = r"(?![A-Za-z0-9_-])"
# What stands where a key should: one character again and again, or words that say so.
_UNFILLED = re.compile(
    r"([A-Za-z0-9*])\1{7}|your|placeholder|redacted|change-?me|insert|<|\.\.\.", re.IGNORECASE
)
_LOOKED_AT_MAX = 120


class _Shape(NamedTuple):
    """A rule's name, the shape in its own case, and what leads to it: first words, or marks, one of which."""

    name: str
    shape: str
    words: str = ""
    marks: str = ""


_CODE_HOSTS = (
    _Shape("github-token", r"gh[pousr]_[A-Za-z0-9]{36,255}", "ghp gho ghu ghs ghr"),
    _Shape("github-token", r"github_pat_\w{22,255}", "github"),
    _Shape(
        "gitlab-token",
        r"gl(?:pat|dt|rt|rtr|ptt|ft|cbt|imt|soat|agent|oas|wt)-[\w.-]{20,255}|_gitlab_session=[0-9a-z]{32}",
        "glpat gldt glrt glrtr glptt glft glcbt glimt glsoa glage gloas glwt gitla",
    ),
    _Shape("atlassian-token", r"AT(?:ATT|CTT|BB)3?[A-Za-z0-9_=-]{28,255}", marks="atatt3 atctt3 atbb"),
    _Shape("npm-token", rf"npm_[A-Za-z0-9]{{36}}{_END}", "npm"),
    _Shape("pypi-token", r"pypi-AgE[\w-]{50,512}", "pypi"),
    _Shape("rubygems-token", rf"rubygems_[0-9a-f]{{48}}{_END}", "rubyg"),
    _Shape("docker-token", r"dckr_(?:pat|oat)_[\w-]{27,64}", "dckr"),
    _Shape("ci-token", r"CCI(?:PAT|PRJ)_[A-Za-z0-9_-]{40,255}|bkua_[0-9a-f]{40}", "ccipa ccipr bkua"),
    _Shape("linear-key", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", "lin"),
    _Shape("figma-token", r"figd_[\w-]{38,64}", "figd"),
    _Shape("notion-token", rf"(?:ntn_[A-Za-z0-9]{{40,50}}|secret_[A-Za-z0-9]{{43}}){_END}", "ntn secre"),
    _Shape("postman-key", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", "pmak"),
    _Shape("sentry-token", r"sntry[su]_[A-Za-z0-9+/=_]{40,512}", "sntry"),
)

_CLOUDS = (
    _Shape("aws-access-key", rf"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_END}", marks="akia asia abia acca"),
    _Shape(
        "google-key",
        rf"AIza[\w-]{{35}}{_END}|GOCSPX-[\w-]{{28}}|ya29\.[\w-]{{20,512}}|1//0[\w-]{{40,128}}",
        marks="aiza gocspx- ya29. 1//0",
    ),
    _Shape("google-service-account", r"private_key_id[\"']?\s*:\s*[\"'][0-9a-f]{40}", "priva"),
    _Shape(
        "azure-key", r"(?:Account|SharedAccess|Access)Key=[A-Za-z0-9+/]{43,86}={1,2}", "accou share acces"
    ),
    _Shape("azure-signature", r"[?&]?sig=[A-Za-z0-9%+/]{40,128}(?:=|%3D)?", "sig"),
    _Shape("azure-secret", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[\w~.-]{31,34}", marks="q~"),
    _Shape("digitalocean-token", r"do[opr]_v1_[0-9a-f]{64}", "dop doo dor"),
    _Shape("databricks-token", rf"dapi[0-9a-f]{{32}}(?:-[0-9])?{_END}", marks="dapi"),
    _Shape("heroku-key", r"HRKU-[\w-]{36,64}", "hrku"),
    _Shape("vault-token", r"hv[sbr]\.[\w-]{24,255}", "hvs hvb hvr"),
    _Shape("terraform-token", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}", "atlas"),
    _Shape("grafana-token", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2}", "glsa glc"),
    _Shape("newrelic-key", rf"NRAK-[A-Z0-9]{{27}}{_END}", "nrak"),
    _Shape("doppler-token", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,80}", "dp"),
    _Shape("planetscale-token", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,64}", "pscal"),
    _Shape("supabase-key", r"sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,64}", "sbp sb"),
    _Shape("netlify-token", rf"nfp_[A-Za-z0-9]{{36,40}}{_END}", "nfp"),
    _Shape("tailscale-key", r"tskey-(?:auth|api|client|scim|webhook)-[\w-]{16,80}", "tskey"),
    _Shape("render-key", rf"rnd_[A-Za-z0-9]{{28,40}}{_END}", "rnd"),
    _Shape("fly-token", r"fm[12][a-z]?_[A-Za-z0-9+/=_-]{60,512}|fo1_[\w-]{43}", "fm1 fm2 fm1r fm2r fo1"),
)

_PAYING_AND_TALKING = (
    _Shape("stripe-key", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}", "sk rk"),
    _Shape("stripe-key", r"whsec_[A-Za-z0-9+/]{24,255}", "whsec"),
    _Shape("square-token", r"sq0(?:atp|csp|idp)-[\w-]{22,43}", "sq0at sq0cs"),
    _Shape("braintree-token", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}", "acces"),
    _Shape("shopify-token", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", "shpat shpca shppa shpss"),
    _Shape(
        "slack-token",
        r"xox[abceoprs](?:\.xox[bp])?-(?=[\w-]{0,64}[0-9])[\w-]{10,512}|xapp-[0-9]-[\w-]{10,255}",
        marks="xox xapp-",
    ),
    _Shape("slack-webhook", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,255}", "hooks"),
    _Shape("discord-webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]{16,20}/[\w-]{50,80}", "disco"),
    _Shape("discord-token", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}", "disco bot"),
    _Shape("teams-webhook", r"webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[\w/@-]{36,200}", "offic"),
    _Shape("zapier-webhook", r"hooks\.zapier\.com/hooks/catch/[0-9]{3,12}/[0-9a-z]{5,16}", "hooks"),
    _Shape("telegram-token", r"[0-9]{8,10}:AA[\w-]{32,34}", marks=":aa"),
    _Shape("sendgrid-key", r"SG\.[\w-]{16,32}\.[\w-]{32,64}", "sg"),
    _Shape("mailgun-key", rf"(?:key|pubkey)-[0-9a-f]{{32}}{_END}", "key pubke"),
    _Shape(
        "mailchimp-key",
        rf"[0-9a-f]{{32}}-us[0-9]{{1,2}}{_END}",
        "us1 us2 us3 us4 us5 us6 us7 us8 us9 us10"
        " us11 us12 us13 us14 us15 us16 us17 us18 us19 us20 us21 us22",
    ),
    _Shape("twilio-key", rf"SK[0-9a-f]{{32}}{_END}", "twili"),
    _Shape("facebook-token", r"EAA[A-Za-z0-9]{60,300}", marks="eaa"),
    _Shape("dropbox-token", r"sl\.(?:u\.)?[\w-]{100,1500}", "sl"),
)

_MODELS = (
    _Shape("anthropic-key", r"sk-ant-[\w-]{20,255}", "sk"),
    _Shape("openai-key", r"sk-(?!ant-)(?=[\w-]{0,64}[0-9])[A-Za-z0-9][\w-]{19,255}", "sk"),
    _Shape("hugging-face-token", rf"hf_[A-Za-z0-9]{{30,40}}{_END}", "hf"),
    _Shape(
        "model-key",
        rf"(?:gsk_[A-Za-z0-9]{{48,60}}|pplx-[A-Za-z0-9]{{40,60}}|xai-[A-Za-z0-9]{{70,90}}"
        rf"|r8_[A-Za-z0-9]{{37,40}}|lsv2_(?:pt|sk)_[0-9a-f]{{32}}_[0-9a-f]{{10}}|pcsk_\w{{40,80}}){_END}",
        "gsk pplx xai r8 lsv2 pcsk",
    ),
)

_ANYWHERE = (
    _Shape(
        "private-key",
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-[0-9]"
        r"|AGE-SECRET-KEY-1[0-9A-Z]{40,64}",
        marks="-----begin putty-user-key age-secret-key",
    ),
    _Shape("json-web-token", r"eyJ[\w-]{8,1024}+\.eyJ[\w-]{8,2048}+\.[\w-]{0,1024}", marks=".eyj"),
    _Shape("one-time-secret", r"otpauth://[a-z]otp/[^\s]{0,200}?[?&]secret=[A-Z2-7]{8,128}", "otpau"),
    _Shape(
        "1password-key",
        r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}|ops_eyJ"
        r"[\w-]{100,1500}",
        "a3 ops",
    ),
)


def _is_filled(view: View, match: re.Match[str]) -> bool:
    """Whether it is a key, and not what marks the place of one."""
    start, end = match.span()
    return end - start > _LOOKED_AT_MAX or _UNFILLED.search(view.text, start, end) is None


def _rule(shape: _Shape) -> Rule:
    return Rule(
        name=f"credential.{shape.name}",
        pattern=LatePattern(f"(?<![A-Za-z0-9_])(?:{shape.shape})"),
        confidence=_SURE,
        words=starts_of(shape.words),
        marks=tuple(shape.marks.split()),
        cased=True,
        accept=_is_filled,
    )


TOKEN_SHAPES = tuple(map(_rule, (*_ANYWHERE, *_CODE_HOSTS, *_CLOUDS, *_PAYING_AND_TALKING, *_MODELS)))
