import { FakeObjects } from './fake-objects.ts';
import type { FakeAnswer, FakeRequest } from './fake-server.ts';

/**
 * The part of S3's API that an artifact service needs: objects by path, conditional PUT, lists in
 * short pages.
 */
export function fakeS3(bucket: string): {
  readonly objects: FakeObjects;
  readonly answer: (request: FakeRequest) => FakeAnswer;
} {
  const objects = new FakeObjects(3);
  const answer = ({ method, url, headers, body }: FakeRequest): FakeAnswer => {
    const [, named = '', ...parts] = url.pathname.split('/');
    if (named !== bucket) return failure(404, 'NoSuchBucket');
    const name = parts.map(decodeURIComponent).join('/');
    if (name === '') return list(objects, url.searchParams);
    const found = objects.get(name);
    if (method === 'PUT') {
      if (headers['if-none-match'] === '*' && found !== undefined)
        return failure(412, 'PreconditionFailed');
      const metadata = Object.fromEntries(
        Object.entries(headers).flatMap(([header, value]) =>
          header.startsWith('x-amz-meta-') && typeof value === 'string'
            ? [[header.slice('x-amz-meta-'.length), value]]
            : [],
        ),
      );
      if (JSON.stringify(metadata).length > 2048) return failure(400, 'MetadataTooLarge');
      objects.put(name, {
        bytes: unchunked(body, headers),
        contentType: headers['content-type'] ?? '',
        metadata,
      });
      return { status: 200, headers: { etag: '"x"' } };
    }
    if (method === 'DELETE') {
      objects.delete(name);
      return { status: 204 };
    }
    if (found === undefined) return failure(404, 'NoSuchKey');
    const metadataHeaders = Object.entries(found.metadata).map(([key, value]) => [
      `x-amz-meta-${key}`,
      value,
    ]);
    return {
      status: 200,
      headers: { ...Object.fromEntries(metadataHeaders), 'content-type': found.contentType },
      body: found.bytes,
    };
  };
  return { objects, answer };
}

function list(objects: FakeObjects, query: URLSearchParams): FakeAnswer {
  const token = query.get('continuation-token') ?? '';
  const { names, prefixes, next } = objects.list(
    query.get('prefix') ?? '',
    query.get('delimiter') ?? '',
    Buffer.from(token, 'base64url').toString(),
  );
  const contents = names.map(
    (name) =>
      `<Contents><Key>${escaped(name)}</Key><Size>${objects.get(name)?.bytes.length ?? 0}</Size></Contents>`,
  );
  const common = prefixes.map(
    (one) => `<CommonPrefixes><Prefix>${escaped(one)}</Prefix></CommonPrefixes>`,
  );
  const more =
    next === undefined
      ? '<IsTruncated>false</IsTruncated>'
      : `<IsTruncated>true</IsTruncated><NextContinuationToken>${Buffer.from(next).toString('base64url')}</NextContinuationToken>`;
  return {
    status: 200,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0"?><ListBucketResult>${more}${contents.join('')}${common.join('')}</ListBucketResult>`,
  };
}

function failure(status: number, code: string): FakeAnswer {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`,
  };
}

/** The SDK may send a body in signed chunks, each preceded by its length. */
function unchunked(body: Buffer, headers: FakeRequest['headers']): Buffer {
  if (headers['content-encoding'] !== 'aws-chunked') return body;
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, end), 16);
    if (!(size > 0)) break;
    pieces.push(body.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
  return Buffer.concat(pieces);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
