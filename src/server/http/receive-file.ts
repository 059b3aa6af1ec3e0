import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../net/index.ts';
import { HttpError } from './http-error.ts';

/** The least average speed of a body, in bytes per millisecond: 16 KB/s. */
const MIN_BYTES_PER_MS = 16;

/** How much a request may send, and how slowly. */
export interface ReceiveLimits {
  readonly maxBytes: number;
  /** The longest time without a byte, and by how much a body may be later than one that comes at 16 KB/s. */
  readonly idleMs: number;
  readonly clock: Clock;
}

/** A file of this process, which is removed when it is disposed. */
export interface ReceivedFile extends AsyncDisposable {
  readonly path: string;
}

/**
 * Writes the body of a request to a file that only this user can read.
 * @param name the name of the file, for error messages
 * @throws HttpError 413 above `maxBytes`; 408 when nothing comes for `idleMs`, or the body is too slow; 400 when the
 * connection ends early
 */
export async function receiveFile(
  request: Request,
  name: string,
  limits: ReceiveLimits,
): Promise<ReceivedFile> {
  const { maxBytes } = limits;
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const folder = await mkdtemp(join(tmpdir(), 'petrichor-import-'));
  const path = join(folder, name);
  const remove = async (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const chunks = Readable.from(readWithin(request, limits), { objectMode: false });
    await pipeline(chunks, createWriteStream(path, { mode: 0o600 }));
  } catch (cause) {
    await remove();
    if (cause instanceof HttpError) throw cause;
    throw new HttpError(400, 'The request body ended early. Send the request again.', { cause });
  }
  return { path, [Symbol.asyncDispose]: remove };
}

async function* readWithin(
  { body }: Request,
  { maxBytes, idleMs, clock }: ReceiveLimits,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  const startedAt = clock.now();
  let size = 0;
  try {
    for (;;) {
      const { promise: idle, reject: stop } = Promise.withResolvers<never>();
      const slowAt = startedAt + idleMs + size / MIN_BYTES_PER_MS;
      const idleAt = clock.now() + idleMs;
      const problem =
        slowAt < idleAt
          ? `The body came too slowly: ${size} bytes in ${Math.round(slowAt - startedAt)} ms`
          : `No byte of the body came for ${idleMs} ms`;
      const cancel = clock.at(Math.min(slowAt, idleAt), () =>
        stop(new HttpError(408, `${problem}. Send the request again.`)),
      );
      const { done, value } = await Promise.race([reader.read(), idle]).finally(cancel);
      if (done) return;
      size += value.byteLength;
      // The rest of the body is not read.
      if (size > maxBytes) throw tooLarge(maxBytes);
      yield value;
    }
  } finally {
    // A reader that waits cannot be awaited.
    void reader.cancel().catch(() => {});
  }
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `The body must be at most ${maxBytes} bytes. Send less at a time.`);
}
