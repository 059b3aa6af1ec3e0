import { timingSafeEqual } from 'node:crypto';
import { InvalidInputError, isJsonObject, sha256Hex } from '../../core/index.ts';
import type { Json, JsonObject } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { DocumentStore } from '../../store/index.ts';
import { FULL_SCOPE, parseKeyScope, toKeyScopeJson } from './key-scope.ts';
import type { KeyScope } from './key-scope.ts';
import { HttpError } from '../http/http-error.ts';
import { WorkspaceIndex } from './workspace-index.ts';

const KIND = 'api-key';
/** Which environments there are, workspace by workspace. */
export const ENVIRONMENT_INDEX = 'workspace-environment';
/** What a caller without a key works in, where none is asked for. */
export const DEFAULT_WORKSPACE = 'default';

/** Who asks. Whatever it names is looked for in its own workspace only. */
export interface Caller {
  readonly workspace: string;
  /** Of its key; `local` without one. */
  readonly keyId: string;
  /** What its key opens. Missing: it has no key, where none is needed. */
  readonly scope?: KeyScope;
}

/** A key as it is kept: its secret only as a hash. */
export interface ApiKey {
  readonly id: string;
  readonly workspace: string;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt?: number;
  /** From then on it opens nothing, in epoch milliseconds. Missing: it does not expire. */
  readonly expiresAt?: number;
  readonly scope: KeyScope;
}

/** What a new key opens, and for how long. */
export interface ApiKeyOptions {
  /** Default: `{ type: 'full' }`. */
  readonly scope?: KeyScope;
  /** In epoch milliseconds. Default: it does not expire. */
  readonly expiresAt?: number;
}

/** The keys of a server, in its store. A key is shown once, when it is made; what is kept cannot be used. */
export class ApiKeys {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /**
   * Makes a key. Its token is returned this once.
   * @throws InvalidInputError for the name of a workspace that could be taken for another's, for an environment that the
   * workspace does not have, and for a time that has passed
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
      ...(expiresAt !== undefined && { expiresAt }),
      scope,
    };
    const value: Json = { ...toStoredKey(key), hash: sha256Hex(secret) };
    await this.#documents.writeDocuments([{ kind: KIND, id, version: 0, value }]);
    return { key, token: `ptk_${id}_${secret}` };
  }

  async list(): Promise<readonly ApiKey[]> {
    const found = await this.#documents.documents({ kind: KIND });
    return found.flatMap(({ id, value }) => parseApiKey(id, value) ?? []);
  }

  /** Forgets the keys of work that is long over. */
  async sweep(): Promise<void> {
    for (const key of await this.list())
      if (key.scope.type === 'session' && this.#isExpired(key)) await this.remove(key.id);
  }

  /** Removes a key that nobody needs to read of any more. */
  async remove(id: string): Promise<void> {
    const found = await this.#documents.document(KIND, id);
    if (found === undefined) return;
    const change = { kind: KIND, id, version: found.version };
    if (!(await this.#documents.writeDocuments([change])).ok) await this.remove(id);
  }

  /** False when there is none, or it was revoked before. */
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

  /** Whether somebody ever made a key, valid or not; those of workers do not count. */
  async hasAnyKey(): Promise<boolean> {
    return (await this.list()).some(({ scope }) => scope.type !== 'session');
  }

  /** Whether anybody can come in with a key. */
  async hasActiveKey(): Promise<boolean> {
    return (await this.list()).some(
      (key) => key.revokedAt === undefined && key.scope.type !== 'session' && !this.#isExpired(key),
    );
  }

  /** @throws HttpError 401 */
  async authenticate(token: string | undefined): Promise<Caller> {
    const [, id = '', secret = ''] = /^ptk_([0-9a-f]{16})_([0-9a-f]{64})$/.exec(token ?? '') ?? [];
    const found = id === '' ? undefined : await this.#documents.document(KIND, id);
    const hash = isJsonObject(found?.value) ? found.value['hash'] : undefined;
    // Compared in any case, and in constant time: how long it takes tells nothing of what is kept.
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

  #isExpired({ expiresAt = Infinity }: ApiKey): boolean {
    return expiresAt <= this.#clock.now();
  }

  async #assertEnvironment(workspace: string, environmentId: string): Promise<void> {
    const environments = new WorkspaceIndex(this.#documents, ENVIRONMENT_INDEX);
    if ((await environments.get(workspace, environmentId)) !== undefined) return;
    throw new InvalidInputError(
      'environmentId',
      `there is no environment "${environmentId}" in workspace "${workspace}": make it first.`,
    );
  }
}

/** The key that a request brings: either way to say it. */
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
    ...(expiresAt !== undefined && { expiresAt }),
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
    ...(typeof revokedAt === 'number' && { revokedAt }),
    ...(typeof expiresAt === 'number' && { expiresAt }),
    scope: keyScope,
  };
}

/** A worker's key as it was kept before there were scopes. */
function parseLegacySession({ id = '', environmentId = '', until = 0 }: JsonObject): JsonObject {
  return { scope: { type: 'session', sessionId: id, environmentId }, expiresAt: until };
}

function randomHex(bytes: number): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
