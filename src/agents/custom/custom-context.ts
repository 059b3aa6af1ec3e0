import type { Content, JsonObject, SessionKey } from '../../core/index.ts';
import type { Actions, ToolArtifacts, ToolMemory, ToolState } from '../../tools/index.ts';
import type { CustomReply, CustomYield } from './custom-generator.ts';

/** What a custom agent has at hand. */
export interface CustomContext {
  readonly agentName: string;
  readonly branch?: string;
  readonly invocationId: string;
  readonly sessionKey: SessionKey;
  /** What was said before the last yield, as this agent hears it. It and `signal` are of now: read them where you need them. */
  readonly contents: readonly Content[];
  /** Of the step between two yields: it aborts at its timeout, at an interrupt, and at shutdown. */
  readonly signal: AbortSignal;
  /** Writes are committed with the next yield; after it, they are seen. */
  readonly state: ToolState;
  /** All state as it was at the last yield, by key. It is of now, too. */
  readonly stateEntries: JsonObject;
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  readonly actions: Actions;
  /** Gives one of its agents its turn, with `yield*`, and tells how it ended. */
  readonly run: (
    agentName: string,
  ) => AsyncGenerator<CustomYield, CustomReply, CustomReply | undefined>;
}
