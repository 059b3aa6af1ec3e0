import { omitUndefined } from '../../core/internal.ts';
import {
  AdkEventMapper,
  createEventActions,
  newMessageId,
  toAdkSeconds,
} from '../../core/index.ts';
import type { Event, LogEvent, PartialEvent, PartialText, Seq } from '../../core/index.ts';
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
  /** The log position where the stream begins, if that can be inside a turn. */
  readonly from?: Seq;
}

/** Number of log events before a stream that are read for the calls that run where it begins. */
const EARLIER_EVENTS = 500;

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
  { invocation, session, row, config, stream, includesUserMessage, from }: FollowOptions,
  { store, plugins, rootAgent, clock, memoryService }: FollowServices,
): AsyncGenerator<Event, void, void> {
  const mapper = new AdkEventMapper(row.uid);
  if (from !== undefined)
    for await (const earlier of store.read(row.key, Math.max(0, from - EARLIER_EVENTS))) {
      if (earlier.seq > from) break;
      mapper.add(earlier);
    }
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
    if (logged.type === 'user.message' && !includesUserMessage) continue;
    for (const event of mapper.add(logged)) {
      const tagged = addCustomMetadata(event, config.customMetadata);
      const replacement = await plugins.firstResult('onEventCallback', (plugin) =>
        plugin.onEventCallback({ invocationContext: invocation.context, event: tagged }),
      );
      yield replacement ?? tagged;
    }
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
