import { interruptIn } from '../../agents/vocabulary/control.ts';
import type { Agent } from '../../agents/index.ts';
import { InvalidInputError, newSessionId } from '../../core/index.ts';
import type { Seq, SessionKey } from '../../core/index.ts';
import { applyRecord, emptyMarking, Executor, planUpgrade } from '../../net/index.ts';
import type { Marking } from '../../net/index.ts';
import type { CommittedStep, SessionRow, SettledStep, Store } from '../../store/index.ts';
import { toLogEvents, toSharedWrites, toSessionSummary } from './settled-step.ts';

export interface ForkRequest {
  readonly from: SessionRow;
  readonly agent: Agent;
  readonly to: SessionKey;
  /** The last event of the new session; all when missing. */
  readonly upTo?: Seq;
}

/**
 * Copies the journal's steps up to an event into a new session, all at once or not at all. What is in flight at that
 * moment is not run again: a turn that was running is stopped in the copy.
 * @throws InvalidInputError when the id is taken, or the event stands inside a step
 */
export async function forkSession(
  store: Store,
  { from, agent, to, upTo }: ForkRequest,
): Promise<void> {
  const steps = await stepsUpTo(store, from, upTo);
  const owner = `${FORK_OWNER}${newSessionId()}`;
  await store.join(owner);
  try {
    const row = await createForkTarget(store, from, to, owner);
    const copies = toCopiedSteps(steps, agent, row);
    const results = await store.commit(copies.map((step) => ({ ...step, owner })));
    if (results.every(({ ok }) => ok)) return;
    throw new InvalidInputError(
      'id',
      `"${to.sessionId}" was changed while it was being made: give the fork another one.`,
    );
  } finally {
    await store.leave(owner);
  }
}

const FORK_OWNER = 'fork-';

/** A session with nothing in it: a new one, or what is left of a fork whose maker died. */
async function createForkTarget(
  store: Store,
  from: SessionRow,
  to: SessionKey,
  owner: string,
): Promise<SessionRow> {
  const { agent, updatedAt: at, netHash } = from;
  const { row, created } = await store.create(to, { agent, owner, at, netHash });
  if (created) return row;
  const isLeft = row.head === 0 && row.agent === agent && row.owner?.startsWith(FORK_OWNER);
  const claim = isLeft === true ? await store.claim(to, owner) : undefined;
  if (claim?.ok === true && claim.row.head === 0) return claim.row;
  throw new InvalidInputError('id', `"${to.sessionId}" is taken: give the fork another one.`);
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
      `must be an event's number up to ${from.lastSeq}; it is ${last}.`,
    );
  }
  const steps: CommittedStep[] = [];
  let seq = 0;
  for await (const step of store.steps(from.key, 0)) {
    const end = seq + step.events.length;
    if (end > last) {
      if (seq === last) break;
      throw new InvalidInputError(
        'upTo',
        `${last} stands inside a step that came whole: take ${seq} or ${end}.`,
      );
    }
    steps.push(step);
    seq = end;
  }
  return steps;
}

type UnownedStep = Omit<SettledStep, 'owner'>;

/** The steps as they were, and one more that stops the turn that was running. */
function toCopiedSteps(
  steps: readonly CommittedStep[],
  agent: Agent,
  { key, uid, epoch }: SessionRow,
): readonly UnownedStep[] {
  const marking = emptyMarking();
  for (const { records } of steps) for (const record of records) applyRecord(marking, record);
  const base = { key, uid, epoch, inboxUpTo: 0 };
  const isSameNet = marking.net.hash === agent.compiled.hash;
  const timers = isSameNet ? createExecutor(agent, marking).nextDueAt : undefined;
  const summary = toSessionSummary(agent.readStatus(marking), marking, timers);
  const copies: readonly UnownedStep[] = steps.map((step) => ({ ...base, ...step, summary }));
  const { invocationId } = agent.readStatus(marking);
  if (invocationId === undefined) return copies;
  const lastSeq = steps.flatMap(({ events }) => events).length;
  return [
    ...copies,
    { ...base, step: steps.length + 1, ...stopRunningTurn(marking, agent, invocationId, lastSeq) },
  ];
}

/** What stopping the turn does to the copy, and to nothing but it. @throws NetChangedError */
function stopRunningTurn(
  marking: Marking,
  agent: Agent,
  invocationId: string,
  lastSeq: Seq,
): Pick<SettledStep, 'at' | 'records' | 'events' | 'summary' | 'shared'> {
  const upgrade = planUpgrade(marking, agent.compiled, agent.migrate);
  const versions = marking.shared;
  const executor = createExecutor(agent, marking);
  const { at } = marking;
  if (upgrade !== undefined) executor.appendSystemRecord(upgrade, at);
  // A message that waits behind the turn is for whoever owns the copy.
  executor.drain();
  executor.inject(interruptIn.name, { invocationId }, at);
  executor.settle(at);
  const step = { ...executor.takeSettled(), injected: [], rejected: [] };
  const shared = toSharedWrites(step.records, versions);
  return {
    at: marking.at,
    records: step.records,
    events: toLogEvents(step, (record) => agent.recordEvents(record, marking), lastSeq),
    summary: toSessionSummary(agent.readStatus(marking), marking, executor.nextRunAt),
    ...(shared !== undefined && { shared }),
  };
}

function createExecutor({ compiled }: Agent, marking: Marking): Executor {
  return new Executor(compiled, marking, { toFiringId: String });
}
