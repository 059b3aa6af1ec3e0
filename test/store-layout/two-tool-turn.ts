import type { Content } from '../../src/core/content/content.ts';
import { deriveCallId, deriveInvocationId } from '../../src/core/identity/ids.ts';
import type { LogEntry, LogEvent } from '../../src/core/events/log-event.ts';
import type { JournalRecord } from '../../src/net/journal/record.ts';
import type { InboxInput, SessionRow, SessionSummary, SettledStep } from '../../src/store/store.ts';

/** A turn of an agent as the store sees it: a message, two parallel tool calls, an answer. */
export interface Turn {
  readonly input: InboxInput;
  readonly dedupeKey: string;
  /** Commit these one after the other. */
  readonly steps: readonly SettledStep[];
}

type Unnumbered<T> = T extends unknown ? Omit<T, 'seq' | 'at'> : never;

const RECORDS = 14;
const EVENTS = 9;

/**
 * The `turn`th turn (from 0) of a session: one message, then four steps with 14 records and 9
 * events in total.
 */
export function twoToolTurn(session: SessionRow, turn: number, at: number): Turn {
  const messageId = `message-${session.uid}-${turn}`;
  const invocationId = deriveInvocationId(messageId);
  const turnId = { invocationId };
  const author = session.agent;
  const calls = [0, 1].map((index) => ({
    id: deriveCallId(invocationId, 0, index),
    name: 'read_file',
    args: { path: `docs/chapter-${index + 1}.md` },
  }));
  const response = { text: 'It was the best of times, it was the worst of times. '.repeat(4) };
  const usage = { inputTokens: 812, outputTokens: 64, totalTokens: 876 };
  const message: Content = {
    role: 'user',
    parts: [{ text: 'What do both chapters have in common?' }],
  };
  const callContent: Content = {
    role: 'model',
    parts: calls.map((functionCall) => ({ functionCall })),
  };
  const resultContent: Content = {
    role: 'tool',
    parts: calls.map(({ id, name }) => ({ functionResponse: { id, name, response } })),
  };
  const answer: Content = {
    role: 'model',
    parts: [{ text: 'Both contrast two cities, and both begin with weather. '.repeat(4) }],
  };
  let record = turn * RECORDS;
  let event = turn * EVENTS;
  let step = turn * 4;

  const settle = (
    records: readonly Unnumbered<JournalRecord>[],
    events: readonly LogEntry[],
    summary: Pick<SessionSummary, 'status' | 'activity' | 'inFlight'>,
  ): SettledStep => ({
    key: session.key,
    uid: session.uid,
    owner: session.owner ?? '',
    epoch: session.epoch,
    step: ++step,
    at,
    records: records.map((one): JournalRecord => ({ seq: ++record, at, ...one })),
    events: events.map((one): LogEvent => ({ seq: ++event, at, ...one })),
    inboxUpTo: turn + 1,
    summary: { ...summary, nextDueAt: null, pending: [], netHash: session.netHash },
  });

  const first = record;
  const ask = (round: number): readonly Unnumbered<JournalRecord>[] => [
    {
      kind: 'started',
      t: 'model.call',
      take: [['model.request', `${first + 2}.0`]],
      pin: { lists: { conversation: [turn * 4 + round, turn * 4 + round] } },
      timeoutAt: at + 120_000,
    },
  ];
  const steps = [
    settle(
      [
        {
          kind: 'injected',
          give: [['session.message', { messageId, content: message }]],
          key: messageId,
        },
        {
          kind: 'fired',
          t: 'turn.start',
          take: [
            ['session.message', `${first + 1}.0`],
            ['turn.permit', `${first}.0`],
          ],
          give: [
            ['model.request', { ...turnId, round: 0 }],
            ['turn.budget', null, { times: 25 }],
          ],
          lists: [{ place: 'conversation', append: [message] }],
        },
        ...ask(0),
      ],
      [
        { type: 'user.message', ...turnId, messageId, author: 'user', content: message },
        { type: 'turn.started', ...turnId },
      ],
      { status: 'running', activity: 'running', inFlight: 1 },
    ),
    settle(
      [
        {
          kind: 'ended',
          t: 'model.call',
          firing: first + 3,
          outcome: 'ok',
          give: [['model.response', { ...turnId, content: callContent, usage }]],
        },
        {
          kind: 'fired',
          t: 'model.route',
          take: [['model.response', `${first + 4}.0`]],
          give: calls.map((call) => ['tool.call', { ...turnId, call }] as const),
          lists: [{ place: 'conversation', append: [callContent] }],
        },
        ...calls.map((_, index) => ({
          kind: 'started' as const,
          t: 'tool.run',
          take: [['tool.call', `${first + 5}.${index}`] as const],
          timeoutAt: at + 60_000,
        })),
      ],
      [
        {
          type: 'agent.message',
          ...turnId,
          author,
          content: callContent,
          usage,
          finishReason: 'stop',
        },
        ...calls.map(({ id, name, args }) => ({
          type: 'tool.call' as const,
          ...turnId,
          author,
          callId: id,
          name,
          args,
          needs: 'nothing' as const,
        })),
      ],
      { status: 'running', activity: 'running', inFlight: 2 },
    ),
    settle(
      [
        ...calls.map(({ id }, index) => ({
          kind: 'ended' as const,
          t: 'tool.run',
          firing: first + 6 + index,
          outcome: 'ok' as const,
          give: [['tool.result', { ...turnId, callId: id, outcome: 'ok', response }] as const],
        })),
        {
          kind: 'fired',
          t: 'tools.join',
          take: [['tool.result', `${first + 8}.0`, `${first + 9}.0`]],
          give: [['model.request', { ...turnId, round: 1 }]],
          lists: [{ place: 'conversation', append: [resultContent] }],
        },
        ...ask(1),
      ],
      calls.map(({ id, name }) => ({
        type: 'tool.result' as const,
        ...turnId,
        author,
        callId: id,
        name,
        outcome: 'ok' as const,
        response,
        durationMs: 12,
      })),
      { status: 'running', activity: 'running', inFlight: 1 },
    ),
    settle(
      [
        {
          kind: 'ended',
          t: 'model.call',
          firing: first + 11,
          outcome: 'ok',
          give: [['model.response', { ...turnId, content: answer, usage }]],
        },
        {
          kind: 'fired',
          t: 'model.route',
          take: [['model.response', `${first + 12}.0`]],
          give: [['turn.done', turnId]],
          lists: [{ place: 'conversation', append: [answer] }],
        },
        {
          kind: 'fired',
          t: 'turn.end',
          take: [
            ['turn.done', `${first + 13}.0`],
            ['turn.budget', `${first + 2}.1`],
          ],
          give: [['turn.permit', null]],
        },
      ],
      [
        { type: 'agent.message', ...turnId, author, content: answer, usage, finishReason: 'stop' },
        { type: 'turn.ended', ...turnId, stopReason: 'end_turn', usage },
      ],
      { status: 'idle', activity: 'idle', inFlight: 0 },
    ),
  ];
  return {
    input: { place: 'session.message', value: { messageId, content: message } },
    dedupeKey: messageId,
    steps,
  };
}
