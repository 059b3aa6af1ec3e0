import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { SimulatedClock } from '../../../net/index.ts';
import { McpConnection } from './mcp-connection.ts';
import { McpSecrets } from '../vocabulary/mcp-secrets.ts';

interface TestConnection {
  readonly clock: SimulatedClock;
  readonly connection: McpConnection;
  readonly troubles: string[];
  /** The times of the connection attempts, in milliseconds. */
  readonly attempts: number[];
  /** Whether the server is available. */
  up: boolean;
  /** The number of times the connection was opened again. */
  reconnected: number;
  lose: () => Promise<void>;
}

/** A connection to a real server in this process, which can be unavailable. */
function openTestConnection(): TestConnection {
  const clock = new SimulatedClock();
  let server: McpServer | undefined;
  const setup: TestConnection = {
    clock,
    troubles: [],
    attempts: [],
    up: true,
    reconnected: 0,
    lose: async () => server?.close(),
    connection: new McpConnection({
      server: 'far',
      secrets: new McpSecrets({ name: 'far', command: 'far' }),
      clock,
      open: async (onLost) => {
        setup.attempts.push(clock.now());
        if (!setup.up) throw new Error('nobody answers');
        const [near, far] = InMemoryTransport.createLinkedPair();
        server = new McpServer({ name: 'far', version: '1' });
        const client = new Client({ name: 'near', version: '1' });
        await Promise.all([server.connect(far), client.connect(near)]);
        // oxlint-disable-next-line unicorn/prefer-add-event-listener -- this client is no EventTarget
        client.onclose = onLost;
        return { client, close: () => client.close() };
      },
      onReconnected: () => setup.reconnected++,
      onWarning: (message) => setup.troubles.push(message),
      authorize: async () => false,
    }),
  };
  return setup;
}

const ping = async ({ connection }: TestConnection, signal?: AbortSignal): Promise<unknown> =>
  connection.use(async (client) => client.ping(), signal);

const settled = async (): Promise<void> => {
  for (let n = 0; n < 50; n++) await Promise.resolve();
};

/** Advances the clock until no timer is due. */
async function advanceUntilIdle({ clock }: TestConnection): Promise<void> {
  for (await settled(); clock.nextAt !== undefined; await settled()) {
    clock.advance(clock.nextAt - clock.now());
  }
}

test('a connection is opened on first use, and once for concurrent calls', async () => {
  const setup = openTestConnection();
  assert.deepEqual(setup.attempts, []);
  await Promise.all([ping(setup), ping(setup), ping(setup)]);
  assert.deepEqual(setup.attempts, [0]);
});

test('a lost connection is opened again at once', async () => {
  const setup = openTestConnection();
  await ping(setup);
  await setup.lose();
  await settled();
  await ping(setup);
  assert.equal(setup.attempts.length, 2);
  assert.equal(setup.reconnected, 1);
  assert.match(setup.troubles[0] ?? '', /disconnected/);
});

test('while the server is down, connection attempts follow after 0.5, 1, 2 and 4 seconds, and then on use only', async () => {
  const setup = openTestConnection();
  await ping(setup);
  setup.up = false;
  await setup.lose();
  await advanceUntilIdle(setup);
  assert.deepEqual(setup.attempts, [0, 0, 500, 1500, 3500, 7500]);
  const call = ping(setup);
  setup.up = true;
  await advanceUntilIdle(setup);
  await call;
  assert.deepEqual(setup.attempts.slice(6), [15_500]);
  assert.equal(setup.reconnected, 1);
});

test('a call while the server is down fails with the next attempt', async () => {
  const setup = openTestConnection();
  setup.up = false;
  await assert.rejects(ping(setup), { code: 'mcp_unreachable', message: /nobody answers/ });
  const calls = Promise.allSettled([ping(setup), ping(setup)]);
  await settled();
  assert.equal(setup.attempts.length, 1, 'it waits for its time');
  setup.clock.advance(500);
  const outcomes = await calls;
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual(setup.attempts, [0, 500]);
});

test('a call whose signal aborts does not wait for a connection', async () => {
  const setup = openTestConnection();
  setup.up = false;
  await assert.rejects(ping(setup));
  const stop = new AbortController();
  const call = ping(setup, stop.signal);
  stop.abort(new Error('enough'));
  await assert.rejects(call, /enough/);
});

test('the longest pause between attempts is 30 seconds', async () => {
  const setup = openTestConnection();
  setup.up = false;
  for (let n = 0; n < 10; n++) {
    const call = assert.rejects(ping(setup));
    await advanceUntilIdle(setup);
    await call;
  }
  const pauses = setup.attempts.map((at, n) => at - (setup.attempts[n - 1] ?? 0));
  assert.deepEqual(pauses, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
});

test('a closed connection sends no request and makes no attempt', async () => {
  const setup = openTestConnection();
  setup.up = false;
  await assert.rejects(ping(setup));
  const refused = assert.rejects(ping(setup), { code: 'mcp_closed' });
  await setup.connection.close();
  await refused;
  await assert.rejects(ping(setup), { code: 'mcp_closed' });
  assert.equal(setup.attempts.length, 1);
  assert.equal(setup.clock.nextAt, undefined);
});
