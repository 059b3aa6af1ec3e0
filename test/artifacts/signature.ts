import { createHash, createHmac } from 'node:crypto';
import type { FakeRequest } from './fake-server.ts';

/** What a client signs its requests with. */
export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** True if the request has a correct signature of AWS, version 4, and a body with the signed hash. */
export function isSigned({ method, url, headers, body }: FakeRequest, key: SigningKey): boolean {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), ?SignedHeaders=([^,]+), ?Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    );
  if (found === null) return false;
  const [, id = '', scope = '', signed = '', signature = ''] = found;
  const content = String(headers['x-amz-content-sha256']);
  if (/^\w{64}$/.test(content) && content !== sha256(body)) return false;
  const names = signed.split(';');
  const query = [...url.searchParams].map((pair) => pair.map(encode).join('=')).toSorted();
  const canonical = [
    method,
    url.pathname
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    query.join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    content,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const secret = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${key.secretAccessKey}`);
  return id === key.accessKeyId && hmac(secret, text).toString('hex') === signature;
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function sha256(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex');
}

function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
