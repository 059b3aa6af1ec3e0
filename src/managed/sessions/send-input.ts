import { omitUndefined } from '../../core/internal.ts';
import { userIn } from '../../agents/index.ts';
import { deriveInvocationId } from '../../core/index.ts';
import type { Session } from '../../runtime/index.ts';
import { fromContentBlocks } from '../projections/content-blocks.ts';
import type { SentEvent } from '../interface/managed-runtime.ts';
import { outcomeIn } from '../nets/outcome-places.ts';
import type { Outcome } from '../nets/outcome-places.ts';
import type { UserDefineOutcomeEvent, UserMessageEvent } from '../interface/user-event.ts';

const DEFAULT_ITERATIONS = 3;

/** Sends an event that needs no running turn: a message or an outcome. A session may start with it. */
export async function sendInput(
  session: Session,
  event: UserMessageEvent | UserDefineOutcomeEvent,
  key: string,
): Promise<SentEvent> {
  if (event.type === 'user.define_outcome')
    return session.inject(outcomeIn, toOutcome(event, key), { dedupeKey: key });
  const invocationId = deriveInvocationId(key);
  const message = { messageId: key, invocationId, content: fromContentBlocks(event.content) };
  const receipt = await session.inject(userIn, message, { dedupeKey: key });
  return { ...receipt, invocationId };
}

function toOutcome(event: UserDefineOutcomeEvent, key: string): Outcome {
  const { criteria, description, rubric, max_iterations: maxIterations } = event;
  return {
    outcomeId: `outcome_${key}`,
    description: description ?? criteria ?? '',
    ...omitUndefined({ rubric }),
    maxIterations: maxIterations ?? DEFAULT_ITERATIONS,
    completeWhenSatisfied: event.complete_when_satisfied === true,
    startsNow: description !== undefined,
  };
}
