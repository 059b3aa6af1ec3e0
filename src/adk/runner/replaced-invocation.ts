import { createEventActions, newMessageId, toAdkSeconds } from '../../core/index.ts';
import type { Content, Event, StateDelta } from '../../core/index.ts';
import type { Clock } from '../../net/index.ts';
import type { PluginChain } from '../plugins/plugin-chain.ts';
import { addCustomMetadata } from '../sessions/invocation-metadata.ts';
import type { SessionService } from '../sessions/session-service.ts';
import type { InvocationScope } from './invocation-scope.ts';
import type { RunParams } from './run-params.ts';

/** The message of an invocation, and the answer of a plugin, if there is one. */
export interface ReplacedInvocation {
  readonly message: Content;
  readonly answer: Content | undefined;
}

/** What a runner provides to append such an invocation. */
export interface ReplacementServices {
  readonly sessionService: SessionService;
  readonly plugins: PluginChain;
  readonly appName: string;
  /** Name of the root agent, which is the author of the answer. */
  readonly rootAgent: string;
  readonly clock?: Clock;
}

/** Handles an invocation that a plugin ended or answered: appends both messages as events, and starts no turn. */
export async function* appendReplacedInvocation(
  params: RunParams,
  invocation: InvocationScope,
  { message, answer }: ReplacedInvocation,
  { sessionService, plugins, appName, rootAgent, clock }: ReplacementServices,
): AsyncGenerator<Event, void, void> {
  const address = { ...params, appName, config: { numRecentEvents: 0 } };
  const { invocationId, runConfig } = invocation.context;
  const session = await sessionService.getSession(address);
  if (session === undefined) return;
  const event = (author: string, content: Content, stateDelta: StateDelta = {}): Event => ({
    id: newMessageId(),
    timestamp: toAdkSeconds(clock?.now() ?? Date.now()),
    invocationId,
    author,
    content,
    actions: createEventActions({ stateDelta }),
  });
  const userEvent = await sessionService.appendEvent({
    session,
    event: event('user', message, params.stateDelta),
  });
  if (params.yieldUserMessage === true)
    yield addCustomMetadata(userEvent, runConfig.customMetadata);
  if (answer !== undefined) {
    const answerEvent = event(rootAgent, { ...answer, role: 'model' });
    yield addCustomMetadata(
      await sessionService.appendEvent({ session, event: answerEvent }),
      runConfig.customMetadata,
    );
  }
  await plugins.afterRun(invocation.context);
}
