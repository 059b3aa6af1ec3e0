import { omitUndefined } from '../../core/internal.ts';
import { isJsonObject, newMessageId, sha256Hex } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import { HttpError } from '../http/http-error.ts';

/** How long a key is remembered; after that it can name another request. */
const KEYED_RETENTION_MS = 24 * 60 * 60_000;
/** How long a request without a key and without a response can be retried. */
const UNANSWERED_RETENTION_MS = 15 * 60_000;
/** How many equal requests are remembered. A retry belongs to one of the last ones. */
const MAX_EQUAL_REQUESTS = 32;

/** What identifies a request of a client. */
export interface ClientRequest {
  readonly keyId: string;
  readonly path: string;
  readonly body: string;
  /** How many retries the client reports to have sent before. */
  readonly retryCount: number;
  /** The `Idempotency-Key`. */
  readonly clientKey: string | undefined;
}

/** A request as it is stored. */
export interface RequestRecord {
  /** The same for every repetition of the request. */
  readonly key: string;
  /** The highest retry count seen for this request. */
  readonly count: number;
  readonly at: number;
  /** The response was written, but it may be lost. Retries are recognized until this time, in epoch milliseconds. */
  readonly until?: number;
  /** What the request did. */
  readonly result?: Json;
}

/** Where and how a request is stored: by its `Idempotency-Key`, or with the equal requests before it. */
export interface RequestForm {
  /** The document kind. */
  readonly kind: string;
  /** The document id. */
  readonly id: string;
  /** The key of the request if it repeats no other. */
  readonly newKey: string;
  /** How many retries the client reports to have sent before. 0 for a request with an `Idempotency-Key`. */
  readonly retryCount: number;
  /**
   * Finds the request with this key, otherwise the one that this one repeats.
   * @throws HttpError 409 for a key that was sent with another body
   */
  readonly findRepeated: (
    value: Json | undefined,
    key: string,
    now: number,
  ) => RequestRecord | undefined;
  /** The document with this record. */
  readonly put: (value: Json | undefined, record: RequestRecord, now: number) => Json;
  /** The document without the record of this key. Undefined: it is empty. */
  readonly remove: (value: Json | undefined, key: string, now: number) => Json | undefined;
}

/** The document kind of requests with an `Idempotency-Key`. Each document holds one request. */
export const KEYED_KIND = 'idempotency-key';
/** The document kind of requests without a key. Each document holds the latest of some equal requests. */
const UNKEYED_KIND = 'sent-request';
/** The document kind of results that version 0.1 stored apart from their requests, by workspace and key. */
export const SEPARATE_RESULT_KIND = 'attempt-made';
/** The document kinds that record requests. */
export const REQUEST_KINDS: readonly string[] = [KEYED_KIND, UNKEYED_KIND, SEPARATE_RESULT_KIND];

export function toRequestForm(request: ClientRequest): RequestForm {
  return request.clientKey === undefined
    ? toUnkeyedForm(request)
    : toKeyedForm(request, request.clientKey);
}

/** True if nothing in the document can be repeated any more. */
export function isExpired(kind: string, value: Json, now: number): boolean {
  if (kind === KEYED_KIND) return parseKeyedRecord(value, now) === undefined;
  if (kind === UNKEYED_KIND) return parseRecentRecords(value, now).length === 0;
  const at = isJsonObject(value) ? value['at'] : undefined;
  return typeof at !== 'number' || at < now - KEYED_RETENTION_MS;
}

export function parseSeparateResult(value: Json | undefined): Json | undefined {
  return isJsonObject(value) ? value['made'] : undefined;
}

/** The key names the request. The hash of the body shows that it is the same one. */
function toKeyedForm({ keyId, path, body }: ClientRequest, clientKey: string): RequestForm {
  const id = sha256Hex(`${keyId}\0${path}\0${clientKey}`);
  const hash = sha256Hex(body);
  const newKey = sha256Hex(`idempotent\0${id}\0${hash}`).slice(0, 32);
  return {
    kind: KEYED_KIND,
    id,
    newKey,
    retryCount: 0,
    findRepeated: (value, _, now) => {
      const found = parseKeyedRecord(value, now);
      if (found === undefined) return undefined;
      const { body: storedHash, at, result } = found;
      if (storedHash !== hash)
        throw new HttpError(
          409,
          `Idempotency-Key "${truncate(clientKey)}" was sent with another body. Repeat that request, or use a new key.`,
        );
      return { key: newKey, count: 0, at, ...omitUndefined({ result }) };
    },
    put: (_, { at, result }) => ({ body: hash, at, ...omitUndefined({ result }) }),
    remove: () => undefined,
  };
}

/**
 * Stock clients send no idempotency key, but they count their retries. A retry belongs to an equal request whose
 * response may not have reached the client.
 */
function toUnkeyedForm({ keyId, path, body, retryCount }: ClientRequest): RequestForm {
  const newKey = newMessageId().replaceAll('-', '');
  return {
    kind: UNKEYED_KIND,
    id: sha256Hex(`${keyId}\0${path}\0${body}`),
    newKey,
    retryCount,
    findRepeated: (value, ownKey, now) => {
      const records = parseRecentRecords(value, now);
      return records.find(({ key }) => key === ownKey) ?? findRetried(records, retryCount);
    },
    put: (value, record, now) => {
      const records = parseRecentRecords(value, now);
      const earlier = records.find(({ key }) => key === record.key);
      // The order is that in which the requests arrived or were retried, not that in which they ended.
      if (earlier !== undefined && earlier.count >= record.count)
        return records.map((one) => toJson(one === earlier ? record : one));
      const others = records.filter((one) => one !== earlier);
      return [...others.slice(1 - MAX_EQUAL_REQUESTS), record].map(toJson);
    },
    remove: (value, ownKey, now) => {
      const others = parseRecentRecords(value, now).filter(({ key }) => key !== ownKey);
      return others.length === 0 ? undefined : others.map(toJson);
    },
  };
}

/** The latest request that fits: an older one may have been answered. A proxy may send one retry twice. */
function findRetried(
  records: readonly RequestRecord[],
  retryCount: number,
): RequestRecord | undefined {
  if (retryCount === 0) return undefined;
  return (
    records.findLast(({ count }) => count === retryCount - 1) ??
    records.findLast(({ count }) => count < retryCount) ??
    records.at(-1)
  );
}

interface KeyedRecord {
  /** The hash of the body. */
  readonly body: string;
  readonly at: number;
  readonly result?: Json;
}

function parseKeyedRecord(value: Json | undefined, now: number): KeyedRecord | undefined {
  if (!isJsonObject(value)) return undefined;
  const { body, at, result } = value;
  if (typeof body !== 'string' || typeof at !== 'number') return undefined;
  return now < at + KEYED_RETENTION_MS ? { body, at, ...omitUndefined({ result }) } : undefined;
}

function parseRecentRecords(value: Json | undefined, now: number): readonly RequestRecord[] {
  if (!Array.isArray(value)) return [];
  const records = value.flatMap((one: Json): RequestRecord[] => {
    if (!isJsonObject(one)) return [];
    const { key, count, at, until, result } = one;
    if (typeof key !== 'string' || typeof count !== 'number' || typeof at !== 'number') return [];
    const end = typeof until === 'number' ? until : undefined;
    return [{ key, count, at, ...omitUndefined({ until: end, result }) }];
  });
  return records.filter(({ at, until = at + UNANSWERED_RETENTION_MS }) => now < until);
}

function toJson({ key, count, at, until, result }: RequestRecord): Json {
  return { key, count, at, ...omitUndefined({ until, result }) };
}

function truncate(key: string): string {
  return key.length > 64 ? `${key.slice(0, 64)}…` : key;
}
