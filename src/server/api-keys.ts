import { timingSafeEqual } from 'node:crypto';
import { InvalidInputError, isJsonObject, sha256Hex } from '../core/index.ts';
import type { Json } from '../core/index.ts';
import type { Clock } from '../net/index.ts';
import type { DocumentStore } from '../store/index.ts';
import { WireError } from './wire-error.ts';

const KIND = 'api-key';
/** What a caller without a key works in, where none is asked for. */
export const DEFAULT_WORKSPACE = 'default';

/** Who asks. Whatever it names is looked for in its own workspace only. */
export interface Caller {
  readonly workspace: string;
  /** Of its key; `local` without one. */
  readonly keyId: string;
  /** The one session that it may touch, and the environment whose work it is. */
  readonly session?: { readonly id: string; readonly environmentId: string };
}

/** A key as it is kept: its secret only as a hash. */
export interface ApiKey {
  readonly id: string;
  readonly workspace: string;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt?: number;
  /** It is for the work on one session, until then. */
  readonly session?: {
    readonly id: string;
    readonly environmentId: string;
    readonly until: number;
  };
}

/** The keys of a server, in its store. A key is shown once, when it is made; what is kept cannot be used. */
export class ApiKeys {
  readonly #documents: DocumentStore;
  readonly #clock: Clock;

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  /** @throws InvalidInputError for the name of a workspace that could be taken for another's */
  async create(
    workspace: string,
    name: string,
    session?: ApiKey['session'],
  ): Promise<{ readonly key: ApiKey; readonly token: string }> {
    if (!/^[\w.-]{1,64}$/.test(workspace))
      throw new InvalidInputError('workspace', 'must be 1 to 64 of A-Z, a-z, 0-9, _, . and -.');
    const id = randomHex(8);
    const secret = randomHex(32);
    const createdAt = this.#clock.now();
    const key: ApiKey = {
      id,
      workspace,
      name,
      createdAt,
      ...(session !== undefined && { session }),
    };
    const value: Json = { ...stored(key), hash: sha256Hex(secret) };
    await this.#documents.writeDocuments([{ kind: KIND, id, version: 0, value }]);
    return { key, token: `ptk_${id}_${secret}` };
  }

  async list(): Promise<readonly ApiKey[]> {
    const found = await this.#documents.documents({ kind: KIND });
    return found.flatMap(({ id, value }) => keyOf(id, value) ?? []);
  }

  /** Forgets the keys of work that is long over. */
  async sweep(): Promise<void> {
    for (const { id, session } of await this.list())
      if (session !== undefined && session.until <= this.#clock.now()) await this.forget(id);
  }

  /** Removes a key that nobody needs to read of any more. */
  async forget(id: string): Promise<void> {
    const found = await this.#documents.document(KIND, id);
    if (found === undefined) return;
    const change = { kind: KIND, id, version: found.version };
    if (!(await this.#documents.writeDocuments([change])).ok) await this.forget(id);
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

  /** Whether there ever was a key, valid or revoked. */
  async wereMade(): Promise<boolean> {
    return (await this.list()).some(({ session }) => session === undefined);
  }

  /** Whether anybody can come in with a key. */
  async areThere(): Promise<boolean> {
    return (await this.list()).some(
      ({ revokedAt, session }) => revokedAt === undefined && session === undefined,
    );
  }

  /** @throws WireError 401 */
  async callerOf(token: string | undefined): Promise<Caller> {
    const [, id = '', secret = ''] = /^ptk_([0-9a-f]{16})_([0-9a-f]{64})$/.exec(token ?? '') ?? [];
    const found = id === '' ? undefined : await this.#documents.document(KIND, id);
    const hash = isJsonObject(found?.value) ? found.value['hash'] : undefined;
    // Compared in any case, and in constant time: how long it takes tells nothing of what is kept.
    const isRight = timingSafeEqual(
      Buffer.from(sha256Hex(secret)),
      Buffer.from(typeof hash === 'string' ? hash : sha256Hex('')),
    );
    const key = isRight && found !== undefined ? keyOf(id, found.value) : undefined;
    const isOver = key?.session !== undefined && key.session.until <= this.#clock.now();
    if (key === undefined || key.revokedAt !== undefined || isOver || secret === '')
      throw new WireError(401, 'This needs a valid API key, as `x-api-key` or as a bearer token.');
    const { workspace, session } = key;
    return { workspace, keyId: id, ...(session !== undefined && { session }) };
  }
}

/** The key that a request brings: either way to say it. */
export function tokenOf(headers: Headers): string | undefined {
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  return bearer ?? headers.get('x-api-key') ?? undefined;
}

function stored(key: ApiKey): { readonly [name: string]: Json } {
  const { workspace, name, createdAt, session } = key;
  return { workspace, name, createdAt, ...(session !== undefined && { session: { ...session } }) };
}

function keyOf(id: string, value: Json): ApiKey | undefined {
  if (!isJsonObject(value)) return undefined;
  const { workspace, name, createdAt, revokedAt, session } = value;
  if (typeof workspace !== 'string' || typeof name !== 'string' || typeof createdAt !== 'number')
    return undefined;
  return {
    id,
    workspace,
    name,
    createdAt,
    ...(typeof revokedAt === 'number' && { revokedAt }),
    ...(isJsonObject(session) && { session: sessionOf(session) }),
  };
}

function sessionOf(value: Readonly<Record<string, Json>>): NonNullable<ApiKey['session']> {
  const { id, environmentId, until } = value;
  return {
    id: typeof id === 'string' ? id : '',
    environmentId: typeof environmentId === 'string' ? environmentId : '',
    until: typeof until === 'number' ? until : 0,
  };
}

function randomHex(bytes: number): string {
  return Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
}
