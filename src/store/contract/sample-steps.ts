import type { LogEvent, SessionKey } from '../../core/index.ts';
import type { JournalRecord } from '../../net/index.ts';
import type {
  CommitResult,
  CommittedStep,
  OwnerId,
  SessionInit,
  SessionRow,
  SessionSummary,
  SettledStep,
  Store,
} from '../store.ts';

// Sessions, and steps that continue them, for the contract cases.

export const AT = 1_700_000_000_000;

export const NET_HASH = 'net-1';

export function sessionKey(
  sessionId: string,
  userId: string = 'ada',
  appName: string = 'app',
): SessionKey {
  return { appName, userId, sessionId };
}

export function summary(more: Partial<SessionSummary> = {}): SessionSummary {
  return {
    status: 'running',
    activity: 'running',
    inFlight: 0,
    nextDueAt: null,
    pending: [],
    netHash: NET_HASH,
    ...more,
  };
}

export async function createSession(
  store: Store,
  owner: OwnerId,
  sessionId: string = 's',
  more: Partial<Pick<SessionInit, 'agent' | 'at' | 'nextDueAt'>> & {
    readonly userId?: string;
  } = {},
): Promise<SessionRow> {
  const { agent = 'assistant', at = AT, userId = 'ada', ...init } = more;
  const key = sessionKey(sessionId, userId);
  const { row } = await store.create(key, { agent, owner, at, netHash: NET_HASH, ...init });
  return row;
}

/** The number of records and events that a session has. */
export interface JournalCursor {
  readonly records: number;
  readonly events: number;
}

export const EMPTY_JOURNAL: JournalCursor = { records: 0, events: 0 };

/** Creates the next step of a session. Default: two records and two events. */
export function nextStep(
  row: SessionRow,
  from: JournalCursor = EMPTY_JOURNAL,
  more: Partial<SettledStep> = {},
): SettledStep {
  const at = more.at ?? row.updatedAt + 1;
  const step = row.head + 1;
  return {
    key: row.key,
    uid: row.uid,
    owner: row.owner ?? '',
    epoch: row.epoch,
    step,
    at,
    records: [fired(from.records + 1, at), fired(from.records + 2, at - 1)],
    events: [
      turnStarted(from.events + 1, at, `e-${step}`),
      turnEnded(from.events + 2, at - 1, `e-${step}`),
    ],
    inboxUpTo: 0,
    summary: summary(),
    ...more,
  };
}

export function fired(seq: number, at: number, lists: boolean = false): JournalRecord {
  const record = {
    seq,
    at,
    kind: 'fired',
    t: 'turn.start',
    take: [['turn.input', `${seq}.0`]],
  } as const;
  if (!lists) return record;
  return { ...record, lists: [{ place: 'conversation', append: [{ n: seq }] }] };
}

export function turnStarted(seq: number, at: number, invocationId: string): LogEvent {
  return { seq, at, type: 'turn.started', invocationId };
}

export function turnEnded(seq: number, at: number, invocationId: string): LogEvent {
  return { seq, at, type: 'turn.ended', invocationId, stopReason: 'end_turn' };
}

/** Commits `count` steps and returns them, with the row after them. */
export async function commitSampleSteps(
  store: Store,
  row: SessionRow,
  count: number,
  from: JournalCursor = EMPTY_JOURNAL,
): Promise<{
  readonly row: SessionRow;
  readonly steps: readonly SettledStep[];
  readonly cursor: JournalCursor;
}> {
  const steps: SettledStep[] = [];
  let { records, events } = from;
  for (let index = 0; index < count; index++) {
    const step = nextStep(
      { ...row, head: row.head + index, updatedAt: row.updatedAt + index },
      { records, events },
    );
    steps.push(step);
    records += step.records.length;
    events += step.events.length;
  }
  await commitOk(store, steps);
  return { row: await getExisting(store, row.key), steps, cursor: { records, events } };
}

/** @throws Error when a step is refused */
export async function commitOk(store: Store, steps: readonly SettledStep[]): Promise<void> {
  const results = await store.commit(steps);
  const refused = results.findIndex(({ ok }) => !ok);
  if (refused !== -1)
    throw new Error(`step ${refused} was refused: ${JSON.stringify(results[refused])}`);
}

export async function commitOne(
  store: Store,
  step: SettledStep,
): Promise<CommitResult | undefined> {
  const results = await store.commit([step]);
  return results[0];
}

/** @throws Error when there is no such session. */
export async function getExisting(store: Store, key: SessionKey): Promise<SessionRow> {
  const row = await store.find(key);
  if (row === undefined) throw new Error(`no session ${key.sessionId}`);
  return row;
}

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** The parts of a step that are read back. */
export function toCommittedStep({ step, at, records, events }: SettledStep): CommittedStep {
  return { step, at, records, events };
}

/** Reads all content of a session, to compare it. */
export async function readContent(store: Store, key: SessionKey): Promise<unknown> {
  return {
    row: await store.find(key),
    steps: await collect(store.steps(key, 0)),
    events: await collect(store.read(key)),
    inbox: await store.inbox(key, 0),
    snapshot: await store.snapshot(key),
    shared: await store.shared(key),
  };
}
