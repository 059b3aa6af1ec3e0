import type { ChildRequest } from '../agents/index.ts';
import { ROOT_INVOCATION_KEY, rootInvocationIn } from '../agents/model-call-limit.ts';
import { invocationIdOf, textOf } from '../core/index.ts';
import type { JsonObject, StateDelta } from '../core/index.ts';
import { RUN_CONFIG_KEY } from '../tools/run-config.ts';
import type { Session } from './session.ts';

/**
 * Runs one request in a child session to its end and tells what was said last. The firing's id is the message's id, so
 * a request that is made again after a crash finds its turn running, or over. Aborting interrupts the child.
 */
export async function runInChild(child: Session, called: ChildRequest): Promise<JsonObject> {
  const { request, firingId, signal } = called;
  const invocationId = invocationIdOf(firingId);
  await child.send(request, { messageId: firingId, stateDelta: stateOf(called) }).accepted;
  const interrupt = (): void => void child.interrupt().catch(() => {});
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    let said = '';
    for await (const event of child.events(0, { signal })) {
      if (!('seq' in event) || !('invocationId' in event) || event.invocationId !== invocationId)
        continue;
      if (event.type === 'agent.message' && event.content.parts.length > 0)
        said = textOf(event.content);
      if (event.type !== 'turn.ended') continue;
      if (event.stopReason === 'end_turn' || event.stopReason === 'budget_reached')
        return { result: said };
      throw new Error(
        `The agent stopped before it was done (${event.stopReason}). It had said: ${said}`,
      );
    }
    throw new Error('The call was cancelled.');
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** What the agent works with: it is part of the invocation that called it. */
function stateOf({ invocationId, state }: ChildRequest): StateDelta {
  const config = state[RUN_CONFIG_KEY];
  return {
    [ROOT_INVOCATION_KEY]: rootInvocationIn(state) ?? invocationId,
    ...(config !== undefined && { [RUN_CONFIG_KEY]: config }),
  };
}
