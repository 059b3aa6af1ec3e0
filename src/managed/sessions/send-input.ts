import { userIn } from '../../agents/index.ts';
import type { OutcomeDefinition } from '../../agents/index.ts';
import { deriveInvocationId, InvalidInputError } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import { createOutputSchema } from '../../tools/internal.ts';
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
  const content = fromContentBlocks(event.content);
  const message = { messageId: key, invocationId, content, ...toMetadata(event.output_schema) };
  const receipt = await session.inject(userIn, message, { dedupeKey: key });
  return { ...receipt, invocationId };
}

/**
 * Requests an output of this schema. The session adds the agents that answer.
 * @throws InvalidInputError that names the field of the event
 */
function toMetadata(output: JsonObject | undefined): JsonObject {
  if (output === undefined) return {};
  try {
    return { metadata: { requestedOutput: { schema: createOutputSchema(output).jsonSchema } } };
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
