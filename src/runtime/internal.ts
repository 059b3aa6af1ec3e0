/** Exports of `runtime/` for other folders of `src/`. The package does not publish them. */

export { ModelCallCounts } from './called-agents/model-call-counts.ts';
export { ActiveSessions } from './hosting/active-sessions.ts';
export {
  lastSeqBefore,
  listAcceptedInputs,
  type AcceptedInput,
} from './journal/accepted-inputs.ts';
export { hydrate } from './journal/hydrate.ts';
export { findCurrentWait } from './log/find-current-wait.ts';
export { SessionBroadcast } from './log/session-broadcast.ts';
