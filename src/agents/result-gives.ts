import { allOf, upTo } from '../net/index.ts';
import { eventOut, toolResult, toolWrite, stopAsked } from './places.ts';
import type { CallResult, Ending, SessionWrite, ToolWrite } from './places.ts';
import type { LogEntry } from '../core/index.ts';
import type { AllOf, TokenPlace, UpTo } from '../net/index.ts';
import { resultEvent } from './result-event.ts';
import type { Speaking } from './speaking.ts';

/** What a tool that is done gives: the alternatives of the effect that ends with it. */
export const resultGives: {
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
  // It changed state: its result counts when the change does.
  wrote: allOf({ write: toolWrite }),
  // It asked that the turn stops.
  stopped: allOf({ result: toolResult, stop: stopAsked, events: upTo(1, eventOut) }),
};

type Given =
  | { readonly done: { readonly result: CallResult; readonly events: readonly LogEntry[] } }
  | { readonly wrote: { readonly write: ToolWrite } }
  | {
      readonly stopped: {
        readonly result: CallResult;
        readonly stop: Ending;
        readonly events: readonly LogEntry[];
      };
    };

/** Which of them a result is. */
export function givenFor(speaking: Speaking, result: CallResult, write?: SessionWrite): Given {
  if (write !== undefined) return { wrote: { write: { ...write, result } } };
  const events = [resultEvent(speaking, result)];
  return result.actions?.endInvocation === true
    ? { stopped: { result, stop: { stopReason: 'end_turn' }, events } }
    : { done: { result, events } };
}
