import type { Instruction } from '../agents/index.ts';
import type { Content, SessionKey } from '../core/index.ts';
import type { ReadonlyContext } from './contexts.ts';

/** Makes an instruction from what is known when the model is asked. Braces in it mean nothing. */
export type InstructionProvider = (context: ReadonlyContext) => string | Promise<string>;

/** The message that began an invocation. */
export type UserContentOf = (
  session: SessionKey,
  invocationId: string,
) => Promise<Content | undefined>;

/** A template or a provider, as the net of this agent asks for it. */
export function instructionOf(
  instruction: string | InstructionProvider,
  agentName: string,
  userContentOf: UserContentOf,
): Instruction {
  if (typeof instruction !== 'function') return instruction;
  return async ({ state, invocationId, sessionKey }) =>
    instruction({
      invocationId,
      agentName,
      ...sessionKey,
      userContent: await userContentOf(sessionKey, invocationId),
      state,
    });
}
