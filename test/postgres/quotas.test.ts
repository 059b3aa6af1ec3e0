import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as fc from 'fast-check';
import { agent } from '../../src/agents/index.ts';
import type { Usage } from '../../src/core/index.ts';
import type { Model } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Quotas, Runtime } from '../../src/runtime/index.ts';
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.ts';
import { sampleSeed } from '../sample-seed.ts';
import { startPostgresServer } from './postgres-server.ts';

const NOON = Date.UTC(2026, 0, 15, 12);

interface Race {
  /** Sessions by node. */
  readonly sessions: readonly [number, number];
  readonly turns: number;
  readonly tokens: readonly number[];
  readonly limit: number;
}

const race: fc.Arbitrary<Race> = fc.record({
  sessions: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 })),
  turns: fc.integer({ min: 2, max: 4 }),
  tokens: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 }),
  limit: fc.integer({ min: 0, max: 150 }),
});

/** Answers with the next number of tokens, after some turns of the event loop. */
function createModel(tokens: readonly number[], spent: Usage[]): Model {
  return {
    name: 'model',
    generate: async () => {
      const total = tokens[spent.length % tokens.length] ?? 1;
      for (let turn = 0; turn < total % 7; turn++) await setImmediate();
      const usage = { inputTokens: total, outputTokens: 0, totalTokens: total };
      spent.push(usage);
      return { content: { role: 'model', parts: [{ text: 'Yes.' }] }, finishReason: 'stop', usage };
    },
  };
}

async function runSession(
  runtime: Runtime,
  id: string,
  user: string,
  turns: number,
): Promise<string[]> {
  const session = await runtime.session(id, { user });
  const endings: string[] = [];
  for (let turn = 0; turn < turns; turn++)
    for await (const event of session.send('Hi'))
      if (event.type === 'turn.ended') endings.push(event.stopReason);
  return endings;
}

test('two nodes that race for a budget exceed it by the calls in flight at most, and count each once', async (t) => {
  const server = await startPostgresServer();
  if (server === undefined) return t.skip('no PostgreSQL for this platform');
  const stores = await Promise.all([openPostgresStore(server.url), openPostgresStore(server.url)]);
  let run = 0;
  try {
    await fc.assert(
      fc.asyncProperty(race, async ({ sessions, turns, tokens, limit }) => {
        const user = `user-${run++}`;
        const spent: Usage[] = [];
        const quotas: Quotas = { user: { tokensPerMonth: limit } };
        const agents = [agent({ name: 'one', model: createModel(tokens, spent) })];
        const nodes = await Promise.all(
          stores.map(async (store) =>
            openRuntime({ agents, store, quotas, clock: new SimulatedClock(NOON) }),
          ),
        );
        try {
          const endings = await Promise.all(
            nodes.flatMap((node, index) =>
              Array.from({ length: sessions[index] ?? 0 }, async (_, session) =>
                runSession(node, `${index}-${session}`, user, turns),
              ),
            ),
          );
          const used = spent.reduce((sum, { totalTokens }) => sum + totalTokens, 0);
          // Each session has one call in flight. Those that began below the limit end.
          const inFlight = sessions[0] + sessions[1];
          assert.ok(used < limit + inFlight * Math.max(...tokens), `${used} of ${limit}`);
          const [status] = (await nodes[1]?.quotas({ user })) ?? [];
          assert.equal(status?.used, used);
          const stopped = endings.flat().filter((reason) => reason === 'budget_reached');
          assert.equal(stopped.length, inFlight * turns - spent.length);
          if (stopped.length > 0) assert.ok(used >= limit, `stopped at ${used} of ${limit}`);
        } finally {
          await Promise.all(nodes.map(async (node) => node.close()));
        }
      }),
      { numRuns: 12, seed: sampleSeed },
    );
  } finally {
    for (const store of stores) await store.close();
    await server.stop();
  }
});
