import type { FiringId, InvocationId, SessionKey } from '../../core/index.ts';
import type { ToolArtifacts, ToolMemory, ToolMetadata, ToolState } from '../../tools/index.ts';

/** What the contexts of callbacks, custom agents and nodes have in common. */
export interface AgentContext extends ToolMetadata {
  readonly invocationId: InvocationId;
  readonly sessionKey: SessionKey;
  /** Aborts at the timeout, at an interrupt, and at shutdown. */
  readonly signal: AbortSignal;
  /** Identifies the firing. Stable over retries and crashes. */
  readonly firingId: FiringId;
  /** 1 for the first attempt of the firing. */
  readonly attempt: number;
  /** Writes are committed together with the result, or not at all. */
  readonly state: ToolState;
  /** Saves take effect at once. The log shows them together with the result. */
  readonly artifacts: ToolArtifacts;
  readonly memory: ToolMemory;
}
