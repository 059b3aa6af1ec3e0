import type { Instruction } from '../../agents/index.ts';
import type { Content, SessionKey } from '../../core/index.ts';
import type { ReadonlyContext } from './contexts.ts';

/** Makes an instruction from what is known when the model is asked. Braces in it mean nothing. */
export type InstructionProvider = (context: ReadonlyContext) => string | Promise<string>;

/** The message that began an invocation. */
export type FindUserContent = (
  session: SessionKey,
  invocationId: string,
) => Promise<Content | undefined>;

/** A template or a provider, as the net of this agent asks for it. */
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
