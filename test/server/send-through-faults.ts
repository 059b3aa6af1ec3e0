import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import { contentText } from '../../src/core/index.ts';
import { createClient } from '../../src/client/index.ts';
import { FaultyProxy } from './faulty-proxy.ts';
import type { Fault } from './faulty-proxy.ts';
import { userMessage, openServerFixture } from './server-fixture.ts';
import { scriptedChat } from './scripted-chat.ts';

export type Sender = 'the stock client' | 'the stock client with a key' | 'our client';

export interface FaultPlan {
  readonly sender: Sender;
  readonly sessions: number;
  /** Number of messages to each session, one after the other; every third repeats the previous text. */
  readonly sends: number;
  readonly seed: number;
}

/**
 * The stock client retries by itself and reports a retry count when no response arrived, but not when a response was
 * cut off. A request that the network duplicates can be distinguished from a deliberate repetition only by a key.
 */
const FAULTS: Readonly<Record<Sender, readonly Fault[]>> = {
  'the stock client': ['refuse', 'drop', 'delay'],
  'the stock client with a key': ['refuse', 'drop', 'delay', 'truncate', 'duplicate'],
  'our client': ['refuse', 'drop', 'delay', 'truncate', 'duplicate'],
};

/**
 * Sends messages through a transport that fails for every second request, and counts the messages in the logs: each
 * must be there once, in the order of sending.
 */
export async function sendThroughFaults(
  plan: FaultPlan,
): Promise<Readonly<Record<string, number>>> {
  const { sender, sessions, sends, seed } = plan;
  // Its connections report the fate of a response, and some texts are repeated on purpose.
  await using on = await openServerFixture(scriptedChat, { server: { retryWindowMs: 0 } });
  const random = randomFrom(seed);
  const faults = FAULTS[sender];
  await using proxy = await FaultyProxy.start(on.url, () =>
    random() < 0.5 ? 'none' : (faults[Math.floor(random() * faults.length)] ?? 'none'),
  );
  const direct = createClient({ baseUrl: on.url });
  const stock = new Anthropic({ baseURL: proxy.url, apiKey: 'none', maxRetries: 10 });
  const ours = createClient({ baseUrl: proxy.url, retries: 10 });
  const { id: agent } = await direct.agents.create({ name: 'A', model: 'gemini-2.5-flash' });
  const texts = Array.from({ length: sends }, (_, n) => (n % 3 === 2 ? 'again' : `message ${n}`));
  await Promise.all(
    Array.from({ length: sessions }, async () => {
      const { id } = await direct.sessions.create({ agent });
      for (const text of texts) {
        if (sender === 'our client') await ours.sessions.send(id, text);
        else if (sender === 'the stock client')
          await stock.beta.sessions.events.send(id, { events: [userMessage(text)] });
        else await sendWithKey(stock, id, text);
      }
      // The turns run one after the other, so it waits for the end of the last one.
      for await (const event of direct.sessions.events(id)) {
        if (event.type !== 'session.status_idle') continue;
        const { status } = await direct.sessions.get(id);
        if (status === 'idle' && (await messagesIn(on.log(id))).length >= sends) break;
      }
      assert.deepEqual(await messagesIn(on.log(id)), texts);
    }),
  );
  return Object.fromEntries(proxy.done);
}

/** If a response is cut off, the caller gets an error and repeats the request under the same key. */
async function sendWithKey(stock: Anthropic, id: string, text: string): Promise<void> {
  const headers = { 'idempotency-key': globalThis.crypto.randomUUID() };
  for (;;) {
    try {
      await stock.beta.sessions.events.send(id, { events: [userMessage(text)] }, { headers });
      return;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

async function messagesIn(
  log: ReturnType<Awaited<ReturnType<typeof openServerFixture>>['log']>,
): Promise<readonly string[]> {
  return (await log).flatMap((event) =>
    event.type === 'user.message' ? [contentText(event.content)] : [],
  );
}

/** Pseudo-random numbers from 0 to 1 that are the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
