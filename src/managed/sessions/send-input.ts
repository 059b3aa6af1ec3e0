import { userIn } from '../../agents/index.ts';
import type { OutcomeDefinition } from '../../agents/index.ts';
import { deriveInvocationId, InvalidInputError } from '../../core/index.ts';
import type { Content, JsonObject } from '../../core/index.ts';
import type { Session, Turn } from '../../runtime/index.ts';
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
  const content = fromContentBlocks(event.content);
  if (event.output_schema !== undefined) {
    const turn = sendWithOutput(session, content, key, event.output_schema);
    return { ...(await turn.receipt), invocationId };
  }
  const message = { messageId: key, invocationId, content };
  const receipt = await session.inject(userIn, message, { dedupeKey: key });
  return { ...receipt, invocationId };
}

/** @throws InvalidInputError that names the field of the event */
function sendWithOutput(
  session: Session,
  content: Content,
  messageId: string,
  output: JsonObject,
): Turn {
  try {
    return session.send(content, { messageId, output });
  } catch (error) {
    if (!(error instanceof InvalidInputError) || error.field !== 'output') throw error;
    const problem = error.message.slice('output: '.length);
    throw new InvalidInputError('output_schema', problem, { cause: error });
  }
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
