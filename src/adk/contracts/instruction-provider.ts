import type { Instruction } from '../../agents/index.ts';
import type { Content, SessionKey } from '../../core/index.ts';
import type { ReadonlyContext } from './contexts.ts';

/** Returns an instruction at the time the model is called. Braces in the result are not treated as a template. */
export type InstructionProvider = (context: ReadonlyContext) => string | Promise<string>;

/** Finds the message that started an invocation. */
export type FindUserContent = (
  session: SessionKey,
  invocationId: string,
) => Promise<Content | undefined>;

/** Converts a template or a provider to the instruction of an agent's net. */
export function toInstruction(
  instruction: string | InstructionProvider,
  agentName: string,
  findUserContent: FindUserContent,
): Instruction {
  if (typeof instruction !== 'function') return instruction;
  return async ({ state, invocationId, sessionKey }) =>
    instruction({
      invocationId,
      agentName,
      ...sessionKey,
      userContent: await findUserContent(sessionKey, invocationId),
      state,
    });
}
