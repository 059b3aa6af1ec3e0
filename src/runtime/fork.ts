import { InvalidInputError, newSessionId } from '../core/index.ts';
import type { Seq, SessionKey } from '../core/index.ts';
import type { CommittedStep, SessionRow, SettledStep, Store } from '../store/index.ts';

export interface Fork {
  readonly from: SessionRow;
  readonly to: SessionKey;
  /** The last event of the new session; all when missing. */
  readonly upTo?: Seq;
}

/**
 * Copies the journal's steps up to an event into a new session. What is in flight at that moment is not run again:
 * `interrupted` names the turn that is to be stopped in the copy.
 * @throws InvalidInputError when the id is taken, or the event stands inside a step
 */
export async function forkSession(
  store: Store,
  { from, to, upTo }: Fork,
): Promise<{ readonly interrupted: string | undefined }> {
  const steps = await stepsUpTo(store, from, upTo);
  const owner = `fork-${newSessionId()}`;
  await store.join(owner);
  try {
    const { row, created } = await store.create(to, {
      agent: from.agent,
      owner,
      at: from.updatedAt,
      netHash: from.netHash,
    });
    if (!created)
      throw new InvalidInputError('id', `"${to.sessionId}" is taken: give the fork another one.`);
    let interrupted: string | undefined;
    for (const step of steps) {
      for (const event of step.events) {
        if (event.type === 'turn.started') interrupted = event.invocationId;
        else if (event.type === 'turn.ended') interrupted = undefined;
      }
      const [result] = await store.commit([copyOf(step, row, owner, from, interrupted)]);
      if (result?.ok !== true)
        throw new InvalidInputError(
          'id',
          `"${to.sessionId}" was changed while it was being made: give the fork another one.`,
        );
    }
    return { interrupted };
  } finally {
    await store.leave(owner);
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

function copyOf(
  step: CommittedStep,
  row: SessionRow,
  owner: string,
  from: SessionRow,
  interrupted: string | undefined,
): SettledStep {
  const status = interrupted === undefined ? 'idle' : 'running';
  return {
    key: row.key,
    uid: row.uid,
    owner,
    epoch: row.epoch,
    step: step.step,
    at: step.at,
    records: step.records,
    events: step.events,
    inboxUpTo: 0,
    // Nothing counts as in flight: whoever takes the copy stops its turn before anything could run.
    summary: { status, inFlight: 0, nextDueAt: null, pending: [], netHash: from.netHash },
  };
}
