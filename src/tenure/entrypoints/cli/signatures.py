"""Checking an Ed25519 signature (RFC 8032)."""


def is_signed(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether this key made this signature over this message; what is no key or no signature never did."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
