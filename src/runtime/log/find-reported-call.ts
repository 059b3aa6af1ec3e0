import { getFunctionCalls } from '../../core/index.ts';
import type { CallId, InvocationId, SessionKey } from '../../core/index.ts';
import type { Store } from '../../store/index.ts';

/** A call of a long-running tool that has its first result. Its later results come as messages. */
export interface ReportedCall {
  readonly callId: CallId;
  readonly name: string;
}

/** Finds the calls among these ids that have a first result, and may get later ones. Reads the whole log. */
export async function findReportedCalls(
  store: Store,
  key: SessionKey,
  callIds: readonly CallId[],
): Promise<readonly ReportedCall[]> {
  const wanted = new Set(callIds);
  const made = new Map<CallId, { readonly name: string; readonly invocationId: InvocationId }>();
  const reported = new Set<CallId>();
  /** In the order in which they began. A rewind removes the last ones. */
  let invocations: readonly InvocationId[] = [];
  for await (const event of store.read(key, 0)) {
    switch (event.type) {
      case 'turn.started':
        invocations = [...invocations, event.invocationId];
        break;
      case 'agent.message':
        for (const { id, name } of getFunctionCalls(event))
          if (wanted.has(id) && event.longRunningToolIds?.includes(id) === true)
            made.set(id, { name, invocationId: event.invocationId });
        break;
      case 'tool.result':
        if (made.has(event.callId) && event.outcome === 'ok') reported.add(event.callId);
        break;
      case 'tool.answered':
        // It waited for its result, and has it.
        made.delete(event.callId);
        break;
      case 'session.rewound': {
        const index = invocations.indexOf(event.beforeInvocationId);
        if (index !== -1) invocations = invocations.slice(0, index);
        break;
      }
      default:
        break;
    }
  }
  return [...made].flatMap(([callId, { name, invocationId }]) =>
    reported.has(callId) && invocations.includes(invocationId) ? [{ callId, name }] : [],
  );
}
