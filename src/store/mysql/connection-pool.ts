import type { Connection } from 'mysql2/promise';
import { destroyConnection, keepProcessAlive } from './connection-socket.ts';

interface IdleConnection {
  readonly connection: Connection;
  readonly openedAt: number;
  readonly releasedAt: number;
}

export interface ConnectionPoolOptions {
  readonly open: () => Promise<Connection>;
  readonly idleTimeoutMs: number;
  /** 0: no limit. */
  readonly connectionMaxAgeMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/** A connection taken from a pool. */
export interface PooledConnection {
  readonly connection: Connection;
  /** Returns the connection. A broken one is destroyed. */
  readonly release: (isBroken: boolean) => void;
}

/**
 * Keeps idle connections. They do not keep the process alive, which the pool of `mysql2` cannot do. The caller limits the
 * number of connections that are in use.
 */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  #idle: IdleConnection[] = [];
  #sweep: ReturnType<typeof setInterval> | undefined;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  async acquire(): Promise<PooledConnection> {
    for (;;) {
      const idle = this.#idle.pop();
      if (idle === undefined) break;
      if (this.#isOver(idle) || idle.connection.state === 'disconnected') {
        destroyConnection(idle.connection);
        continue;
      }
      keepProcessAlive(idle.connection, true);
      return this.#lend(idle.connection, idle.openedAt);
    }
    return this.#lend(await this.#options.open(), this.#options.now());
  }

  /** Ends the idle connections. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    const idle = this.#idle;
    this.#idle = [];
    await Promise.all(
      idle.map(async ({ connection }) => {
        // Otherwise a process that only waits for this end would exit before it.
        keepProcessAlive(connection, true);
        await connection.end().catch(() => destroyConnection(connection));
      }),
    );
  }

  #lend(connection: Connection, openedAt: number): PooledConnection {
    return {
      connection,
      release: (isBroken) => {
        if (isBroken) {
          destroyConnection(connection);
          return;
        }
        keepProcessAlive(connection, false);
        this.#idle.push({ connection, openedAt, releasedAt: this.#options.now() });
        this.#sweep ??= setInterval(() => this.#endIdle(), this.#options.idleTimeoutMs).unref();
      },
    };
  }

  #isOver({ openedAt, releasedAt }: IdleConnection): boolean {
    const { idleTimeoutMs, connectionMaxAgeMs, now } = this.#options;
    return (
      now() - releasedAt > idleTimeoutMs ||
      (connectionMaxAgeMs > 0 && now() - openedAt > connectionMaxAgeMs)
    );
  }

  #endIdle(): void {
    const over = this.#idle.filter((one) => this.#isOver(one));
    this.#idle = this.#idle.filter((one) => !over.includes(one));
    for (const { connection } of over) void connection.end().catch(() => undefined);
  }
}
