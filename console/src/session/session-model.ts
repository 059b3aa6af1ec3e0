import { batch, computed, signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import { parseRecords } from '../../../src/net/journal/index.ts';
import type { JournalRecord, Marking } from '../../../src/net/journal/index.ts';
import { ApiError } from '../../../src/client/index.ts';
import { delay } from '../../../src/client/delay.ts';
import type { ConsoleClient } from '../api/console-client.ts';
import type { SessionEvent, SessionForkPoint, SessionNet, SessionRow } from '../api/types.ts';
import { untilReached } from '../api/until-reached.ts';
import { batched } from '../state/batched.ts';
import { toChat } from './chat-items.ts';
import type { ChatState } from './chat-items.ts';
import { JournalHistory } from './journal-history.ts';
import { serialized } from './serialized.ts';

/** An answer of the model while it is generated. */
export interface Preview {
  readonly id: string;
  readonly type: 'agent.message' | 'agent.thinking';
  readonly text: string;
}

/** What is shown of a session: at the record `at`, or live. */
export interface Moment {
  readonly record: number;
  readonly isLive: boolean;
  readonly marking: Marking;
  readonly current: JournalRecord | undefined;
}

/** The source of what a session screen shows. A file has no live part. */
export interface SessionModel {
  readonly id: string;
  readonly session: ReadonlySignal<SessionRow | undefined>;
  readonly events: ReadonlySignal<readonly SessionEvent[]>;
  readonly previews: ReadonlySignal<readonly Preview[]>;
  readonly history: JournalHistory;
  /** The number of the last record. It changes when records arrive. */
  readonly last: ReadonlySignal<number>;
  readonly net: ReadonlySignal<SessionNet | undefined>;
  /** Why there is no net. Undefined: there is one, or it is being read. */
  readonly noNet: ReadonlySignal<string | undefined>;
  readonly forkPoints: ReadonlySignal<readonly SessionForkPoint[]>;
  readonly error: ReadonlySignal<Error | undefined>;
  /** The record to show. Undefined: the last one, as it changes. */
  readonly at: Signal<number | undefined>;
  readonly moment: ReadonlySignal<Moment>;
  readonly chat: ReadonlySignal<ChatState>;
  /** How many events the chat is read from, at most. */
  readonly chatLength: Signal<number>;
  /** True: it is a file, which nothing can be sent to. */
  readonly isFile: boolean;
}

/** The parts of a model that do not follow from the others. */
export type SessionSource = Omit<SessionModel, 'at' | 'moment' | 'chat' | 'chatLength'>;

/** A page with thousands of messages would be slow, and nobody reads them at once. */
const CHAT_LENGTH = 150;
const CHAT_MS = 120;

/** Adds what follows from the records and events: the moment that is shown, and its chat. */
export function withMoment(source: SessionSource, start?: number): SessionModel {
  const at = signal(start);
  const moment = computed((): Moment => {
    const last = source.last.value;
    const record = Math.min(at.value ?? last, last);
    const { history } = source;
    const isLive = at.value === undefined;
    return { record, isLive, marking: history.markingAt(record), current: history.record(record) };
  });
  const upToSeq = computed(() =>
    at.value === undefined ? Infinity : lastSeqAt(source.forkPoints.value, moment.value.record),
  );
  const chatLength = signal(CHAT_LENGTH);
  // Dragging moves the net with each frame. The chat follows a little later.
  const chatSeq = signal(upToSeq.peek());
  const follow = batched(() => {
    chatSeq.value = upToSeq.peek();
  }, CHAT_MS);
  upToSeq.subscribe(follow);
  const chat = computed(() =>
    toChat(source.events.value, { upToSeq: chatSeq.value, most: chatLength.value }),
  );
  return { ...source, at, moment, chat, chatLength };
}

/** The last entry of the log that was written when a record was made. */
export function lastSeqAt(points: readonly SessionForkPoint[], record: number): number {
  return points.findLast((point) => point.record <= record)?.up_to_seq ?? 0;
}

/** A reader sees no difference to each frame, and the Markdown of an answer is parsed less often. */
const PREVIEW_MS = 60;

/** A session without messages has a journal too. */
const MOST_CHAT_WAIT_MS = 400;

/** Between two reads of the same: scrubbing and streaming share the limit of requests. */
const PAUSE_MS = 400;

/** Follows a session until the signal aborts. */
export function followSession(
  client: ConsoleClient,
  id: string,
  { aborted, at }: { readonly aborted: AbortSignal; readonly at?: number | undefined },
): SessionModel {
  const session = signal<SessionRow | undefined>(undefined);
  const events = signal<readonly SessionEvent[]>([]);
  const previews = signal<readonly Preview[]>([]);
  const last = signal(0);
  const net = signal<SessionNet | undefined>(undefined);
  const forkPoints = signal<readonly SessionForkPoint[]>([]);
  const error = signal<Error | undefined>(undefined);
  const noNet = signal<string | undefined>(undefined);
  const history = new JournalHistory();
  const fail = (cause: unknown): void => {
    if (aborted.aborted) return;
    // The messages are shown without the agent.
    if (cause instanceof ApiError && cause.errorCode === 'unknown_agent') {
      noNet.value = cause.message;
      readEvents();
      return;
    }
    error.value = cause instanceof Error ? cause : new Error(String(cause));
  };
  const forever = { signal: aborted, reconnects: Infinity };

  // One read after another: the answer to an earlier one never replaces that to a later one.
  const readSession = serialized(async () => {
    session.value = await untilReached(async () => client.sessions.get(id), aborted);
    await delay(PAUSE_MS, aborted);
  }, fail);
  // A session whose agent is not known cannot be followed.
  const readEvents = serialized(async () => {
    events.value = await untilReached(
      async () => Array.fromAsync(client.sessions.listEvents(id, { limit: 1000 })),
      aborted,
    );
  }, fail);
  const readNet = serialized(async () => {
    net.value = await untilReached(async () => client.sessions.net(id), aborted);
  }, fail);

  // The messages of a long session are shown before its journal is read, which is much larger.
  const chatIsShown = Promise.withResolvers<undefined>();
  const followEvents = async (): Promise<void> => {
    const log: SessionEvent[] = [];
    const open = new Map<string, Preview>();
    const publish = batched(() => {
      // Together: a message replaces its preview.
      batch(() => {
        if (events.value.length !== log.length) events.value = [...log];
        previews.value = [...open.values()];
      });
      chatIsShown.resolve(undefined);
    });
    const publishPreviews = batched(() => {
      previews.value = [...open.values()];
    }, PREVIEW_MS);
    const stream = client.sessions.events(id, {
      ...forever,
      after: 0,
      previews: ['agent.message', 'agent.thinking'],
    });
    for await (const event of stream) {
      if (event.type === 'event_start')
        open.set(event.event.id, { id: event.event.id, type: event.event.type, text: '' });
      else if (event.type === 'event_delta') {
        const preview = open.get(event.event_id);
        if (preview !== undefined)
          open.set(preview.id, { ...preview, text: preview.text + event.delta.content.text });
      } else if ('seq' in event) {
        log.push(event);
        open.delete(event.id);
        // A preview that was cut off has no event of its own: the end of its turn removes it.
        if (event.type.startsWith('session.status_')) {
          open.clear();
          readSession();
        }
        publish();
      }
      publishPreviews();
    }
  };

  const readForkPoints = serialized(async () => {
    const after = forkPoints.value.at(-1)?.up_to_seq;
    const query = { limit: 1000, ...(after !== undefined && { after }) };
    const more = await untilReached(
      async () => Array.fromAsync(client.sessions.forkPoints(id, query)),
      aborted,
    );
    const known = new Set(forkPoints.value.map((point) => point.up_to_seq));
    const added = more.filter((point) => !known.has(point.up_to_seq));
    if (added.length > 0) forkPoints.value = [...forkPoints.value, ...added];
    await delay(PAUSE_MS, aborted);
  }, fail);

  const followRecords = async (): Promise<void> => {
    await Promise.race([chatIsShown.promise, delay(MOST_CHAT_WAIT_MS, aborted)]);
    const publish = batched(() => {
      last.value = history.last;
      readForkPoints();
    });
    const stream = client.sessions.followRecords(id, { ...forever, values: 'full' });
    let hash = '';
    for await (const { stored, step, net_hash } of stream) {
      const [record] = parseRecords([stored]);
      if (record === undefined) continue;
      history.append(record, step);
      if (net_hash !== undefined && net_hash !== hash) {
        hash = net_hash;
        readNet();
      }
      publish();
    }
  };

  readSession();
  // Before the first message there is no record that names a net.
  readNet();
  for (const run of [followEvents, followRecords]) run().catch(fail);
  const source = { id, session, events, previews, history, last, net, noNet, forkPoints, error };
  return withMoment({ ...source, isFile: false }, at);
}
