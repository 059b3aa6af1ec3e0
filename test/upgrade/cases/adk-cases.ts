import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { contentText } from '../../../src/core/index.ts';
import type { Content } from '../../../src/core/index.ts';
import { SimulatedClock } from '../../../src/net/index.ts';
import { Runner } from '../../../src/adk/index.ts';
import type { App, Event } from '../../../src/adk/index.ts';
import { StoreSessionService } from '../../../src/adk/sessions/store-session-service.ts';
import { compactingApp, HOUR_MS, RELEASED_AT, releasedApp } from '../released-agents.ts';
import { countedTools, model } from './released-case.ts';
import type { ReleasedCase } from './released-case.ts';

interface Opened {
  /** Runs a message, or resumes an interrupted invocation. */
  readonly run: (message?: string | Content) => Promise<readonly Event[]>;
  /** Reads the stored events. */
  readonly events: () => Promise<readonly Event[]>;
  readonly ran: readonly string[];
}

/** @param afterMs how long after the process died its successor starts */
const createCase = (
  sessionId: string,
  what: string,
  check: (opened: Opened) => Promise<void>,
  {
    afterMs = 1_000,
    createApp = releasedApp,
  }: { readonly afterMs?: number; readonly createApp?: typeof releasedApp } = {},
): ReleasedCase => ({
  name: `ADK session, ${sessionId}: ${what}`,
  check: async (open) => {
    const clock = new SimulatedClock(RELEASED_AT + afterMs);
    const store = await open('adk');
    const sessionService = new StoreSessionService(async () => store, clock);
    const { ran, tools } = countedTools();
    const app: App = createApp(model, tools);
    await using runner = new Runner({ app, sessionService, clock });
    const address = { appName: app.name, userId: 'u', sessionId };
    const events = async (): Promise<readonly Event[]> =>
      (await sessionService.getSession(address))?.events ?? [];
    const run: Opened['run'] = async (newMessage) => {
      if (newMessage !== undefined) return runner.run({ userId: 'u', sessionId, newMessage });
      const invocationId = (await events()).at(-1)?.invocationId ?? '';
      return runner.run({ userId: 'u', sessionId, invocationId });
    };
    await check({ run, events, ran });
  },
});

/** The answer to a pending call. */
function answerTo(id: string, name: string, response: Record<string, string | boolean>): Content {
  return { role: 'user', parts: [{ functionResponse: { id, name, response } }] };
}

/** The id of the call that waits for a result. */
function waitingCall(events: readonly Event[]): string {
  return events.flatMap(({ longRunningToolIds = [] }) => [...longRunningToolIds]).at(-1) ?? '';
}

function responses(events: readonly Event[]): readonly string[] {
  return events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap((part) => ('functionResponse' in part ? [part.functionResponse.name] : []))
    .toSorted();
}

const answered = (events: readonly Event[]): string => contentText(events.at(-1)?.content);

export const adkCases: readonly ReleasedCase[] = [
  createCase('idle', 'answers the next message with the whole conversation', async ({ run }) => {
    assert.equal(answered(await run('say two')), 'Heard 3 messages.');
  }),

  createCase('long', 'continues from its snapshot with the whole conversation', async ({ run }) => {
    assert.equal(answered(await run('say more')), 'Heard 71 messages.');
  }),

  createCase('approval', 'runs the call once it is confirmed', async ({ run, events, ran }) => {
    const callEvent = (await events()).findLast(
      ({ actions }) => Object.keys(actions.requestedToolConfirmations ?? {}).length > 0,
    );
    const [id = ''] = Object.keys(callEvent?.actions.requestedToolConfirmations ?? {});
    const after = await run(answerTo(id, 'delete', { confirmed: true }));
    assert.deepEqual(responses(after), ['delete']);
    assert.equal(ran.filter((name) => name === 'delete').length, 1);
  }),

  createCase('result', 'accepts the result of its pending call', async ({ run, events }) => {
    const after = await run(answerTo(waitingCall(await events()), 'ask', { result: 'yes' }));
    assert.deepEqual(responses(after), ['ask']);
    assert.equal(answered(after), 'Done with 3 messages.');
  }),

  createCase(
    'result',
    'times out when its wait ends',
    async ({ run, events }) => {
      // The session is open now, and its timer is overdue.
      await run();
      while (answered(await events()) === '') await setImmediate();
      assert.deepEqual(responses(await events()), ['ask']);
      assert.equal(answered(await run('say two')), 'Heard 5 messages.');
    },
    { afterMs: HOUR_MS },
  ),

  createCase(
    'retry',
    'calls the model again when the retry is due',
    async ({ run }) => {
      assert.equal(answered(await run()), 'Heard 1 messages.');
    },
    { afterMs: 30_000 },
  ),

  createCase(
    'parallel',
    'applies the crash policy of each call in flight',
    async ({ run, events, ran }) => {
      await run();
      assert.deepEqual(responses(await events()), ['look', 'pay']);
      const after = await run(answerTo(waitingCall(await events()), 'ask', { result: 'yes' }));
      assert.deepEqual(responses(after), ['ask']);
      assert.equal(answered(after), 'Done with 3 messages.');
      assert.deepEqual(ran, ['look']);
    },
  ),

  createCase(
    'compacted',
    'shows the model its summary and what came since',
    async ({ run }) => {
      assert.equal(answered(await run('say four')), 'Heard 6 messages.');
    },
    { createApp: compactingApp },
  ),

  createCase('rewound', 'continues from the point to which it was rewound', async ({ run }) => {
    assert.equal(answered(await run('say three')), 'Heard 3 messages.');
  }),
];
