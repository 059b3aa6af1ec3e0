import { allOf, upTo } from '../../net/index.ts';
import { eventOut } from '../vocabulary/messages.ts';
import { stopRequested } from '../vocabulary/control.ts';
import { toolResult, toolWrite } from '../vocabulary/tool-call.ts';
import type { SessionWrite } from '../vocabulary/state.ts';
import type { Ending } from '../vocabulary/turn.ts';
import type { CallResult, ToolWrite } from '../vocabulary/tool-call.ts';
import type { LogEntry } from '../../core/index.ts';
import type { AllOf, TokenPlace, UpTo } from '../../net/index.ts';
import { resultEvent } from '../tool-calls/call-events.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** The alternatives of an effect that ends with a tool's result. */
export const toolOutcomes: {
  readonly done: AllOf<{
    readonly result: TokenPlace<CallResult>;
    readonly events: UpTo<LogEntry>;
  }>;
  readonly wrote: AllOf<{ readonly write: TokenPlace<ToolWrite> }>;
  readonly stopped: AllOf<{
    readonly result: TokenPlace<CallResult>;
    readonly stop: TokenPlace<Ending>;
    readonly events: UpTo<LogEntry>;
  }>;
} = {
  done: allOf({ result: toolResult, events: upTo(1, eventOut) }),
  // The tool changed state: its result counts once the change is applied.
  wrote: allOf({ write: toolWrite }),
  // The tool requested the end of the turn.
  stopped: allOf({ result: toolResult, stop: stopRequested, events: upTo(1, eventOut) }),
};

type ToolOutcomeOutput =
  | { readonly done: { readonly result: CallResult; readonly events: readonly LogEntry[] } }
  | { readonly wrote: { readonly write: ToolWrite } }
  | {
      readonly stopped: {
        readonly result: CallResult;
        readonly stop: Ending;
        readonly events: readonly LogEntry[];
      };
    };

/** The alternative of `toolOutcomes` for a result. */
export function toToolOutcome(
  identity: AgentIdentity,
  result: CallResult,
  write?: SessionWrite,
): ToolOutcomeOutput {
  if (write !== undefined) return { wrote: { write: { ...write, result } } };
  const events = [resultEvent(identity, result)];
  return result.actions?.endInvocation === true
    ? { stopped: { result, stop: { stopReason: 'end_turn' }, events } }
    : { done: { result, events } };
}
