import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent } from '../agents/index.ts';
import { ScriptedModel } from '../models/index.ts';
import { openRuntime } from '../runtime/index.ts';
import { createServer } from './create-server.ts';
import type { ProtocolName } from './protocol-list.ts';
import { loadProtocols, PROTOCOL_NAMES } from './protocol-list.ts';

test('each protocol has the name under which it is listed', async () => {
  const protocols = await loadProtocols(PROTOCOL_NAMES);
  assert.deepEqual(
    protocols.map(({ name }) => name),
    PROTOCOL_NAMES,
  );
});

test('a server refuses a protocol that it does not know, by its name, and an empty list', async () => {
  await using runtime = await openRuntime({
    agents: [agent({ name: 'a', model: new ScriptedModel([]) })],
  });
  const open = async (...protocols: readonly string[]): Promise<unknown> =>
    createServer({ runtime, keys: 'off', protocols: protocols as readonly ProtocolName[] });
  await assert.rejects(open('managed', 'gopher'), {
    code: 'invalid_input',
    message: /^protocols: has "gopher", which is not a protocol\. Use some of managed/,
  });
  await assert.rejects(open('constructor'), /"constructor", which is not a protocol/);
  await assert.rejects(open(), /protocols: must not be empty/);
});
