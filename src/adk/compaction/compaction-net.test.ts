import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { ConversationItem } from '../../agents/index.ts';
import { contentText } from '../../core/index.ts';
import type { Content, Event } from '../../core/index.ts';
import { ScriptedModel } from '../../models/index.ts';
import type { ModelRequest } from '../../models/index.ts';
import { findDueCompaction } from './compaction-net.ts';
import {
  App,
  BaseAgent,
  BaseEventsSummarizer,
  BasePlugin,
  InMemoryRunner,
  InMemorySessionService,
  LlmAgent,
  Runner,
} from '../index.ts';
import type { EventsCompactionConfig, SessionService } from '../index.ts';

const sessionIds = { userId: 'u1', sessionId: 's1' } as const;

class Counting extends BaseEventsSummarizer {
  readonly received: (readonly Event[])[] = [];

  override async summarizeEvents({
    events,
  }: {
    readonly events: readonly Event[];
  }): Promise<Event | undefined> {
    this.received.push(events);
    const [first] = events;
    return (
      first && {
        ...first,
        content: { role: 'user', parts: [{ text: `S${this.received.length}` }] },
      }
    );
  }
}

function createApp(
  eventsCompactionConfig: EventsCompactionConfig | undefined,
  requests: ModelRequest[] = [],
  plugins: readonly BasePlugin[] = [],
): App {
  const model = new ScriptedModel((request) => {
    if (request.tools.length === 0 && request.instruction?.startsWith('The following') === true)
      return { text: 'all in short' };
    requests.push(request);
    return { text: `to ${contentText(request.contents.at(-1) ?? { role: 'user', parts: [] })}` };
  });
  return new App({
    name: 'demo',
    rootAgent: new LlmAgent({ name: 'chat', model }),
    plugins,
    eventsCompactionConfig,
  });
}

const requestTexts = ({ contents }: ModelRequest): readonly string[] => contents.map(contentText);

/** Runs messages one after the other and waits until the session is idle after each. */
async function runMessages(runner: Runner, ...messages: readonly string[]): Promise<void> {
  for (const newMessage of messages) {
    await runner.run({ ...sessionIds, newMessage });
    await untilIdle(runner.sessionService);
  }
}

/** A summary is made while turns may run, so only the log shows when it is finished. */
async function untilIdle(service: SessionService): Promise<void> {
  const store = await service.store();
  const key = { appName: 'demo', ...sessionIds };
  for (;;) {
    const row = await store.find(key);
    if (row?.inFlight === 0 && row.status === 'idle' && !row.inboxPending) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('older events', () => {
  it('are replaced in model requests by a summary after a number of invocations, and the latest are kept verbatim', async () => {
    const modelRequests: ModelRequest[] = [];
    const summarizer = new Counting();
    const app = createApp({ compactionInterval: 3, overlapSize: 1, summarizer }, modelRequests);
    await using runner = new InMemoryRunner({ app, autoCreateSession: true });
    await runMessages(runner, '1', '2', '3', '4', '5', '6', '7');
    assert.deepEqual(modelRequests.map(requestTexts).slice(2), [
      ['1', 'to 1', '2', 'to 2', '3'],
      ['S1', '3', 'to 3', '4'],
      ['S1', '3', 'to 3', '4', 'to 4', '5'],
      ['S1', '3', 'to 3', '4', 'to 4', '5', 'to 5', '6'],
      ['S2', '6', 'to 6', '7'],
    ]);
    assert.deepEqual(
      summarizer.received.map((events) =>
        events.map(({ author, content }) => `${author}: ${contentText(content ?? never())}`),
      ),
      [
        ['user: 1', 'chat: to 1', 'user: 2', 'chat: to 2'],
        ['user: S1', 'user: 3', 'chat: to 3', 'user: 4', 'chat: to 4', 'user: 5', 'chat: to 5'],
      ],
    );
  });

  it('stay in the log, with an event that names the range of the summary', async () => {
    const app = createApp({ compactionInterval: 2, summarizer: new Counting() });
    await using runner = new InMemoryRunner({ app, autoCreateSession: true });
    await runMessages(runner, '1', '2', '3');
    const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    const events = session?.events ?? [];
    const texts = events.map(({ content }) => (content === undefined ? '-' : contentText(content)));
    assert.deepEqual(texts, ['1', 'to 1', '2', 'to 2', '-', '3', 'to 3']);
    const compacted = events[4];
    assert.deepEqual(compacted?.actions.compaction, {
      startTimestamp: events[0]?.timestamp,
      endTimestamp: compacted?.timestamp,
      compactedContent: { role: 'user', parts: [{ text: 'S1' }] },
    });
    assert.ok((compacted?.timestamp ?? 0) >= (events[3]?.timestamp ?? Infinity));
    assert.equal(compacted?.invocationId, events[3]?.invocationId);
  });

  it('are summarized by the root agent’s model by default', async () => {
    const modelRequests: ModelRequest[] = [];
    await using runner = new InMemoryRunner({
      app: createApp({ compactionInterval: 1 }, modelRequests),
      autoCreateSession: true,
    });
    await runMessages(runner, '1', '2');
    assert.deepEqual(requestTexts(modelRequests[1] ?? never()), [
      '[Previous Context Summary]:\nall in short',
      '2',
    ]);
    const none = new App({
      name: 'demo',
      rootAgent: new BaseAgent({ name: 'none' }),
      eventsCompactionConfig: { compactionInterval: 1 },
    });
    await using refused = new InMemoryRunner({ app: none, autoCreateSession: true });
    await assert.rejects(refused.run({ ...sessionIds, newMessage: 'x' }), /summarizer/);
  });

  it('are summarized above a token threshold, and a number of events is retained', async () => {
    const modelRequests: ModelRequest[] = [];
    const summarizer = new Counting();
    const config = {
      compactionInterval: 100,
      tokenThreshold: 150,
      eventRetentionSize: 2,
      summarizer,
    };
    await using runner = new InMemoryRunner({
      app: createApp(config, modelRequests),
      autoCreateSession: true,
    });
    const long = 'x'.repeat(300);
    await runMessages(runner, 'a', 'b', long, 'c');
    assert.equal(summarizer.received[0]?.length, 4);
    assert.deepEqual(requestTexts(modelRequests.at(-1) ?? never()), [
      'S1',
      long,
      `to ${long}`,
      'c',
    ]);
  });

  it('are kept when the summary fails or is empty; the log has the reason, and the next turn tries again', async () => {
    const modelRequests: ModelRequest[] = [];
    let times = 0;
    class Failing extends BaseEventsSummarizer {
      override async summarizeEvents(): Promise<Event | undefined> {
        if (++times === 1) throw new Error('no summary today');
        return undefined;
      }
    }
    const app = createApp({ compactionInterval: 1, summarizer: new Failing() }, modelRequests);
    await using runner = new InMemoryRunner({ app, autoCreateSession: true });
    await runMessages(runner, '1', '2', '3');
    assert.equal(times, 3);
    assert.deepEqual(requestTexts(modelRequests.at(-1) ?? never()), [
      '1',
      'to 1',
      '2',
      'to 2',
      '3',
    ]);
    const session = await runner.sessionService.getSession({ appName: 'demo', ...sessionIds });
    const errors = (session?.events ?? []).filter(({ errorCode }) => errorCode !== undefined);
    assert.deepEqual(
      errors.map(({ errorCode }) => errorCode),
      ['compaction_failed'],
    );
    assert.match(errors[0]?.errorMessage ?? '', /no summary today/);
  });

  it('are summarized by the first plugin that returns a summary, and a plugin that throws fails the compaction', async () => {
    const modelRequests: ModelRequest[] = [];
    const summarizer = new Counting();
    class Own extends BasePlugin {
      override async beforeCompactionCallback({
        events,
      }: {
        readonly events: readonly Event[];
      }): Promise<Content | undefined> {
        return { role: 'user', parts: [{ text: `${events.length} events` }] };
      }
    }
    const app = createApp({ compactionInterval: 1, summarizer }, modelRequests, [
      new BasePlugin('none'),
      new Own('own'),
    ]);
    await using runner = new InMemoryRunner({ app, autoCreateSession: true });
    await runMessages(runner, '1', '2');
    assert.deepEqual(
      [requestTexts(modelRequests[1] ?? never()), summarizer.received.length],
      [['2 events', '2'], 0],
    );
  });

  it('are also summarized in an existing session, and in one that a runner without compaction started', async () => {
    const modelRequests: ModelRequest[] = [];
    const plain = new InMemoryRunner({
      app: createApp(undefined, modelRequests),
      autoCreateSession: true,
    });
    const { sessionService } = plain;
    await sessionService.createSession({ appName: 'demo', ...sessionIds, state: { a: 1 } });
    await runMessages(plain, '1', '2');
    const app = createApp({ compactionInterval: 2, summarizer: new Counting() }, modelRequests);
    await using runner = new Runner({ app, sessionService });
    await runMessages(runner, '3', '4');
    assert.deepEqual(requestTexts(modelRequests.at(-1) ?? never()), ['S1', '4']);
    await plain.close();
  });

  it('are kept when the runner closes during a summary: nothing is logged, and the next runner makes one', async () => {
    const modelRequests: ModelRequest[] = [];
    const started = Promise.withResolvers<void>();
    class Endless extends BaseEventsSummarizer {
      override async summarizeEvents({
        signal,
      }: {
        readonly signal: AbortSignal;
      }): Promise<Event | undefined> {
        started.resolve();
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        );
      }
    }
    const sessionService = new InMemorySessionService();
    const first = new Runner({
      app: createApp({ compactionInterval: 1, summarizer: new Endless() }, modelRequests),
      sessionService,
      autoCreateSession: true,
    });
    await first.run({ ...sessionIds, newMessage: '1' });
    await started.promise;
    await first.close();
    const app = createApp({ compactionInterval: 1, summarizer: new Counting() }, modelRequests);
    await using next = new Runner({ app, sessionService });
    await runMessages(next, '2', '3');
    // The summary may be applied before or after the second message.
    const requestText = requestTexts(modelRequests.at(-1) ?? never());
    assert.match(requestText[0] ?? '', /^S\d$/);
    assert.equal(requestText.at(-1), '3');
    const session = await sessionService.getSession({ appName: 'demo', ...sessionIds });
    assert.ok((session?.events ?? []).every(({ errorCode }) => errorCode === undefined));
  });

  it('keep their summary after a rewind of later events, and summarized events cannot be rewound', async () => {
    const modelRequests: ModelRequest[] = [];
    const started = Promise.withResolvers<void>();
    const summaryAllowed = Promise.withResolvers<void>();
    class Slow extends BaseEventsSummarizer {
      override async summarizeEvents({
        events,
      }: {
        readonly events: readonly Event[];
      }): Promise<Event | undefined> {
        started.resolve();
        await summaryAllowed.promise;
        const [first] = events;
        return first && { ...first, content: { role: 'user', parts: [{ text: 'late' }] } };
      }
    }
    const app = createApp({ compactionInterval: 2, summarizer: new Slow() }, modelRequests);
    await using runner = new InMemoryRunner({ app, autoCreateSession: true });
    await runner.run({ ...sessionIds, newMessage: '1' });
    const [second] = await runner.run({ ...sessionIds, newMessage: '2' });
    await started.promise;
    const rewindBeforeInvocationId = second?.invocationId ?? '';
    await runner.rewind({ ...sessionIds, rewindBeforeInvocationId });
    summaryAllowed.resolve();
    await untilIdle(runner.sessionService);
    await runMessages(runner, '3');
    assert.deepEqual(requestTexts(modelRequests.at(-1) ?? never()), ['1', 'to 1', '3']);
    await assert.rejects(runner.rewind({ ...sessionIds, rewindBeforeInvocationId: 'e-none' }), {
      code: 'invalid_input',
    });
  });
});

describe('the events to compact', () => {
  const line = (
    invocationId: string,
    text: string,
    role: Content['role'] = 'user',
  ): ConversationItem => ({
    invocationId,
    content: { role, parts: [{ text }] },
  });

  it('are whole invocations, and a call with its results', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(3), { maxLength: 12 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(3),
        fc.nat(6),
        fc.boolean(),
        (sizes, compactionInterval, overlapSize, eventRetentionSize, isLong) => {
          const items = sizes.flatMap((size, index): readonly ConversationItem[] => {
            const id = `e-${index}`;
            const rounds = Array.from({ length: size }, (_, round): readonly ConversationItem[] => [
              {
                invocationId: id,
                content: {
                  role: 'model',
                  parts: [{ functionCall: { id: `${index}/${round}`, name: 'f', args: {} } }],
                },
              },
              {
                invocationId: id,
                content: {
                  role: 'tool',
                  parts: [
                    { functionResponse: { id: `${index}/${round}`, name: 'f', response: {} } },
                  ],
                },
              },
            ]);
            return [
              line(id, isLong ? 'long '.repeat(100) : 'short'),
              ...rounds.flat(),
              line(id, 'done', 'model'),
            ];
          });
          const due = findDueCompaction(
            { compactionInterval, overlapSize, tokenThreshold: 300, eventRetentionSize },
            items,
          );
          if (due === undefined) return;
          const before = items.slice(0, due.length);
          const after = items.slice(due.length);
          assert.equal(before.at(-1)?.invocationId, due.lastInvocationId);
          const calls = before
            .flatMap(({ content }) => content.parts)
            .filter((part) => 'functionCall' in part).length;
          const results = before
            .flatMap(({ content }) => content.parts)
            .filter((part) => 'functionResponse' in part).length;
          assert.equal(calls, results);
          if (!isLong && sizes.length < compactionInterval)
            assert.ok(after.length <= eventRetentionSize + 1);
        },
      ),
    );
  });

  it('have validated limits', () => {
    for (const wrong of [
      { compactionInterval: 0 },
      { compactionInterval: 1.5 },
      { compactionInterval: 1, overlapSize: -1 },
      { compactionInterval: 1, tokenThreshold: 10 },
      { compactionInterval: 1, eventRetentionSize: 10 },
    ])
      assert.throws(() => createApp(wrong), { code: 'invalid_input' }, JSON.stringify(wrong));
    assert.doesNotThrow(() =>
      createApp({
        compactionInterval: 10,
        overlapSize: 2,
        tokenThreshold: 50_000,
        eventRetentionSize: 50,
      }),
    );
  });
});

function never(): never {
  throw new Error('It is not there.');
}
