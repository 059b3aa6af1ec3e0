import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { InvalidInputError, PetrichorError } from '../../core/index.ts';

const PREFIX = 'sealed:v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Shorter keys could be guessed. */
const MIN_KEY_LENGTH = 32;

/**
 * A secret of a webhook cannot be encrypted or decrypted with the configured keys.
 * @remedy Set `PETRICHOR_SECRET_KEY`, append the earlier key to it after a comma, or create the webhook again.
 */
export class SecretKeyError extends PetrichorError {
  override readonly code = 'secret_key' as const;
}

/**
 * The operator's keys: one text, several separated by commas, or a function that returns them when they are first
 * needed.
 */
type SecretKeySource = string | (() => string) | undefined;

interface DerivedKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Encrypts secrets that the server must be able to read again, such as the signing secrets of webhooks, so that the
 * store alone does not reveal them. AES-256-GCM, with a key derived from the operator's key. With several keys the
 * first encrypts and all decrypt, so that a key can be rotated.
 */
export class SecretBox {
  readonly #source: SecretKeySource;
  readonly #isPersistent: boolean;
  #keys: readonly DerivedKey[] | undefined;

  /**
   * @param options.isPersistent whether the encrypted secrets outlive the process; if not, a key is not required.
   * Default: true.
   * @throws InvalidInputError for a key of fewer than 32 characters
   */
  constructor(
    source: SecretKeySource,
    { isPersistent = true }: { readonly isPersistent?: boolean } = {},
  ) {
    this.#source = source;
    this.#isPersistent = isPersistent;
    // Reject an invalid key before the server accepts requests.
    if (typeof source === 'string') this.#keys = parseKeys(source);
  }

  /**
   * Encrypts a secret. Without a key it returns the secret unchanged if it does not outlive the process.
   * @param context what the secret belongs to; decryption needs the same context
   * @throws SecretKeyError when there is no key
   */
  encrypt(secret: string, context: string): string {
    const [key] = this.#keyRing();
    if (key === undefined && !this.#isPersistent) return secret;
    if (key === undefined)
      throw new SecretKeyError(
        'There is no key to encrypt this secret with. Set PETRICHOR_SECRET_KEY to at least 32 random characters (createServer: secretKey) and restart the server.',
      );
    const nonce = globalThis.crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(Buffer.from(context));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const ciphertext = Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url');
    return `${PREFIX}:${key.id}:${ciphertext}`;
  }

  /**
   * Decrypts a secret. Text that was never encrypted is returned unchanged.
   * @throws SecretKeyError when no key decrypts it, or it was modified
   */
  decrypt(encrypted: string, context: string): string {
    if (!encrypted.startsWith(`${PREFIX}:`)) return encrypted;
    const [, , id = '', text = ''] = encrypted.split(':');
    const key = this.#keyRing().find((candidate) => candidate.id === id);
    const bytes = Buffer.from(text, 'base64url');
    if (key === undefined || bytes.byteLength < NONCE_BYTES + TAG_BYTES)
      throw new SecretKeyError(
        `A secret was encrypted with another key (${id}). Append that key to PETRICHOR_SECRET_KEY, after a comma, or create the webhook again.`,
      );
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const plaintext = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([plaintext, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SecretKeyError('A stored secret was modified. Create the webhook again.', {
        cause,
      });
    }
  }

  /** True if a secret was encrypted with the current key, or there is no key. */
  isCurrent(encrypted: string): boolean {
    const [key] = this.#keyRing();
    return key === undefined || encrypted.startsWith(`${PREFIX}:${key.id}:`);
  }

  #keyRing(): readonly DerivedKey[] {
    this.#keys ??= parseKeys(typeof this.#source === 'function' ? this.#source() : this.#source);
    return this.#keys;
  }
}

function parseKeys(text: string | undefined): readonly DerivedKey[] {
  if (text === undefined) return [];
  return text.split(',').map((part) => {
    const key = part.trim();
    if (key.length < MIN_KEY_LENGTH)
      throw new InvalidInputError(
        'secretKey',
        `must have at least ${MIN_KEY_LENGTH} characters; it has ${key.length}. Create one with: openssl rand -hex 32`,
      );
    return { id: deriveKey(key, 'id', 4).toString('hex'), bytes: deriveKey(key, 'encryption', 32) };
  });
}

function deriveKey(key: string, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `petrichor secrets ${purpose}`, length));
}
