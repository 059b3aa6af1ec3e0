import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import { agent } from '../../src/agents/index.ts';
import type { Agent } from '../../src/agents/index.ts';
import { contentText } from '../../src/core/index.ts';
import type { LogEvent } from '../../src/core/index.ts';
import { ScriptedModel } from '../../src/models/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Runtime } from '../../src/runtime/index.ts';
import type { Store } from '../../src/store/index.ts';
import { tool } from '../../src/tools/index.ts';

const SESSIONS = 4;
const MESSAGES = 2;

/**
 * Runs sessions that pay once for each message, while faults happen. Every turn must end, and nothing may be lost or
 * doubled. Returns the number of faults.
 * @param start begins the faults, and calls its argument for each of them
 */
export async function payUnderFaults(
  store: Store,
  start: (onFault: () => void) => void,
  stop: () => void,
): Promise<number> {
  const payments = new Map<string, number>();
  const runtime = await openRuntime({ agents: [payer(payments)], store });
  const ids = Array.from({ length: SESSIONS }, (_, n) => `s${n}`);
  let faults = 0;
  try {
    await Promise.all(ids.map(async (id) => runtime.session(id)));
    start(() => faults++);
    await Promise.all(ids.map(async (id) => sendAll(runtime, id)));
    stop();
    assert.ok(faults > 0, 'nothing was broken');
    for (const id of ids) await assertSession(runtime, id, payments);
  } finally {
    stop();
    await runtime.close();
  }
  return faults;
}

/** Pays once for each message. */
function payer(payments: Map<string, number>): Agent {
  const pay = tool({
    name: 'pay',
    description: 'Pays; to do it again would be to pay twice.',
    parameters: z.object({ for: z.string() }),
    execute: (args) => {
      const name = JSON.stringify(args);
      payments.set(name, (payments.get(name) ?? 0) + 1);
      return 'paid';
    },
  });
  const model = new ScriptedModel(({ contents }) => {
    const last = contents.at(-1);
    return last?.role === 'tool'
      ? { text: 'Paid.' }
      : {
          toolCalls: [
            { name: 'pay', args: { for: contentText(last ?? { role: 'user', parts: [] }) } },
          ],
        };
  });
  return agent({ name: 'payer', model, tools: [pay] });
}

async function sendAll(runtime: Runtime, id: string): Promise<void> {
  for (let n = 0; n < MESSAGES; n++) {
    const messageId = `${id}-m${n}`;
    await retry(async () => (await runtime.session(id)).send(messageId, { messageId }).accepted);
    await retry(async () => {
      const session = await runtime.session(id);
      for await (const event of session.send(messageId, { messageId }))
        if (event.type === 'turn.ended') return;
      throw new Error('the turn has no end yet');
    });
  }
}

/** Retries while the error is retryable. */
async function retry(action: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await action();
      return;
    } catch (error) {
      if (!(error instanceof Error && 'retryable' in error && error.retryable === true))
        throw error;
      await setTimeout(5);
    }
  }
}

async function assertSession(
  runtime: Runtime,
  id: string,
  payments: ReadonlyMap<string, number>,
): Promise<void> {
  const events: LogEvent[] = [];
  const session = await runtime.session(id);
  for await (const event of session.events(0, { follow: false }))
    if ('seq' in event) events.push(event);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
  );
  const count = (type: LogEvent['type']): number =>
    events.filter((event) => event.type === type).length;
  assert.equal(count('user.message'), MESSAGES);
  assert.equal(count('turn.ended'), MESSAGES);
  assert.deepEqual(
    events.flatMap((event) => (event.type === 'tool.result' ? [event.outcome] : [])),
    Array.from({ length: MESSAGES }, () => 'ok'),
  );
  for (let n = 0; n < MESSAGES; n++)
    assert.equal(payments.get(JSON.stringify({ for: `${id}-m${n}` })), 1, `${id}-m${n}`);
}
