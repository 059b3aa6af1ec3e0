import { Writable } from 'node:stream';
import type pg from 'pg';

/** Collects what is written to the server. The returned function sends it at once. */
export function cork(client: pg.PoolClient): () => void {
  const stream: unknown = Object(Object(client).connection).stream;
  if (!(stream instanceof Writable)) return () => {};
  stream.cork();
  return () => stream.uncork();
}
