import type { Content, JsonObject, SessionKey } from '../../core/index.ts';
import type { Actions, ToolArtifacts, ToolMemory, ToolState } from '../../tools/index.ts';
import type { CustomReply, CustomYield } from './custom-generator.ts';

/** The context that a custom agent runs with. */
export interface CustomContext {
  readonly agentName: string;
  readonly branch?: string;
  readonly invocationId: string;
  readonly sessionKey: SessionKey;
  /**
   * The conversation up to the last yield, as this agent sees it. This member, `signal` and `stateEntries` change with
   * each step: read them from the context when you need them.
   */
  readonly contents: readonly Content[];
  /** The signal of the current step between two yields. Aborts at its timeout, at an interrupt, and at shutdown. */
  readonly signal: AbortSignal;
  /** Writes are committed with the next yield, and visible to others after it. */
  readonly state: ToolState;
  /** All state at the last yield, by key. */
  readonly stateEntries: JsonObject;
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
  readonly actions: Actions;
  /** Runs a sub-agent: `const reply = yield* context.run('name')`. Returns how it ended. */
  readonly run: (
    agentName: string,
  ) => AsyncGenerator<CustomYield, CustomReply, CustomReply | undefined>;
}
