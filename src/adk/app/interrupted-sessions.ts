import { eventIn, interruptIn } from '../../agents/internal.ts';
import { createEventActions, newMessageId, toAdkSeconds } from '../../core/index.ts';
import type { Event, InvocationId } from '../../core/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';

const MAX_INTERRUPTED = 10_000;

/** Finds the sessions that were running when their process died. */
export async function findInterruptedSessions(
  store: Store,
  { appName, agentName }: { readonly appName: string; readonly agentName: string },
): Promise<readonly SessionRow[]> {
  const { sessions } = await store.findRunnable({
    owner: 'nobody',
    appName,
    agents: [agentName],
    now: 0,
    limit: MAX_INTERRUPTED,
  });
  return sessions.filter(({ activity }) => activity === 'running');
}

/** Closes interrupted invocations, for an app that does not resume them. */
export async function closeInterruptedSessions(
  store: Store,
  rows: readonly SessionRow[],
): Promise<void> {
  for (const { key, updatedAt } of rows) {
    let invocationId: InvocationId | undefined;
    for await (const event of store.read(key, 0))
      if (event.type === 'turn.started') ({ invocationId } = event);
    if (invocationId === undefined) continue;
    const event: Event = {
      id: newMessageId(),
      timestamp: toAdkSeconds(updatedAt),
      invocationId,
      author: 'system',
      errorCode: 'not_resumable',
      errorMessage:
        'The process died during this invocation, and the app does not resume invocations: send the message again.',
      actions: createEventActions(),
    };
    await store.inject(
      key,
      { place: interruptIn.name, value: { invocationId } },
      `interrupt:${invocationId}`,
    );
    await store.inject(
      key,
      {
        place: eventIn.name,
        value: { event, stateDelta: {} },
      },
      `signal:${eventIn.name}:closed:${invocationId}`,
    );
  }
}
