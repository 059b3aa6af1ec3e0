import { join } from 'node:path';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Quotas, Runtime } from '../../src/runtime/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import type { ServerOptions } from '../../src/server/index.ts';
import { MemoryStore, openStore } from '../../src/store/index.ts';
import type { Agent } from '../../src/agents/index.ts';

/** A server with the console, on a free port. */
export interface ConsoleServer extends AsyncDisposable {
  readonly url: string;
  readonly runtime: Runtime;
}

export interface ConsoleServerOptions {
  readonly agents: readonly Agent[];
  /** Default: a store that ends with the server. */
  readonly store?: string;
  readonly port?: number;
  readonly server?: Partial<ServerOptions>;
  readonly quotas?: Quotas;
}

export async function openConsoleServer({
  agents,
  store: url,
  port = 0,
  server: more,
  quotas,
}: ConsoleServerOptions): Promise<ConsoleServer> {
  const store = url === undefined ? new MemoryStore() : await openStore(url);
  const runtime = await openRuntime({
    agents,
    store,
    app: 'managed',
    ...(quotas !== undefined && { quotas }),
  });
  const server = await createServer({
    runtime,
    store,
    keys: 'off',
    console: true,
    proofs: { module: join(import.meta.dirname, 'agents.ts') },
    limits: { createsPerMinute: 100_000, requestsPerMinute: 100_000 },
    ...more,
  });
  const listening = await listen(server, { port, keysRequired: false });
  return {
    url: listening.url,
    runtime,
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      await runtime.close();
      await store.close();
    },
  };
}
