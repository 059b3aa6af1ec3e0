import { InvalidInputError } from '../../core/index.ts';
import type { JsonObject } from '../../core/index.ts';
import type { EffectContext } from '../../net/index.ts';
import { createActions } from '../../tools/internal.ts';
import { openCallbackContext } from '../callbacks/callback-context.ts';
import type { OpenedCallbackContext } from '../callbacks/callback-context.ts';
import type { CustomContext } from './custom-context.ts';
import type { CustomReply, CustomYield } from './custom-generator.ts';
import { visibleContents } from '../prompt/visible-contents.ts';
import { liveState } from '../state/live-state.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';

/** The inputs of one step of a custom agent. */
export interface CustomStepContext {
  readonly invocationId: string;
  readonly conversation: readonly ConversationItem[];
  readonly state: JsonObject;
  readonly effect: EffectContext;
}

interface CurrentStep {
  readonly context: CustomStepContext;
  readonly opened: OpenedCallbackContext;
}

/** The context of a custom agent: one object for its whole run, whose members always refer to the current step. */
export class LiveCustomContext {
  readonly context: CustomContext;
  #current: CurrentStep;

  constructor(identity: AgentIdentity, names: readonly string[], first: CustomStepContext) {
    this.#current = { context: first, opened: openStep(identity, first) };
    const getCurrent = (): CurrentStep => this.#current;
    const { agentName, multiAgent } = identity;
    this.context = {
      agentName,
      ...multiAgent,
      invocationId: first.invocationId,
      sessionKey: this.#current.opened.context.sessionKey,
      get contents() {
        return visibleContents(
          { agentName, multiAgent: multiAgent ?? {} },
          getCurrent().context.conversation,
        );
      },
      get signal() {
        return getCurrent().opened.context.signal;
      },
      get stateEntries() {
        return getCurrent().context.state;
      },
      get artifacts() {
        return getCurrent().opened.context.artifacts;
      },
      get memory() {
        return getCurrent().opened.context.memory;
      },
      state: liveState(() => getCurrent().opened.context.state),
      actions: createActions((actions) => getCurrent().opened.act(actions)),
      run: (sub) => runSubAgent(sub, agentName, names),
    };
  }

  /** Makes this step the current one. */
  enterStep(identity: AgentIdentity, step: CustomStepContext): OpenedCallbackContext {
    this.#current = { context: step, opened: openStep(identity, step) };
    return this.#current.opened;
  }
}

function openStep(identity: AgentIdentity, step: CustomStepContext): OpenedCallbackContext {
  return openCallbackContext(identity, step.invocationId, step.state, step.effect);
}

async function* runSubAgent(
  sub: string,
  agentName: string,
  names: readonly string[],
): AsyncGenerator<CustomYield, CustomReply, CustomReply | undefined> {
  if (!names.includes(sub))
    throw new InvalidInputError(
      'agentName',
      `"${sub}" is not a sub-agent of "${agentName}". Its sub-agents are: ${names.join(', ') || '(none)'}.`,
    );
  const reply = yield { runs: sub };
  return reply ?? { stopReason: 'end_turn' };
}
