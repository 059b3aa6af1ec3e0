import { batch, computed, signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import { parseRecords } from '../../../src/net/journal/index.ts';
import type { JournalRecord, Marking } from '../../../src/net/journal/index.ts';
import { ApiError } from '../../../src/client/index.ts';
import { delay } from '../../../src/client/delay.ts';
import type { ConsoleClient } from '../api/console-client.ts';
import type { SessionEvent, SessionForkPoint, SessionNet, SessionRow } from '../api/types.ts';
import { untilReached } from '../api/until-reached.ts';
import { afterPaint, batched } from '../state/batched.ts';
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
  /** As `moment`, but it does not change with each frame while the timeline is dragged. Read it with `readFollowed`. */
  readonly followed: ReadonlySignal<Moment>;
  readonly chat: ReadonlySignal<ChatState>;
  /** How many events the chat is read from, at most. */
  readonly chatLength: Signal<number>;
  /** True: it is a file, which nothing can be sent to. */
  readonly isFile: boolean;
}

/** The parts of a model that do not follow from the others. */
export type SessionSource = Omit<
  SessionModel,
  'at' | 'moment' | 'followed' | 'chat' | 'chatLength'
>;

/** A page with thousands of messages would be slow, and nobody reads them at once. */
const CHAT_LENGTH = 150;
/** While the timeline is dragged, the chat has about as many messages as can be seen. */
const MOVING_CHAT_LENGTH = 24;
/** How often the chat and the inspector change while the timeline is dragged, in milliseconds. */
const FOLLOW_MS = 120;
/** How long the timeline rests before the whole chat is shown, in milliseconds. */
const REST_MS = 250;

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
  // Dragging moves the net with each frame. The chat and the inspector follow a little later.
  const chatSeq = signal(upToSeq.peek());
  const isMoving = signal(false);
  const followed = signal(moment.peek());
  const follow = batched(() => {
    batch(() => {
      chatSeq.value = upToSeq.peek();
      followed.value = moment.peek();
    });
  }, FOLLOW_MS);
  let rest: ReturnType<typeof setTimeout> | undefined;
  at.subscribe(() => {
    // A single step moves too, but it has come to rest before anybody sees the shorter chat.
    clearTimeout(rest);
    if (rest !== undefined) isMoving.value = at.peek() !== undefined;
    rest = setTimeout(() => {
      rest = undefined;
      isMoving.value = false;
    }, REST_MS);
  });
  upToSeq.subscribe(follow);
  moment.subscribe(follow);
  const chat = computed(() => {
    const most = isMoving.value ? Math.min(MOVING_CHAT_LENGTH, chatLength.value) : chatLength.value;
    return toChat(source.events.value, { upToSeq: chatSeq.value, most });
  });
  return { ...source, at, moment, followed, chat, chatLength };
}

/** The moment for what is slow to draw. A marking is only right for the latest moment: they share it. */
export function readFollowed({ followed, moment }: SessionModel): Moment {
  return followed.value.record === moment.peek().record ? followed.value : moment.peek();
}

/** The last entry of the log that was written when a record was made. */
export function lastSeqAt(points: readonly SessionForkPoint[], record: number): number {
  return points.findLast((point) => point.record <= record)?.up_to_seq ?? 0;
}

/** A reader sees no difference to each frame, and the Markdown of an answer is parsed less often. */
const PREVIEW_MS = 60;

/** A hidden page paints nothing, and its journal is read too. */
const MOST_CHAT_WAIT_MS = 400;

/** More than this at once is a part of what was there before: the rest comes at once, and is shown together. */
const CATCH_UP = 50;
const CATCH_UP_MS = 300;

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

  // The last messages of a long session are shown before the rest and its journal are read, which are much larger.
  const chatIsShown = Promise.withResolvers<undefined>();
  const readLastEvents = async (): Promise<void> => {
    const found: SessionEvent[] = [];
    const newest = client.sessions.listEvents(id, { order: 'desc', limit: CHAT_LENGTH });
    for await (const event of newest) if (found.push(event) === CHAT_LENGTH) break;
    events.value = found.toReversed();
  };
  const followEvents = async (): Promise<void> => {
    // An earlier moment needs what was before it.
    if (at === undefined) await untilReached(readLastEvents, aborted);
    const lastShown = events.value.at(-1)?.seq ?? 0;
    afterPaint(() => chatIsShown.resolve(undefined));
    await Promise.race([chatIsShown.promise, delay(MOST_CHAT_WAIT_MS, aborted)]);
    const log: SessionEvent[] = [];
    const open = new Map<string, Preview>();
    const paceOfLog = new CatchUp();
    const publish = batched(
      () => {
        paceOfLog.shown(log.length);
        // Together: a message replaces its preview.
        batch(() => {
          const isComplete = (log.at(-1)?.seq ?? 0) >= lastShown;
          if (isComplete && events.value.length !== log.length) events.value = [...log];
          previews.value = [...open.values()];
        });
      },
      () => paceOfLog.waitMs,
    );
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
    // Before the first message there is no record that names a net.
    readNet();
    const pace = new CatchUp();
    const publish = batched(
      () => {
        pace.shown(history.last);
        last.value = history.last;
        readForkPoints();
      },
      () => pace.waitMs,
    );
    const stream = client.sessions.followRecords(id, { ...forever, values: 'full' });
    let hash = '';
    for await (const { stored, step, net_hash } of stream) {
      const [record] = parseRecords([stored]);
      if (record === undefined) continue;
      history.append(record, step);
      if (net_hash !== undefined && net_hash !== hash) {
        hash = net_hash;
        if (net.value?.hash !== hash) readNet();
      }
      publish();
    }
  };

  for (const run of [followEvents, followRecords]) run().catch(fail);
  readSession();
  const source = { id, session, events, previews, history, last, net, noNet, forkPoints, error };
  return withMoment({ ...source, isFile: false }, at);
}

/** How long to wait before what has arrived is shown: while much arrives, drawing each part of it would only delay it. */
class CatchUp {
  #count = 0;
  waitMs = 0;

  /** @param count how many are shown now */
  shown(count: number): void {
    this.waitMs = count - this.#count > CATCH_UP ? CATCH_UP_MS : 0;
    this.#count = count;
  }
}
