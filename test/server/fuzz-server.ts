import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { fetchDocument } from './openapi-document.ts';
import type { DocumentOperation, DocumentSchema } from './openapi-document.ts';

export interface FuzzOptions {
  readonly url: string;
  /** Ids for the parameters of paths. */
  readonly ids: Readonly<Record<string, string>>;
  readonly seed: number;
  /** Which paths are tried. Default: all. */
  readonly only?: (path: string) => boolean;
  /** Stop after this many requests, */
  readonly requests?: number;
  /** or after this many milliseconds. */
  readonly forMs?: number;
}

/** Number of requests by what was wrong with them. */
export type FuzzReport = Readonly<Record<string, number>>;

/** A response that takes longer counts as a hang. */
const HANG_MS = 600_000;

interface Attempt {
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text that the response must contain: the invalid field. Missing: the request may be valid. */
  readonly names?: string;
}

/**
 * Sends invalid requests to every endpoint of a server's OpenAPI document: invalid JSON, endless nesting, endless
 * texts, values of the wrong type at any position of a body, unknown ids and parameters. Each must get a response in
 * time, never a 5xx; an invalid field must get a 4xx that names it.
 */
export async function fuzzServer(options: FuzzOptions): Promise<FuzzReport> {
  const { url, seed, requests = Infinity, forMs = Infinity, only = () => true } = options;
  const document = await fetchDocument(url);
  const paths = Object.entries(document.paths).filter(([path]) => only(path));
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const random = new Random(seed);
  const counts = new Map<string, number>();
  const endAt = Date.now() + forMs;
  const visited = new Set<string>();
  for (let n = 0; n < requests && Date.now() < endAt; n++) {
    const { path, method, operation } = operations[n % operations.length] ?? assert.fail();
    const attempt = attemptOn({ path, method, operation }, options.ids, random);
    if (attempt === undefined) continue;
    visited.add(operation.operationId);
    counts.set(attempt.kind, (counts.get(attempt.kind) ?? 0) + 1);
    await checkResponse(url, attempt, seed);
  }
  counts.set('operations', visited.size);
  return Object.fromEntries(counts);
}

async function checkResponse(url: string, attempt: Attempt, seed: number): Promise<void> {
  const { kind, method, path, body = '', names } = attempt;
  const what = `seed ${seed}, ${kind}: ${method} ${path.slice(0, 200)} ${body.slice(0, 400)}`;
  const { status, text, type } = await ask(url, attempt).catch((error: unknown) =>
    assert.fail(`${what}: ${String(error)}`),
  );
  // 501: a part of the protocol that the server does not have.
  assert.ok(status < 500 || status === 501, `${what}: ${status} ${text.slice(0, 400)}`);
  if (names !== undefined) assert.ok(status >= 400, `${what}: ${status} ${text.slice(0, 400)}`);
  if (status < 400) return;
  assert.match(type, /^application\/(?:[\w.-]+\+)?json/, what);
  const message = readMessage(text);
  assert.notEqual(message, undefined, `${what}: ${text.slice(0, 400)}`);
  assert.doesNotMatch(text, /\.(?:ts|js):\d+|node:internal|\n +at /, `${what}: shows the inside`);
  if (names !== undefined) assert.ok(message?.includes(names), `${what}: ${message}`);
}

/** The message of an error: a text, or a member of an object. The errors of A2A 0.3 are such objects themselves. */
export function readMessage(text: string): string | undefined {
  const body = JSON.parse(text) as { readonly error?: unknown };
  const { error = body } = body;
  const message: unknown =
    typeof error === 'string' ? error : Reflect.get(Object(error), 'message');
  return typeof message === 'string' ? message : undefined;
}

/** Writes to a plain socket, so that even malformed requests are sent unchanged. */
async function ask(
  url: string,
  { method, path, body, headers = {} }: Attempt,
): Promise<{ readonly status: number; readonly text: string; readonly type: string }> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number;
    readonly text: string;
    readonly type: string;
  }>();
  const outgoing = request(
    {
      hostname,
      port,
      path,
      method,
      headers: { 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(HANG_MS),
    },
    (reply) => {
      const { statusCode: status = 0 } = reply;
      const type = reply.headers['content-type'] ?? '';
      // A stream does not end, so its headers are enough.
      if (type.startsWith('text/event-stream')) {
        reply.destroy();
        return resolve({ status, text: '', type });
      }
      textOf(reply).then((text) => resolve({ status, text, type }), reject);
    },
  );
  outgoing.on('error', reject);
  outgoing.end(body);
  return promise;
}

function attemptOn(
  {
    path,
    method,
    operation,
  }: {
    readonly path: string;
    readonly method: string;
    readonly operation: DocumentOperation;
  },
  ids: Readonly<Record<string, string>>,
  random: Random,
): Attempt | undefined {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const real = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none');
  const base = { method: method.toUpperCase(), path: real };
  const choices: (() => Attempt | undefined)[] = [
    () => createUnusualId(path, base.method, random),
    () => createUnusualQuery(base, operation, random),
    () => createUnusualHeaders(base, random),
  ];
  // These cannot be repeated, so they get unknown ids.
  if (method === 'delete' || path.endsWith('/archive'))
    return createUnusualId(path, base.method, random);
  if (schema !== undefined)
    choices.push(
      () => ({
        ...base,
        kind: 'malformed',
        body: malformed(validBody(schema, random), random),
        names: 'body',
      }),
      () => ({ ...base, kind: 'deep', body: nested(random), names: 'body' }),
      () => wrongBody(base, schema, random),
      () => wrongBody(base, schema, random),
      () => wrongBody(base, schema, random),
      () => longText(base, schema, random),
      () => ({ ...base, kind: 'random', body: JSON.stringify(random.json(4)) }),
      () => ({ ...base, kind: 'large', body: `{"a":"${'x'.repeat(1_100_000)}"}`, names: 'body' }),
    );
  return random.of(choices)();
}

/** Unknown ids. */
function createUnusualId(path: string, method: string, random: Random): Attempt | undefined {
  if (!path.includes('{')) return undefined;
  const unusualIds = [
    '%00',
    '%zz',
    '..',
    '%2e%2e%2f',
    'a%2Fb',
    '💥',
    "'--",
    'x'.repeat(5000),
    '%F0%28',
    'null',
    '-1',
    '%20',
  ];
  const address = path.replaceAll(/\{\w+\}/g, () => encodeLoosely(random.of(unusualIds)));
  return { kind: 'id', method, path: address, ...(method === 'POST' && { body: '{}' }) };
}

function encodeLoosely(text: string): string {
  return /^[\u0020-\u007e]*$/.test(text) ? text : encodeURIComponent(text);
}

/** An invalid parameter. */
function createUnusualQuery(
  base: Pick<Attempt, 'method' | 'path'>,
  { parameters = [] }: DocumentOperation,
  random: Random,
): Attempt | undefined {
  const inQuery = parameters.filter((one) => one.in === 'query');
  if (inQuery.length === 0) return undefined;
  const { name, schema } = random.of(inQuery);
  const isPattern = schema.pattern !== undefined || schema.enum !== undefined;
  const value = isPattern
    ? random.of(['-1', 'x', '1e9', '0x10', '99999999999999999999', '💥'])
    : random.text(40);
  const path = `${base.path}?${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  return { ...base, kind: 'query', path, ...(isPattern && { names: name.replace('[]', '') }) };
}

function createUnusualHeaders(base: Pick<Attempt, 'method' | 'path'>, random: Random): Attempt {
  const headers = random.of([
    { 'last-event-id': random.printable(300) },
    { 'x-stainless-retry-count': random.of(['-1', 'NaN', '1e400', 'x']) },
    { 'idempotency-key': random.printable(2000) },
    { 'x-api-key': random.printable(500) },
    { authorization: random.of(['Bearer', 'Bearer  ', 'Basic eDp5', random.printable(500)]) },
    { 'content-type': random.of(['text/plain', 'application/xml', random.printable(20)]) },
    { accept: '!' },
    { range: 'bytes=0-1' },
  ]);
  return { ...base, kind: 'header', headers, ...(base.method === 'POST' && { body: '{"x":1}' }) };
}

/** A body that is valid except for one value of a wrong type. */
function wrongBody(
  base: Pick<Attempt, 'method' | 'path'>,
  schema: DocumentSchema,
  random: Random,
): Attempt | undefined {
  const body = validBody(schema, random);
  const places = placesIn(body, schema, []);
  if (places.length === 0) return undefined;
  const { path, accepts } = random.of(places);
  // A list in place of an object without required fields is read as an empty object.
  const isLax = path.length > 0 && accepts.has('object');
  const wrongValue = random.of(
    WRONG_VALUES.filter(
      (value) => !accepts.has(getTypeName(value)) && !(isLax && Array.isArray(value)),
    ),
  );
  if (wrongValue === undefined) return undefined;
  const top = path[0];
  return {
    ...base,
    kind: 'type',
    body: JSON.stringify(replaced(body, path, wrongValue)),
    names: top === undefined ? 'body' : String(top),
  };
}

const WRONG_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1.5,
  1e308,
  '',
  'text',
  [],
  [[]],
  {},
  { a: 1 },
];

function longText(
  base: Pick<Attempt, 'method' | 'path'>,
  schema: DocumentSchema,
  random: Random,
): Attempt | undefined {
  const body = validBody(schema, random);
  const places = placesIn(body, schema, []).filter(({ max }) => max < 500_000);
  if (places.length === 0) return undefined;
  const { path, max } = random.of(places);
  const text = random.of(['x', 'é', '\u0000', '"', '\\']).repeat(max + 1);
  if (text.length * 6 > 1_000_000) return undefined;
  return {
    ...base,
    kind: 'long',
    body: JSON.stringify(replaced(body, path, text)),
    names: String(path[0] ?? 'body'),
  };
}

interface PlaceInBody {
  readonly path: readonly (string | number)[];
  /** Types of values that are allowed here. */
  readonly accepts: ReadonlySet<string>;
  /** Maximum length of a text; infinite if the schema has none. */
  readonly max: number;
}

/** All values of a body that a schema describes. */
function placesIn(
  value: unknown,
  schema: DocumentSchema,
  path: readonly (string | number)[],
): readonly PlaceInBody[] {
  const fitting = [schema, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const accepts = acceptedBy(schema);
  const scalarValues =
    accepts === undefined
      ? []
      : [
          {
            path,
            accepts,
            max: schema.type === 'string' ? (schema.maxLength ?? Infinity) : Infinity,
          },
        ];
  // Values of alternatives are checked only where there is no choice.
  const single = fitting.length === 1 ? schema : undefined;
  const inner =
    single === undefined
      ? []
      : Array.isArray(value)
        ? value.flatMap((one, index) => placesIn(one, single.items ?? {}, [...path, index]))
        : typeof value === 'object' && value !== null
          ? Object.entries(value).flatMap(([name, one]) =>
              placesIn(one, single.properties?.[name] ?? {}, [...path, name]),
            )
          : [];
  return [...scalarValues, ...inner];
}

/** Types of values that a schema accepts; undefined if it accepts any. */
function acceptedBy(schema: DocumentSchema): ReadonlySet<string> | undefined {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) {
    const all = alternatives.map(acceptedBy);
    return all.includes(undefined) ? undefined : new Set(all.flatMap((one) => [...(one ?? [])]));
  }
  if (schema.const !== undefined) return new Set([getTypeName(schema.const)]);
  if (schema.enum !== undefined) return new Set(schema.enum.map(getTypeName));
  if (schema.type === 'integer') return new Set(['number']);
  return schema.type === undefined ? undefined : new Set([schema.type]);
}

function getTypeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function replaced(
  value: unknown,
  [head, ...rest]: readonly (string | number)[],
  by: unknown,
): unknown {
  if (head === undefined) return by;
  if (Array.isArray(value))
    return value.map((one: unknown, index) => (index === head ? replaced(one, rest, by) : one));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [head]: replaced(object[head], rest, by) };
}

/** A valid body with some of its optional fields. */
function validBody(schema: DocumentSchema, random: Random): unknown {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return validBody(random.of(alternatives), random);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return random.of(schema.enum);
  switch (schema.type) {
    case 'string':
      return schema.format === 'uri' ? 'https://a.example/' : 'gpt-5'.slice(0, schema.maxLength);
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return random.next() < 0.5;
    case 'array': {
      const count = Math.max(schema.minItems ?? 0, random.next() < 0.7 ? 1 : 0);
      return Array.from({ length: count }, () => validBody(schema.items ?? {}, random));
    }
    case 'object': {
      const { properties = {}, required = [] } = schema;
      const names = Object.keys(properties).filter(
        (name) => required.includes(name) || random.next() < 0.5,
      );
      return Object.fromEntries(
        names.map((name) => [name, validBody(properties[name] ?? {}, random)]),
      );
    }
    default:
      return null;
  }
}

function malformed(body: unknown, random: Random): string {
  const text = JSON.stringify(body);
  const broken = [
    text.slice(0, -1),
    `${text}}`,
    `${text},`,
    text.replace('"', "'"),
    text.replaceAll(':', '='),
    `\u0000${text}`,
    '{',
    '[',
    '"',
    'NaN',
    '{"a":01}',
    '{"a":"\n"}',
    '<xml/>',
  ];
  return random.of(broken.filter((one) => !isJson(one)));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function nested(random: Random): string {
  const depth = random.of([2000, 20_000, 100_000]);
  return random.of([
    '['.repeat(depth) + ']'.repeat(depth),
    '{"a":'.repeat(depth) + '1' + '}'.repeat(depth),
    `{"name":${'['.repeat(depth)}${']'.repeat(depth)}}`,
  ]);
}

/** Pseudo-random numbers and choices that are the same for the same seed. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 to 1. */
  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    // The lower bits of this generator are not random.
    return ((this.#state >>> 8) & 0xff_ffff) / 0x100_0000;
  }

  of<T>(all: readonly T[]): T {
    return all[Math.floor(this.next() * all.length)] as T;
  }

  text(length: number): string {
    return Array.from({ length: Math.floor(this.next() * length) }, () =>
      String.fromCodePoint(Math.floor(this.next() * 0xd7ff)),
    ).join('');
  }

  printable(length: number): string {
    return Array.from({ length: 1 + Math.floor(this.next() * length) }, () =>
      String.fromCodePoint(0x21 + Math.floor(this.next() * 0x5d)),
    ).join('');
  }

  json(depth: number): unknown {
    const kind = Math.floor(this.next() * (depth === 0 ? 5 : 7));
    if (kind === 0) return null;
    if (kind === 1) return this.next() < 0.5;
    if (kind === 2) return (this.next() - 0.5) * 10 ** Math.floor(this.next() * 300);
    if (kind <= 4) return this.text(20);
    const many = Array.from({ length: Math.floor(this.next() * 4) }, () => this.json(depth - 1));
    return kind === 5
      ? many
      : Object.fromEntries(
          many.map((one) => [this.of(['name', 'type', 'events', this.text(5)]), one]),
        );
  }
}
