import { omitUndefined } from '../../core/internal.ts';
import { timingSafeEqual } from 'node:crypto';
import { InvalidInputError, isJsonObject, sha256Hex } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import { HttpError } from '../http/http-error.ts';
import { FULL_SCOPE, parseKeyScope, toKeyScopeJson } from './key-scope.ts';
import type { KeyScope } from './key-scope.ts';
import { WorkspaceIndex } from './workspace-index.ts';

const KIND = 'api-key';
/** Document kind of the index of environments by workspace. */
export const ENVIRONMENT_INDEX = 'workspace-environment';
/** The workspace of callers without a key, if the server requires none. */
export const DEFAULT_WORKSPACE = 'default';

/** A key that another process creates is seen within this time, in milliseconds. */
const LOOKUP_MS = 1000;

/** Who sent a request. Resources are looked up in the caller's workspace only. */
export interface Caller {
  readonly workspace: string;
  /** Id of the key; `local` without a key. */
  readonly keyId: string;
  /** Scope of the key. Missing: the caller has no key, and none is required. */
  readonly scope?: KeyScope;
}

/** A stored key. The store holds only a hash of its secret. */
export interface ApiKey {
  readonly id: string;
  readonly workspace: string;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt?: number;
  /** When it expires, in epoch milliseconds. Missing: never. */
  readonly expiresAt?: number;
  readonly scope: KeyScope;
}

/** Scope and expiry of a new key. */
export interface ApiKeyOptions {
  /** Default: `{ type: 'full' }`. */
  readonly scope?: KeyScope;
  /** Epoch milliseconds. Default: the key does not expire. */
  readonly expiresAt?: number;
}

/** The API keys of a server, in its store. A token is shown once, at creation; the store holds only its hash. */
export class ApiKeys {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;
  /** A key was seen or created. It stays true when the last one is revoked. */
  #hasKey = false;
  /** The last look for a key. */
  #lookup: { readonly at: number; readonly result: Promise<boolean> } | undefined;

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /**
   * Creates a key and returns its token, which cannot be read again.
   * @throws InvalidInputError for an invalid workspace name, for an environment that does not exist in the workspace,
   * and for an expiry in the past
   */
  async create(
    workspace: string,
    name: string,
    { scope = FULL_SCOPE, expiresAt }: ApiKeyOptions = {},
  ): Promise<{ readonly key: ApiKey; readonly token: string }> {
    if (!/^[\w.-]{1,64}$/.test(workspace))
      throw new InvalidInputError('workspace', 'must be 1 to 64 of A-Z, a-z, 0-9, _, . and -.');
    const createdAt = this.#clock.now();
    if (expiresAt !== undefined && !(Number.isSafeInteger(expiresAt) && expiresAt > createdAt))
      throw new InvalidInputError(
        'expiresAt',
        `must be in the future, in epoch milliseconds; it is ${expiresAt}.`,
      );
    if (scope.type === 'environment') await this.#assertEnvironment(workspace, scope.environmentId);
    const id = randomHex(8);
    const secret = randomHex(32);
    const key: ApiKey = {
      id,
      workspace,
      name,
      createdAt,
      ...omitUndefined({ expiresAt }),
      scope,
    };
    const value: Json = { ...toStoredKey(key), hash: sha256Hex(secret) };
    await this.#documents.writeDocuments([{ kind: KIND, id, version: 0, value }]);
    this.#hasKey ||= scope.type !== 'session';
    return { key, token: `ptk_${id}_${secret}` };
  }

  async list(): Promise<readonly ApiKey[]> {
    const found = await this.#documents.documents({ kind: KIND });
    return found.flatMap(({ id, value }) => parseApiKey(id, value) ?? []);
  }

  /** Removes expired keys of workers. */
  async sweep(): Promise<void> {
    for (const key of await this.list())
      if (key.scope.type === 'session' && this.#isExpired(key)) await this.remove(key.id);
  }

  /** Deletes a key; unlike a revoked key, it is not listed any more. */
  async remove(id: string): Promise<void> {
    const found = await this.#documents.document(KIND, id);
    if (found === undefined) return;
    const change = { kind: KIND, id, version: found.version };
    if (!(await this.#documents.writeDocuments([change])).ok) await this.remove(id);
  }

  /** Revokes a key. Returns false if it does not exist or is revoked already. */
  async revoke(id: string): Promise<boolean> {
    const found = await this.#documents.document(KIND, id);
    if (found === undefined || !isJsonObject(found.value)) return false;
    if (found.value['revokedAt'] !== undefined) return false;
    const value = { ...found.value, revokedAt: this.#clock.now() };
    const written = await this.#documents.writeDocuments([
      { kind: KIND, id, version: found.version, value },
    ]);
    return written.ok || this.revoke(id);
  }

  /** True if a key was ever created, even if it is revoked or expired. Keys of workers do not count. */
  async hasAnyKey(): Promise<boolean> {
    return (await this.list()).some(({ scope }) => scope.type !== 'session');
  }

  /**
   * True once a key exists, for a server that requires keys from then on. A key that another process created is seen
   * within a second, so that not every request lists the keys.
   */
  async hasSeenKey(): Promise<boolean> {
    if (this.#hasKey) return true;
    const now = this.#clock.now();
    const { at = -Infinity } = this.#lookup ?? {};
    if (now < at || now >= at + LOOKUP_MS) this.#lookup = { at: now, result: this.hasAnyKey() };
    const lookup = this.#lookup;
    try {
      if ((await lookup?.result) === true) this.#hasKey = true;
    } catch (error) {
      // The next request looks again.
      if (this.#lookup === lookup) this.#lookup = undefined;
      throw error;
    }
    return this.#hasKey;
  }

  /** True if at least one key is valid now. Keys of workers do not count. */
  async hasActiveKey(): Promise<boolean> {
    return (await this.list()).some(
      (key) => key.revokedAt === undefined && key.scope.type !== 'session' && !this.#isExpired(key),
    );
  }

  /**
   * Authenticates a token.
   * @throws HttpError 401 for a missing, unknown, revoked or expired key
   */
  async authenticate(token: string | undefined): Promise<Caller> {
    const [, id = '', secret = ''] = /^ptk_([0-9a-f]{16})_([0-9a-f]{64})$/.exec(token ?? '') ?? [];
    const found = id === '' ? undefined : await this.#documents.document(KIND, id);
    const hash = isJsonObject(found?.value) ? found.value['hash'] : undefined;
    // Compares in every case and in constant time, so that the duration reveals nothing about the stored hash.
    const isValid = timingSafeEqual(
      Buffer.from(sha256Hex(secret)),
      Buffer.from(typeof hash === 'string' ? hash : sha256Hex('')),
    );
    const key = isValid && found !== undefined ? parseApiKey(id, found.value) : undefined;
    const isInactive = key === undefined || key.revokedAt !== undefined || this.#isExpired(key);
    if (isInactive || secret === '')
      throw new HttpError(401, 'This needs a valid API key, as `x-api-key` or as a bearer token.');
    return { workspace: key.workspace, keyId: id, scope: key.scope };
  }

  /** True if the key of a caller may still be used. A caller without a key has none that could be revoked. */
  async isValid({ keyId }: Caller): Promise<boolean> {
    if (keyId === 'local') return true;
    const found = await this.#documents.document(KIND, keyId);
    const key = found === undefined ? undefined : parseApiKey(keyId, found.value);
    return key !== undefined && key.revokedAt === undefined && !this.#isExpired(key);
  }

  #isExpired({ expiresAt = Infinity }: ApiKey): boolean {
    return expiresAt <= this.#clock.now();
  }

  async #assertEnvironment(workspace: string, environmentId: string): Promise<void> {
    const environments = new WorkspaceIndex(this.#documents, ENVIRONMENT_INDEX);
    if ((await environments.get(workspace, environmentId)) !== undefined) return;
    throw new InvalidInputError(
      'environmentId',
      `there is no environment "${environmentId}" in workspace "${workspace}". Create it first.`,
    );
  }
}

/** The token of a request, from `authorization: Bearer` or `x-api-key`. */
export function readToken(headers: Headers): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  return bearer ?? headers.get('x-api-key') ?? undefined;
}

function toStoredKey(key: ApiKey): { readonly [name: string]: Json } {
  const { workspace, name, createdAt, expiresAt, scope } = key;
  return {
    workspace,
    name,
    createdAt,
    ...omitUndefined({ expiresAt }),
    scope: toKeyScopeJson(scope),
  };
}

function parseApiKey(id: string, value: Json): ApiKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { workspace, name, createdAt, revokedAt, session } = value;
  const { scope, expiresAt } = isJsonObject(session) ? parseLegacySession(session) : value;
  const keyScope = parseKeyScope(scope);
  if (
    typeof workspace !== 'string' ||
    typeof name !== 'string' ||
    typeof createdAt !== 'number' ||
    keyScope === undefined
  )
    return undefined;
  return {
    id,
    workspace,
    name,
    createdAt,
    ...omitUndefined({
      revokedAt: typeof revokedAt === 'number' ? revokedAt : undefined,
      expiresAt: typeof expiresAt === 'number' ? expiresAt : undefined,
    }),
    scope: keyScope,
  };
}

/** Format of worker keys that were stored before scopes existed. */
function parseLegacySession({ id = '', environmentId = '', until = 0 }: JsonObject): JsonObject {
  return { scope: { type: 'session', sessionId: id, environmentId }, expiresAt: until };
}

function randomHex(bytes: number): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
