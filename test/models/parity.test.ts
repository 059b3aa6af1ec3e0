import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { z } from 'zod';
import { agent } from '../../src/agents/index.ts';
import type { AgentDefinition, ContextPolicy } from '../../src/agents/index.ts';
import type { Content, LogEvent, PartialEvent } from '../../src/core/index.ts';
import type { Model } from '../../src/models/index.ts';
import { SimulatedClock } from '../../src/net/index.ts';
import { openRuntime } from '../../src/runtime/index.ts';
import type { Session, Turn } from '../../src/runtime/index.ts';
import { tool } from '../../src/tools/index.ts';
import { openWireModel, type WireModel } from './wire-model.ts';
import { wireFormats } from './wire/wire-formats.ts';
import type { WireTurn } from './wire/wire-turn.ts';

const searchTool = tool({
  name: 'web_search',
  description: 'Searches the web.',
  parameters: z.object({ query: z.string(), limit: z.number().int().optional() }),
  readOnly: true,
  execute: ({ query }) => ({ found: `about ${query}` }),
});

const eraseTool = tool({
  name: 'erase',
  description: 'Erases a file.',
  parameters: z.object({ path: z.string() }),
  needsApproval: true,
  execute: () => ({ erased: true }),
});

function assistantOn(
  { model }: WireModel,
  more: Partial<AgentDefinition> = {},
): ReturnType<typeof agent> {
  return agent({
    name: 'assistant',
    model,
    instruction: 'Be brief.',
    tools: [searchTool, eraseTool],
    modelAttempts: 1,
    ...more,
  });
}

/** A logged event without the parts that differ by provider: ids, signatures, metadata. */
function normalizeEvent(event: LogEvent): unknown {
  const { at: _at, invocationId: _invocationId, messageId: _messageId, ...rest } = withIds(event);
  const {
    providerMetadata: _metadata,
    durationMs: _durationMs,
    usage: _usage,
    ...remainder
  } = rest;
  return 'content' in remainder
    ? { ...remainder, content: plain(remainder['content'] as Content) }
    : remainder;
}

function withIds(event: LogEvent): Record<string, unknown> {
  return { ...event };
}

function plain({ role, parts }: Content): unknown {
  return {
    role,
    parts: parts
      .map((part) => withoutProviderNotes({ ...part }))
      .filter((part) => !('thought' in part)),
  };
}

function withoutProviderNotes(part: Record<string, unknown>): Record<string, unknown> {
  const { thoughtSignature: _signature, ...remainder } = part;
  if (!('functionCall' in remainder)) return remainder;
  const { providerId: _providerId, ...call } = remainder['functionCall'] as Record<string, unknown>;
  return { functionCall: call };
}

async function collectEvents(turn: Turn): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of turn) if (isCommitted(event)) events.push(event);
  return events;
}

function isCommitted(event: LogEvent | PartialEvent): event is LogEvent {
  return 'seq' in event;
}

async function readLog(session: Session): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for await (const event of session.events(0, { follow: false })) {
    if (isCommitted(event)) events.push(event);
  }
  return events;
}

describe('F-8: the same agent on all wire formats', () => {
  const turns: readonly WireTurn[] = [
    {
      thinking: 'I must look.',
      thoughtSignature: 'c2VhbGVk',
      text: 'I will search.',
      toolCalls: [
        { name: 'web_search', args: { query: 'petri nets', limit: 3 } },
        { name: 'web_search', args: { query: 'journals' } },
        { name: 'no_such_tool', args: {} },
      ],
      usage: { inputTokens: 40, outputTokens: 12, totalTokens: 52, cacheReadTokens: 8 },
    },
    { text: 'Both were found.', usage: { inputTokens: 90, outputTokens: 5, totalTokens: 95 } },
  ];

  async function runOn(format: (typeof wireFormats)[number]): Promise<readonly LogEvent[]> {
    await using wire = await openWireModel(format, turns);
    await using runtime = await openRuntime({ agents: [assistantOn(wire)] });
    const session = await runtime.session('f-8');
    const events = await collectEvents(session.send('Search.', { messageId: 'message-1' }));
    assert.deepEqual(events, await readLog(session));
    assert.equal(wire.server.requests.length, 2);
    return events;
  }

  it('produces the same events, content and usage', async () => {
    const logs = await Promise.all(wireFormats.map(runOn));
    const [first = []] = logs;
    assert.deepEqual(
      first.map(({ type }) => type),
      [
        'user.message',
        'turn.started',
        'agent.message',
        'tool.call',
        'tool.call',
        'tool.call',
        'tool.result',
        'tool.result',
        'tool.result',
        'agent.message',
        'turn.ended',
      ],
    );
    for (const [i, log] of logs.entries()) {
      const name = wireFormats[i]?.name;
      assert.deepEqual(log.map(normalizeEvent), first.map(normalizeEvent), name);
      assert.deepEqual(readUsage(log), {
        inputTokens: 130,
        outputTokens: 17,
        totalTokens: 147,
        cacheReadTokens: 8,
      });
    }
  });

  it('produces the same events when the provider is overloaded and truncates an answer', async () => {
    const failingTurns: readonly WireTurn[] = [
      { error: { kind: 'overloaded', retryAfterMs: 3000 } },
      { text: 'Not all of', cut: 'clean' },
      { text: 'This is it.' },
    ];
    const logs = await Promise.all(
      wireFormats.map(async (format) => {
        await using wire = await openWireModel(format, failingTurns);
        const clock = new SimulatedClock(1_000_000);
        const agents = [assistantOn(wire, { modelAttempts: 3 })];
        await using runtime = await openRuntime({ agents, clock });
        const session = await runtime.session('f-8');
        const answering = collectEvents(session.send('Search.', { messageId: 'message-1' }));
        const retries = [3000, 2000];
        for (const [tried, waitMs] of retries.entries()) {
          const due = await waitForRetry(session, clock, tried + 1, wire);
          assert.equal(due, waitMs, format.name);
          clock.advance(waitMs);
        }
        // Awaited here, because the runtime is disposed on return.
        return await answering;
      }),
    );
    const [first = []] = logs;
    assert.deepEqual(
      first.map((event) =>
        event.type === 'model.attempt' ? `attempt ${event.attempt}` : event.type,
      ),
      [
        'user.message',
        'turn.started',
        'turn.rescheduled',
        'attempt 2',
        'turn.rescheduled',
        'attempt 3',
        'agent.message',
        'turn.ended',
      ],
    );
    for (const [i, log] of logs.entries()) {
      assert.deepEqual(
        log.map(withoutErrorText),
        first.map(withoutErrorText),
        wireFormats[i]?.name,
      );
    }
  });

  it('streams each delta without waiting for the next', async () => {
    for (const format of wireFormats) {
      const deltas = ['one ', 'two ', 'three ', 'four'];
      await using wire = await openWireModel(format, [{ deltas, held: true }]);
      await using runtime = await openRuntime({ agents: [assistantOn(wire)] });
      const session = await runtime.session('f-8');
      const seen: string[] = [];
      // The server holds each delta back until the previous one was received.
      wire.server.release();
      for await (const event of session.send('Count.')) {
        if (event.type !== 'partial') continue;
        seen.push(event.text);
        wire.server.release();
      }
      assert.deepEqual(seen, deltas, format.name);
    }
  });

  /**
   * Waits for this number of requests, and returns the delay until the next one in milliseconds.
   */
  async function waitForRetry(
    session: Session,
    clock: SimulatedClock,
    requests: number,
    { server }: WireModel,
  ): Promise<number> {
    for (;;) {
      const { nextDueAt } = await session.status();
      if (server.requests.length === requests && nextDueAt !== null) {
        const wait = nextDueAt - clock.now();
        // The time limit of the call is due later than any retry.
        if (wait <= 30_000) return wait;
      }
      await breath();
    }
  }

  /** A normalized event without the provider's error text. */
  function withoutErrorText(event: LogEvent): unknown {
    return event.type === 'model.attempt' || event.type === 'turn.rescheduled'
      ? { ...event, at: 0, error: { code: event.error?.code } }
      : normalizeEvent(event);
  }

  function readUsage(log: readonly LogEvent[]): unknown {
    return log.flatMap((event) => (event.type === 'turn.ended' ? [event.usage] : []))[0];
  }
});

/** Replaces everything before the last turn by one message, as a summary would. */
const summarize: ContextPolicy = (contents) => {
  const lastTurn = contents.findLastIndex(({ role }) => role === 'user');
  const text = `(Before: ${lastTurn} messages.)`;
  return lastTurn === 0
    ? contents
    : [{ role: 'user', parts: [{ text }] }, ...contents.slice(lastTurn)];
};

/** The context policies, each with the maximum number of contents in a request. */
const contextPolicies: readonly (readonly [
  name: string,
  definition: Partial<AgentDefinition>,
  mostMessages: number,
])[] = [
  ['untrimmed', {}, Infinity],
  ['trimmed to a budget', { context: { maxTokens: 500 } }, 20],
  [
    'trimmed to its first message and the last round',
    { context: { maxTokens: 1, keepFirst: true } },
    4,
  ],
  ['compacted', { context: summarize }, 8],
];

describe('a long conversation on all providers', () => {
  for (const format of wireFormats)
    for (const [name, definition, mostMessages] of contextPolicies)
      it(`twelve turns with calls, a denial and an interrupt succeed on ${format.name}, ${name}`, () =>
        playOn(format, definition, mostMessages));

  async function playOn(
    format: (typeof wireFormats)[number],
    definition: Partial<AgentDefinition>,
    mostMessages: number,
  ): Promise<void> {
    await using wire = await openWireModel(format, longConversation());
    let shown = 0;
    const model: Model = {
      name: wire.model.name,
      generate: (request, context) => {
        shown = Math.max(shown, request.contents.length);
        return wire.model.generate(request, context);
      },
    };
    const assistant = assistantOn({ ...wire, model }, definition);
    await using runtime = await openRuntime({ agents: [assistant] });
    const session = await runtime.session('long');
    for (let turn = 1; turn <= 12; turn++) {
      const events = await playTurn(session, turn);
      const last = events.at(-1);
      const stopReason = last?.type === 'turn.ended' ? last.stopReason : last?.type;
      assert.equal(stopReason, turn === 7 ? 'interrupted' : 'end_turn', `turn ${turn}`);
    }
    const errors = (await readLog(session)).filter(({ type }) => type === 'error');
    assert.deepEqual(errors, []);
    const texts = (await readLog(session)).flatMap((event) =>
      event.type === 'tool.result' ? [event.outcome] : [],
    );
    assert.ok(texts.includes('denied') && texts.includes('not_found') && texts.includes('invalid'));
    const interrupted = wire.server.requests.map(({ closed }) => closed);
    const ends = await Promise.all(interrupted);
    assert.equal(
      ends.filter((end) => end === 'by the client').length,
      1,
      'only the interrupted request is closed by the client',
    );
    assert.ok(shown <= mostMessages, `${shown} messages were shown`);
    if (mostMessages === Infinity) assert.ok(shown > 30, `${shown} messages were shown`);
  }

  async function playTurn(session: Session, turn: number): Promise<readonly LogEvent[]> {
    const sent = session.send(`Message ${turn}`);
    if (turn === 7) {
      for await (const event of sent) if (event.type === 'partial') await session.interrupt();
      return readLog(session);
    }
    const events = await collectEvents(sent);
    const [waiting] = await session.pending();
    if (waiting === undefined) return events;
    return collectEvents(session.deny(waiting.callId, { message: 'Not that one.' }));
  }

  function longConversation(): readonly WireTurn[] {
    const withThinking = { thinking: 'Hm.', thoughtSignature: 'c2VhbGVk' };
    const search = (query: string) => ({ name: 'web_search', args: { query } });
    return [
      { ...withThinking, text: 'Hello.' },
      { ...withThinking, toolCalls: [search('a'), search('b')] },
      { ...withThinking, text: 'Found a and b.' },
      {
        ...withThinking,
        text: 'I will erase.',
        toolCalls: [{ name: 'erase', args: { path: 'x' } }],
      },
      { text: 'Then not.' },
      { ...withThinking, toolCalls: [{ name: 'no_such_tool' }, { name: 'web_search', args: {} }] },
      { ...withThinking, toolCalls: [search('c')] },
      { ...withThinking, toolCalls: [{ name: 'web_search', malformedArgs: '{"query' }] },
      { text: 'That was hard.' },
      { text: '' },
      { ...withThinking, text: 'Six.' },
      { text: 'Seven is never', hangs: 'after' },
      { ...withThinking, toolCalls: [search('d')], text: 'Looking.' },
      { ...withThinking, text: 'Found d.' },
      { text: 'Nine.' },
      { text: 'Ten.' },
      { ...withThinking, toolCalls: [search('e'), search('f'), search('g')] },
      { text: 'Found them.' },
      { text: 'Twelve.' },
    ];
  }
});
