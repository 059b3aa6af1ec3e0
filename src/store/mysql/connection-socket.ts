import type { Connection } from 'mysql2/promise';

interface StreamedConnection {
  readonly connection: {
    readonly stream: {
      ref(): void;
      unref(): void;
      destroy(): void;
      once(event: 'close', listener: () => void): void;
    };
  };
}

/** Makes the connection keep the process alive while a statement runs, and not while it is idle. */
export function keepProcessAlive(connection: Connection, isBusy: boolean): void {
  const stream = getStream(connection);
  if (isBusy) stream.ref();
  else stream.unref();
}

/** Calls the listener when the socket of a connection is closed. */
export function onClosed(connection: Connection, listener: () => void): void {
  getStream(connection).once('close', listener);
}

/** Destroys a connection without the protocol's goodbye, because the server may be gone. */
export function destroyConnection(connection: Connection): void {
  connection.destroy();
  getStream(connection).destroy();
}

/**
 * Runs statements. A connection that does not answer in time is destroyed. The timer of `mysql2` would keep the process
 * alive after a connection was lost.
 */
export async function queryInTime(
  connection: Connection,
  sql: string,
  timeoutMs: number,
): Promise<unknown> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new QueryTimeout(`The server did not answer within ${timeoutMs} ms.`));
    destroyConnection(connection);
  }, timeoutMs).unref();
  try {
    const query = connection.query(sql).then(([results]) => results as unknown);
    return await Promise.race([query, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}

function getStream(connection: Connection): StreamedConnection['connection']['stream'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- missing in the types of mysql2
  return (connection as unknown as StreamedConnection).connection.stream;
}

/** A query that took too long, with the code that the driver itself uses for it. */
class QueryTimeout extends Error {
  readonly code: string = 'PROTOCOL_SEQUENCE_TIMEOUT';
}
