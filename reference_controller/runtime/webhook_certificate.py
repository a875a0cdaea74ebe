"""A certificate for the webhooks of a cluster in which nothing else issues one.

API servers call webhooks over HTTPS and trust the authority that is named beside each. So an
authority may be made up for one certificate and its key forgotten: it cannot sign again, and
a new installation brings a new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from reference_controller.runtime.wall_clock import now_us
from vocabulary.clock import SECOND

LIFETIME: Final = timedelta(days=3650)
"""It is not renewed, and once it has expired no workload could be submitted."""
CLOCK_TOLERANCE: Final = timedelta(hours=1)
"""The API server's clock may be this much behind ours."""


@dataclass(frozen=True, slots=True)
class WebhookCertificate:
    """Three PEM texts: whom to trust, what to show, and the key to it."""

    authority: bytes
    certificate: bytes
    key: bytes


def issue(host: str) -> WebhookCertificate:
    """A new certificate for a webhook server that is called by this DNS name."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority_name = _name("webhook-authority")
    authority = (
        _builder(authority_name, authority_name, authority_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_subject_key(authority_key), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        # The DNS name is an extension: a common name is limited to 64 characters.
        _builder(_name("webhook"), authority_name, key)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
            critical=False,
        )
        .sign(authority_key, hashes.SHA256())
    )
    return WebhookCertificate(
        authority=authority.public_bytes(serialization.Encoding.PEM),
        certificate=certificate.public_bytes(serialization.Encoding.PEM),
        key=key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.fromtimestamp(now_us() // SECOND, UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_TOLERANCE)
        .not_valid_after(now + LIFETIME)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _subject_key(key: ec.EllipticCurvePrivateKey) -> x509.SubjectKeyIdentifier:
    return x509.SubjectKeyIdentifier.from_public_key(key.public_key())
