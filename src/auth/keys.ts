import { createHash, createPrivateKey, type JsonWebKey, type KeyObject, randomUUID, type webcrypto } from "node:crypto";
import { exportJWK, generateKeyPair, importJWK, importPKCS8, type JWK, SignJWT } from "jose";
import { defined } from "../defined.ts";
import { reasonOf } from "../errors.ts";
import { type AuthContext, excerpt, failed } from "./context.ts";

/** The key a client signs its assertions with (RFC 7523). */
export interface SigningKey {
  readonly key: webcrypto.CryptoKey;
  readonly algorithm: string;
  readonly kid?: string;
}

/** A key that tokens are bound to (RFC 9449). */
export interface ProofKey {
  readonly algorithm: string;
  readonly privateKey: webcrypto.CryptoKey;
  readonly publicKey: webcrypto.CryptoKey;
  /** For the `jwk` header of a proof. */
  readonly publicJwk: JWK;
  /** For the store. */
  readonly privateJwk: Readonly<Record<string, unknown>>;
}

const CURVES: Readonly<Record<string, string>> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
const RSA = ["RS256", "PS256", "RS384", "PS384", "RS512", "PS512"];
const PROOF_ALGORITHMS = ["ES256", "Ed25519", "EdDSA", "ES384", "ES512", "PS256", "RS256"];

/**
 * Reads a configured private key: PEM in any of its forms, or a JWK.
 * @param accepted the algorithms the authorization server takes, if it says
 * @throws AdapterError `auth.failed`; the key is never quoted
 */
export async function signingKey(
  context: AuthContext,
  text: string,
  wanted: string | undefined,
  accepted: readonly string[] | undefined,
): Promise<SigningKey> {
  let key: KeyObject;
  let kid: string | undefined;
  try {
    ({ key, kid } = parseKey(text));
  } catch {
    // What OpenSSL or the JSON parser says may quote the key.
    throw failed(context, 'the configured "privateKey" is not a private key in PEM or JWK form');
  }
  const algorithm = wanted ?? suitable(key, accepted);
  try {
    const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
    return { key: await importPKCS8(pem, algorithm), algorithm, ...defined({ kid }) };
  } catch (error) {
    throw failed(context, `the configured "privateKey" does not fit the algorithm ${algorithm}: ${reasonOf(error)}`);
  }
}

/** Makes a key for DPoP, of a kind the authorization server takes. */
export async function newProofKey(context: AuthContext, accepted: readonly string[] | undefined): Promise<ProofKey> {
  const algorithm = accepted === undefined ? "ES256" : PROOF_ALGORITHMS.find((each) => accepted.includes(each));
  if (algorithm === undefined) {
    const only = accepted?.length
      ? `DPoP proofs only with ${excerpt(accepted.join(", "), context.limits)}, not supported here`
      : "no DPoP proofs";
    throw failed(context, `its authorization server accepts ${only}`);
  }
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return await loadProofKey({ ...(await exportJWK(privateKey)), alg: algorithm });
}

/** The key as it was stored. */
export async function loadProofKey(stored: Readonly<Record<string, unknown>>): Promise<ProofKey> {
  const jwk = stored as JWK & { alg: string };
  const { d: _, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, alg, ...rest } = jwk;
  const publicJwk = rest as JWK;
  const [privateKey, publicKey] = await Promise.all([
    importJWK(jwk, alg),
    importJWK(publicJwk, alg, { extractable: true }),
  ]);
  return {
    algorithm: alg,
    privateKey: privateKey as webcrypto.CryptoKey,
    publicKey: publicKey as webcrypto.CryptoKey,
    publicJwk,
    privateJwk: stored,
  };
}

/** A proof for one request to the resource (RFC 9449 section 4.2). */
export async function proof(
  key: ProofKey,
  request: { readonly method: string; readonly url: string },
  accessToken: string,
  nonce: string | undefined,
): Promise<string> {
  const { origin, pathname } = new URL(request.url);
  const claims = {
    htm: request.method,
    htu: `${origin}${pathname}`,
    ath: createHash("sha256").update(accessToken, "ascii").digest("base64url"),
    ...defined({ nonce }),
  };
  return await new SignJWT(claims)
    .setProtectedHeader({ typ: "dpop+jwt", alg: key.algorithm, jwk: key.publicJwk })
    .setIssuedAt()
    .setJti(randomUUID())
    .sign(key.privateKey);
}

function parseKey(text: string): { key: KeyObject; kid?: string } {
  const trimmed = text.trim();
  if (trimmed.startsWith("{")) {
    const jwk = JSON.parse(trimmed) as JsonWebKey & { kid?: unknown };
    const key = createPrivateKey({ key: jwk, format: "jwk" });
    return typeof jwk.kid === "string" ? { key, kid: jwk.kid } : { key };
  }
  // In environment variables the line ends of a PEM are often written as \n.
  return { key: createPrivateKey(trimmed.includes("\n") ? trimmed : trimmed.replaceAll("\\n", "\n")) };
}

function suitable(key: KeyObject, accepted: readonly string[] | undefined): string {
  if (key.asymmetricKeyType === "ec") return CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""] ?? "ES256";
  if (key.asymmetricKeyType === "rsa") return RSA.find((each) => accepted?.includes(each)) ?? "RS256";
  return accepted?.includes("Ed25519") === true ? "Ed25519" : "EdDSA";
}
