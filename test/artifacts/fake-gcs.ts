import { FakeObjects } from './fake-objects.ts';
import type { FakeObject } from './fake-objects.ts';
import type { FakeAnswer, FakeRequest } from './fake-server.ts';

/**
 * The part of Cloud Storage's JSON API that an artifact service needs: uploads in one request,
 * preconditions, lists in short pages.
 */
export function fakeGcs(bucket: string): {
  readonly objects: FakeObjects;
  readonly answer: (request: FakeRequest) => FakeAnswer;
} {
  const objects = new FakeObjects(3);
  const answer = (request: FakeRequest): FakeAnswer => {
    const { method, url } = request;
    const upload = `/upload/storage/v1/b/${bucket}/o`;
    const path = `/storage/v1/b/${bucket}/o`;
    if (method === 'POST' && url.pathname === upload) return put(objects, request);
    if (url.pathname === path) return list(objects, url.searchParams);
    if (!url.pathname.startsWith(`${path}/`)) return failure(404);
    const name = decodeURIComponent(url.pathname.slice(path.length + 1));
    const found = objects.get(name);
    if (found === undefined) return failure(404);
    if (method === 'DELETE') {
      objects.delete(name);
      return { status: 204 };
    }
    if (url.searchParams.get('alt') !== 'media') return json(200, described(name, found));
    const hash = `crc32c=${crc32c(found.bytes)}`;
    const headers = { 'content-type': found.contentType, 'x-goog-hash': hash };
    return { status: 200, headers, body: found.bytes };
  };
  return { objects, answer };
}

function put(objects: FakeObjects, { url, headers, body }: FakeRequest): FakeAnswer {
  const name = url.searchParams.get('name') ?? '';
  if (url.searchParams.get('ifGenerationMatch') === '0' && objects.get(name) !== undefined)
    return failure(412);
  const [, boundary = ''] = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '') ?? [];
  const [about, content] = splitParts(body, boundary);
  if (about === undefined || content === undefined) return failure(400);
  const description: { contentType?: string; metadata?: Record<string, string> } = JSON.parse(
    about.toString('utf8'),
  );
  const object = {
    bytes: content,
    contentType: description.contentType ?? '',
    metadata: description.metadata ?? {},
  };
  objects.put(name, object);
  return json(200, described(name, object));
}

/** The parts of a multipart message. */
function splitParts(body: Buffer, boundary: string): readonly Buffer[] {
  const parts: Buffer[] = [];
  const line = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(line); at !== -1;) {
    const end = body.indexOf(line, at + line.length);
    if (end === -1) break;
    const start = body.indexOf('\r\n\r\n', at) + 4;
    parts.push(body.subarray(start, end - 2));
    at = end;
  }
  return parts;
}

function list(objects: FakeObjects, query: URLSearchParams): FakeAnswer {
  const token = query.get('pageToken') ?? '';
  const { names, prefixes, next } = objects.list(
    query.get('prefix') ?? '',
    query.get('delimiter') ?? '',
    Buffer.from(token, 'base64url').toString(),
  );
  return json(200, {
    kind: 'storage#objects',
    items: names.flatMap((name) => {
      const object = objects.get(name);
      return object === undefined ? [] : [described(name, object)];
    }),
    prefixes,
    ...(next !== undefined && { nextPageToken: Buffer.from(next).toString('base64url') }),
  });
}

function described(name: string, { bytes, contentType, metadata }: FakeObject): object {
  const size = String(bytes.length);
  return { kind: 'storage#object', name, size, contentType, metadata, crc32c: crc32c(bytes) };
}

/** The checksum with which the SDK verifies a transfer. */
function crc32c(bytes: Buffer): string {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(~crc >>> 0);
  return sum.toString('base64');
}

function failure(status: number): FakeAnswer {
  return json(status, { error: { code: status, message: `status ${status}` } });
}

function json(status: number, value: object): FakeAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(value),
  };
}
