"""Certificates of TLS servers and clients, issued by authorities made for the occasion.

With elliptic curves a pair takes a few milliseconds, so that no private key has to be shared or
kept. All texts are PEM.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME: Final = timedelta(days=30)
CLOCK_TOLERANCE: Final = timedelta(hours=1)
"""The clocks of others may be this much behind ours."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A certificate and its private key."""

    certificate: bytes
    key: bytes


class Authority:
    """Issues certificates; those who trust its own certificate trust them."""

    def __init__(self, pair: KeyPair) -> None:
        self.pair = pair
        self._certificate = x509.load_pem_x509_certificate(pair.certificate)
        key = serialization.load_pem_private_key(pair.key, password=None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)
        self._key = key

    @classmethod
    def create(cls, name: str, lifetime: timedelta = LIFETIME) -> Authority:
        """A new authority, which may issue certificates for as long as its own is valid."""
        key = ec.generate_private_key(ec.SECP256R1())
        itself = _name(name)
        signed = (
            _builder(itself, itself, key.public_key(), lifetime)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_key_usage(signs_certificates=True), critical=True)
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False
            )
            .sign(key, hashes.SHA256())
        )
        return cls(KeyPair(signed.public_bytes(serialization.Encoding.PEM), private_pem(key)))

    def issue_server(self, name: str, hosts: tuple[str, ...]) -> KeyPair:
        """A pair for a server that is called by these DNS names and addresses."""
        # The hosts are an extension: a common name is limited to 64 characters.
        alternative = x509.SubjectAlternativeName([_host(host) for host in hosts])
        return self._issue(_name(name), ExtendedKeyUsageOID.SERVER_AUTH, alternative)

    def issue_client(self, user: str, groups: tuple[str, ...]) -> KeyPair:
        """A pair for a user of an API server, which takes the groups from O."""
        return self._issue(_name(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, None)

    def _issue(
        self,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        alternative: x509.SubjectAlternativeName | None,
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        lifetime = self._certificate.not_valid_after_utc - datetime.now(UTC)
        builder = (
            _builder(subject, self._certificate.subject, key.public_key(), lifetime)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_key_usage(signs_certificates=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
                critical=False,
            )
        )
        if alternative is not None:
            builder = builder.add_extension(alternative, critical=False)
        signed = builder.sign(self._key, hashes.SHA256())
        return KeyPair(signed.public_bytes(serialization.Encoding.PEM), private_pem(key))


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, lifetime: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_TOLERANCE)
        .not_valid_after(now + lifetime)
    )


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common_name: str, organizations: tuple[str, ...] = ()) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations),
        ]
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
