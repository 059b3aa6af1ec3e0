/** Removes secrets from a text. */
export type Redact = (text: string) => string;

// A shorter value would remove ordinary words, and is not a secret.
const MIN_SECRET_LENGTH = 6;

/** Creates a function that replaces each secret, plain or URL-encoded, by `[redacted]`. */
export function createRedactor(secrets: readonly string[]): Redact {
  const hidden = secrets
    // Servers see header values trimmed, and echo them so.
    .map((secret) => secret.trim())
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .flatMap((secret) => [...new Set([secret, encodeURIComponent(secret)])]);
  return (text) => hidden.reduce((clean, secret) => clean.replaceAll(secret, '[redacted]'), text);
}
