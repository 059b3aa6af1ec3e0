import { omitUndefined } from '../../core/internal.ts';
import { interruptIn, withPromptChoice } from '../../agents/internal.ts';
import type { Agent } from '../../agents/index.ts';
import { InvalidInputError, newSessionId } from '../../core/index.ts';
import type { Seq, SessionKey } from '../../core/index.ts';
import { applyRecord, emptyMarking, Executor, planUpgrade } from '../../net/index.ts';
import type { RecordSeq } from '../../net/index.ts';
import { copyMarking, renameMarking } from '../../net/internal.ts';
import type { Marking } from '../../net/index.ts';
import type { CommittedStep, SessionRow, SettledStep, Store } from '../../store/index.ts';
import { findFirstStep } from '../../store/internal.ts';
import { JournalTrimmedError } from './journal-trimmed-error.ts';
import { toLogEvents, toSharedWrites, toSessionSummary } from './settled-step.ts';

export interface ForkRequest {
  readonly from: SessionRow;
  readonly agent: Agent;
  readonly to: SessionKey;
  /** The last event to copy. It must end a step. Default: the last event of the session. */
  readonly upTo?: Seq;
  /** Instead of `upTo`: copies the steps that end at this record or before. */
  readonly atRecord?: RecordSeq;
}

/**
 * Copies the journal up to an event into a new session, in one transaction. Effects in flight at that event are not run
 * again: a turn that was running is stopped in the copy.
 * @throws InvalidInputError when the id is taken, `upTo` is not at a step boundary, or there is no record `atRecord`
 * @throws JournalTrimmedError when the position is before the first record of the journal
 * @throws NetChangedError when a turn was running and its tokens do not fit the agent
 */
export async function forkSession(
  store: Store,
  { from, agent, to, upTo, atRecord }: ForkRequest,
): Promise<void> {
  const steps = await readUntrimmed(store, from.key, async () =>
    atRecord === undefined ? stepsUpTo(store, from, upTo) : stepsUpToRecord(store, from, atRecord),
  );
  const owner = `${FORK_OWNER}${newSessionId()}`;
  await store.join(owner);
  try {
    const row = await createForkTarget(store, from, to, owner);
    const copies = toCopiedSteps(steps, agent, row);
    const results = await store.commit(copies.map((step) => ({ ...step, owner })));
    if (results.every(({ ok }) => ok)) return;
    throw new InvalidInputError(
      'id',
      `"${to.sessionId}" was changed by another process while the fork was written: choose another id.`,
    );
  } finally {
    await store.leave(owner);
  }
}

const FORK_OWNER = 'fork-';

/** Creates an empty session, or claims the empty one that a crashed fork left behind. */
async function createForkTarget(
  store: Store,
  from: SessionRow,
  to: SessionKey,
  owner: string,
): Promise<SessionRow> {
  const { agent, updatedAt: at, netHash } = from;
  const { row, created } = await store.create(to, { agent, owner, at, netHash });
  if (created) return row;
  const isAbandoned = row.head === 0 && row.agent === agent && row.owner?.startsWith(FORK_OWNER);
  const claim = isAbandoned === true ? await store.claim(to, owner, row) : undefined;
  if (claim?.ok === true) return claim.row;
  throw new InvalidInputError('id', `"${to.sessionId}" is taken: choose another id.`);
}

/** Reads a journal page by page, and reads it again if it was trimmed in between: the pages would not fit together. */
async function readUntrimmed<T>(store: Store, key: SessionKey, read: () => Promise<T>): Promise<T> {
  let begin = await findFirstStep(store.listSteps(key, 1));
  for (;;) {
    const found = await read();
    const now = await findFirstStep(store.listSteps(key, 1));
    if (now === begin) return found;
    begin = now;
  }
}

async function stepsUpTo(
  store: Store,
  from: SessionRow,
  upTo: Seq | undefined,
): Promise<readonly CommittedStep[]> {
  const last = upTo ?? from.lastSeq;
  if (!Number.isSafeInteger(last) || last < 0 || last > from.lastSeq) {
    throw new InvalidInputError(
      'upTo',
      `must be an event number from 0 to ${from.lastSeq}; it is ${last}.`,
    );
  }
  const steps: CommittedStep[] = [];
  let seq = 0;
  let hasRecords = false;
  for await (const step of store.steps(from.key, 0)) {
    const end = seq + step.events.length;
    if (end > last) {
      // The position is before the first record that the journal has.
      if (!hasRecords && isRemoved(step))
        throw new JournalTrimmedError(
          from.key,
          `the records up to event ${last}`,
          await findFirstEvent(store, from.key),
        );
      if (seq === last) break;
      throw new InvalidInputError(
        'upTo',
        `must be at a step boundary; ${last} is not. Use ${seq} or ${end}.`,
      );
    }
    steps.push(step);
    hasRecords ||= step.records.length > 0;
    seq = end;
  }
  return steps;
}

/** True for a step before the first record of its journal, and for the one that has this record. */
function isRemoved({ records }: CommittedStep): boolean {
  return records.length === 0 || records[0]?.kind === 'trimmed';
}

/** The number of the last event of the step with which a trimmed journal begins. */
async function findFirstEvent(store: Store, key: SessionKey): Promise<Seq> {
  let seq = 0;
  for await (const { records, events } of store.steps(key, 0)) {
    seq += events.length;
    if (records.length > 0) break;
  }
  return seq;
}

async function stepsUpToRecord(
  store: Store,
  from: SessionRow,
  atRecord: RecordSeq,
): Promise<readonly CommittedStep[]> {
  if (!Number.isSafeInteger(atRecord) || atRecord < 0)
    throw new InvalidInputError(
      'atRecord',
      `must be a whole number of at least 0; it is ${atRecord}.`,
    );
  const steps: CommittedStep[] = [];
  let last = 0;
  for await (const step of store.steps(from.key, 0)) {
    const [first] = step.records;
    last = step.records.at(-1)?.seq ?? last;
    if (first?.kind === 'trimmed' && last > atRecord)
      throw new JournalTrimmedError(from.key, `record ${atRecord}`, last);
    if (last > atRecord) return steps;
    steps.push(step);
  }
  if (atRecord <= last) return steps;
  throw new InvalidInputError('atRecord', `must be a record from 0 to ${last}; it is ${atRecord}.`);
}

type UnownedStep = Omit<SettledStep, 'owner'>;

/** Copies the steps unchanged and adds one that stops the turn that was running, if any. @throws NetChangedError */
function toCopiedSteps(
  steps: readonly CommittedStep[],
  agent: Agent,
  { key, uid, epoch }: SessionRow,
): readonly UnownedStep[] {
  const stored = emptyMarking();
  for (const { records } of steps) for (const record of records) applyRecord(stored, record);
  const marking = copyMarking(stored);
  renameMarking(marking, agent.compiled);
  const base = { key, uid, epoch, inboxUpTo: 0 };
  const isSameNet = marking.net.hash === agent.compiled.hash;
  const timers = isSameNet ? createExecutor(agent, marking).nextDueAt : undefined;
  const summary = toSessionSummary(agent.readStatus(marking), marking, timers);
  const copies: readonly UnownedStep[] = steps.map((step) => ({ ...base, ...step, summary }));
  const { invocationId } = agent.readStatus(marking);
  if (invocationId === undefined) return copies;
  const lastSeq = steps.flatMap(({ events }) => events).length;
  const upgrade = planUpgrade(
    stored,
    agent.compiled,
    withPromptChoice(agent.compiled, agent.migrate),
  );
  return [
    ...copies,
    {
      ...base,
      step: steps.length + 1,
      ...stopRunningTurn(marking, upgrade, agent, invocationId, lastSeq),
    },
  ];
}

/** Builds the step that stops the running turn in the copy. */
function stopRunningTurn(
  marking: Marking,
  upgrade: ReturnType<typeof planUpgrade>,
  agent: Agent,
  invocationId: string,
  lastSeq: Seq,
): Pick<SettledStep, 'at' | 'records' | 'events' | 'summary' | 'shared'> {
  const versions = marking.shared;
  const executor = createExecutor(agent, marking);
  const { at } = marking;
  if (upgrade !== undefined) executor.appendSystemRecord(upgrade, at);
  // Drain, so that a queued message does not start a turn here: the owner of the copy starts it.
  executor.drain();
  executor.inject(interruptIn.name, { invocationId }, at);
  executor.settle(at);
  const step = { ...executor.takeSettled(), injected: [], rejected: [] };
  const shared = toSharedWrites(step.records, versions);
  const status = agent.readStatus(marking);
  return {
    at: marking.at,
    records: step.records,
    events: toLogEvents(step, agent, marking, { ...status, lastSeq }),
    summary: toSessionSummary(status, marking, executor.nextRunAt),
    ...omitUndefined({ shared }),
  };
}

function createExecutor({ compiled }: Agent, marking: Marking): Executor {
  return new Executor(compiled, marking, { toFiringId: String });
}
