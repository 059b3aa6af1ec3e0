import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Agent } from '../../src/agents/index.ts';
import type { LiveHub } from '../../src/live/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import type { ProtocolName } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';

export interface TestServerOptions {
  readonly agents: readonly Agent[];
  readonly protocols: readonly ProtocolName[];
  /** Default: in memory. */
  readonly store?: Store;
  /** Default: any free port. */
  readonly port?: number;
  readonly live?: LiveHub;
  /** The folder of the web interface of ADK. */
  readonly adkWeb?: string;
}

/** A server in this process, without keys. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly runtime: Runtime;
}

export async function openTestServer({
  agents,
  store = new MemoryStore(),
  port = 0,
  live,
  ...options
}: TestServerOptions): Promise<TestServer> {
  const hub = live === undefined ? {} : { live };
  const runtime = await openRuntime({ agents, store, ...hub });
  const server = await createServer({
    runtime,
    keys: 'off',
    limits: { requestsPerMinute: 100_000, createsPerMinute: 100_000 },
    ...options,
    ...hub,
  });
  const listening = await listen(server, { port, keysRequired: false });
  return {
    url: listening.url,
    runtime,
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      await runtime.close();
    },
  };
}

/** The address of a module of the package, for the source of a program that a test writes. */
export function toSourceUrl(path: string): string {
  return pathToFileURL(join(import.meta.dirname, '../../src', path)).href;
}
