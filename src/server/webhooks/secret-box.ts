import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { InvalidInputError, PetrichorError } from '../../core/index.ts';

const PREFIX = 'sealed:v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** A shorter text could be guessed. */
const MIN_KEY_LENGTH = 32;

/** A secret cannot be encrypted, or not be read again, with the keys that the server was given. */
export class SecretKeyError extends PetrichorError {
  override readonly code = 'secret_key' as const;
}

/** The keys of the operator: one text, or several separated by commas, or a function that gives it when it is needed. */
type SecretKeySource = string | (() => string) | undefined;

interface DerivedKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Encrypts the secrets that the server must be able to use again, such as those that webhooks are signed with, so that
 * the store alone does not give them away. AES-256-GCM, with a key that is derived from the operator's. Of several
 * operator's keys the first encrypts and all decrypt: so one is replaced by another.
 */
export class SecretBox {
  readonly #source: SecretKeySource;
  readonly #isPersistent: boolean;
  #keys: readonly DerivedKey[] | undefined;

  /**
   * @param options.isPersistent whether what is sealed outlives the process; if not, it need not be encrypted
   * @throws InvalidInputError for a key of fewer than 32 characters
   */
  constructor(
    source: SecretKeySource,
    { isPersistent = true }: { readonly isPersistent?: boolean } = {},
  ) {
    this.#source = source;
    this.#isPersistent = isPersistent;
    // A text that cannot be a key is refused before anything is served.
    if (typeof source === 'string') this.#keys = parseKeys(source);
  }

  /**
   * @param context what the secret belongs to: it opens under the same one only
   * @throws SecretKeyError when there is no key
   */
  encrypt(secret: string, context: string): string {
    const [key] = this.#keyRing();
    if (key === undefined && !this.#isPersistent) return secret;
    if (key === undefined)
      throw new SecretKeyError(
        'There is no key to encrypt this secret with: set PETRICHOR_SECRET_KEY to at least 32 random characters (createServer: secretKey) and start the server again.',
      );
    const nonce = globalThis.crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
    const cipher = createCipheriv('aes-256-gcm', key.bytes, nonce).setAAD(Buffer.from(context));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    const ciphertext = Buffer.concat([nonce, text, cipher.getAuthTag()]).toString('base64url');
    return `${PREFIX}:${key.id}:${ciphertext}`;
  }

  /** A text that was never sealed is returned as it is. @throws SecretKeyError when no key opens it */
  decrypt(encrypted: string, context: string): string {
    if (!encrypted.startsWith(`${PREFIX}:`)) return encrypted;
    const [, , id = '', text = ''] = encrypted.split(':');
    const key = this.#keyRing().find((one) => one.id === id);
    const bytes = Buffer.from(text, 'base64url');
    if (key === undefined || bytes.byteLength < NONCE_BYTES + TAG_BYTES)
      throw new SecretKeyError(
        `A secret was encrypted with another key (${id}): add that one to PETRICHOR_SECRET_KEY, after a comma, or make the webhook again.`,
      );
    try {
      const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const plaintext = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([plaintext, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SecretKeyError('A kept secret was changed: make the webhook again.', { cause });
    }
  }

  /** Whether it was sealed with the key that seals now. */
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
        `must have at least ${MIN_KEY_LENGTH} characters; it has ${key.length}. Make one with: openssl rand -hex 32`,
      );
    return { id: deriveKey(key, 'id', 4).toString('hex'), bytes: deriveKey(key, 'encryption', 32) };
  });
}

function deriveKey(key: string, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `petrichor secrets ${purpose}`, length));
}
