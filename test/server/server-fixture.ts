import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import type { LogEvent } from '../../src/core/index.ts';
import { openManagedRuntime } from '../../src/managed/index.ts';
import type { ManagedRuntime, ManagedRuntimeOptions } from '../../src/managed/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import type { ModelScript } from '../../src/models/index.ts';
import { createServer, listen } from '../../src/server/index.ts';
import type { ListeningServer, ServerOptions } from '../../src/server/index.ts';
import { MemoryStore } from '../../src/store/index.ts';
import type { Store } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';
import type { Tool } from '../../src/tools/index.ts';
import { checkResponses } from './response-check.ts';
import type { CheckedServer } from './response-check.ts';

export interface ServerFixtureOptions extends ManagedRuntimeOptions {
  readonly store?: Store;
  readonly tools?: readonly Tool[];
  readonly server?: Partial<ServerOptions>;
  readonly port?: number;
}

/**
 * A server on a port of this machine, whose runtime has a scripted model, and a stock client for it. Its end fails when a
 * response was not as the OpenAPI document describes it.
 */
export interface ServerFixture extends AsyncDisposable {
  readonly runtime: ManagedRuntime;
  readonly store: Store;
  readonly server: CheckedServer;
  readonly listening: ListeningServer;
  readonly url: string;
  readonly client: Anthropic;
  readonly log: (sessionId: string) => Promise<readonly LogEvent[]>;
}

export async function openServerFixture(
  script: ModelScript,
  options: ServerFixtureOptions = {},
): Promise<ServerFixture> {
  const { store = new MemoryStore(), tools = [], server: more = {}, port = 0, ...rest } = options;
  const runtime = await openManagedRuntime({
    resolver: async () => new ScriptedModel(script),
    builtIns: async (name) => {
      const found = tools.filter((one) => one.name === name);
      return found.length > 0 ? found : undefined;
    },
    store,
    ...rest,
  });
  const created = await createServer({
    runtime,
    store,
    keys: 'off',
    limits: { createsPerMinute: 100_000, requestsPerMinute: 100_000 },
    ...more,
  });
  const server = checkResponses(created, more.basePath);
  const listening = await listen(server, { port, keysRequired: more.keys === 'required' });
  const { url } = listening;
  return {
    runtime,
    store,
    server,
    listening,
    url,
    client: new Anthropic({ baseURL: url, apiKey: 'none' }),
    log: async (sessionId) => {
      const events: LogEvent[] = [];
      for await (const event of runtime.streamLog(sessionId, 0, { follow: false }))
        if ('at' in event) events.push(event);
      return events;
    },
    [Symbol.asyncDispose]: async () => {
      await listening.close();
      await runtime.close();
      await store.close();
      assert.deepEqual(server.violations, [], 'responses that /openapi.json does not describe');
    },
  };
}

export function countingTool(name: string, more: object = {}): Tool & { readonly ran: unknown[] } {
  const ran: unknown[] = [];
  const base = tool({
    name,
    description: name,
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    execute: (args) => {
      ran.push(args);
      return { ok: true };
    },
    ...more,
  });
  return { ...base, ran };
}

export function userMessage(text: string): {
  readonly type: 'user.message';
  readonly content: [{ readonly type: 'text'; readonly text: string }];
} {
  return { type: 'user.message', content: [{ type: 'text', text }] };
}
