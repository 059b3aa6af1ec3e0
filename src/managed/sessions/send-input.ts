import { userIn } from '../../agents/index.ts';
import type { OutcomeDefinition } from '../../agents/index.ts';
import { deriveInvocationId } from '../../core/index.ts';
import type { Session } from '../../runtime/index.ts';
import { fromContentBlocks } from '../projections/content-blocks.ts';
import type { SentEvent } from '../interface/managed-runtime.ts';
import type { UserDefineOutcomeEvent, UserMessageEvent } from '../interface/user-event.ts';

/** Sends an event that needs no running turn: a message or an outcome. A session may start with it. */
export async function sendInput(
  session: Session,
  event: UserMessageEvent | UserDefineOutcomeEvent,
  key: string,
): Promise<SentEvent> {
  if (event.type === 'user.define_outcome') {
    const { inputSeq, duplicate } = await session.defineOutcome(toDefinition(event), {
      dedupeKey: key,
    });
    return { inputSeq, duplicate };
  }
  const invocationId = deriveInvocationId(key);
  const message = { messageId: key, invocationId, content: fromContentBlocks(event.content) };
  const receipt = await session.inject(userIn, message, { dedupeKey: key });
  return { ...receipt, invocationId };
}

function toDefinition(event: UserDefineOutcomeEvent): OutcomeDefinition {
  const { criteria, description, rubric } = event;
  return {
    criteria,
    description,
    rubric,
    maxIterations: event.max_iterations,
    completeWhenSatisfied: event.complete_when_satisfied,
  };
}
