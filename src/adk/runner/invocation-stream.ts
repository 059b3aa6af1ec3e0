import { omitUndefined } from '../../core/internal.ts';
import { createEventActions, newMessageId, toAdkEvent, toAdkSeconds } from '../../core/index.ts';
import type { Event, LogEvent, PartialEvent, PartialText } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { Session } from '../../runtime/index.ts';
import type { SessionRow, Store } from '../../store/index.ts';
import type { MemoryService } from '../../tools/index.ts';
import type { CheckedRunConfig } from '../contracts/run-config.ts';
import type { PluginChain } from '../plugins/plugin-chain.ts';
import { ingestMemory } from '../../runtime/internal.ts';
import { addCustomMetadata } from '../sessions/invocation-metadata.ts';
import type { InvocationScope } from './invocation-scope.ts';
import { LLM_CALLS_LIMIT, LlmCallsLimitExceededError } from './runner-errors.ts';
import { createWaitingEvent } from './waiting-event.ts';

/** The stream of one invocation, and how its events are shown. */
export interface FollowOptions {
  readonly invocation: InvocationScope;
  readonly session: Session;
  readonly row: SessionRow;
  readonly config: CheckedRunConfig;
  readonly stream: AsyncIterable<LogEvent | PartialEvent>;
  readonly includesUserMessage: boolean;
}

/** What a runner provides to follow invocations. */
export interface FollowServices {
  readonly store: Store;
  readonly plugins: PluginChain;
  /** Name of the root agent. */
  readonly rootAgent: string;
  readonly clock?: Clock;
  readonly memoryService?: MemoryService;
}

/**
 * Converts the log entries of an invocation to events for its caller, passes them through the plugins, and ingests the
 * invocation into the memory when it ends.
 * @throws LlmCallsLimitExceededError at the end, if the invocation used all its model calls
 * @throws PluginError if a plugin's callback throws
 */
export async function* followEvents(
  { invocation, session, row, config, stream, includesUserMessage }: FollowOptions,
  { store, plugins, rootAgent, clock, memoryService }: FollowServices,
): AsyncGenerator<Event, void, void> {
  let limitExceeded = false;
  for await (const logged of stream) {
    if (logged.type === 'partial') {
      if (config.streamingMode === 'sse' && logged.kind !== 'progress')
        yield addCustomMetadata(
          toPartialTextEvent(logged, rootAgent, clock),
          config.customMetadata,
        );
      continue;
    }
    if (logged.type === 'partial.reset') continue;
    const { invocationId } = invocation.context;
    if (logged.type === 'turn.waiting' && logged.invocationId !== invocationId) {
      const event = await createWaitingEvent(store, {
        row,
        waiting: logged,
        pending: await session.pending(),
        invocationId,
        rootAgent,
      });
      yield addCustomMetadata(event, config.customMetadata);
      continue;
    }
    limitExceeded ||= logged.type === 'error' && logged.code === LLM_CALLS_LIMIT;
    const event = toAdkEvent(logged, row.uid);
    if (event === undefined || (logged.type === 'user.message' && !includesUserMessage)) continue;
    const tagged = addCustomMetadata(event, config.customMetadata);
    const replacement = await plugins.firstResult('onEventCallback', (plugin) =>
      plugin.onEventCallback({ invocationContext: invocation.context, event: tagged }),
    );
    yield replacement ?? tagged;
  }
  if (memoryService !== undefined) await ingestMemory(store, memoryService, row);
  await plugins.afterRun(invocation.context);
  if (limitExceeded) throw new LlmCallsLimitExceededError(config.maxLlmCalls);
}

/** The event of text that a model is generating. */
export function toPartialTextEvent(
  { kind, text, invocationId, ...from }: PartialText,
  rootAgent: string,
  clock: Clock | undefined,
): Event {
  const { author = rootAgent, branch, nodeInfo } = from;
  return {
    id: newMessageId(),
    timestamp: toAdkSeconds(clock?.now() ?? Date.now()),
    invocationId,
    author,
    ...omitUndefined({ branch, nodeInfo }),
    content: {
      role: 'model',
      parts: [kind === 'thinking' ? { text, thought: true } : { text }],
    },
    actions: createEventActions(),
    partial: true,
  };
}
