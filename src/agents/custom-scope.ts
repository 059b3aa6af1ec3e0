import { InvalidInputError } from '../core/index.ts';
import type { JsonObject } from '../core/index.ts';
import type { EffectContext } from '../net/index.ts';
import { actionsOf } from '../tools/tool-actions.ts';
import { openCallbackContext } from './callback-context.ts';
import type { OpenedCallbackContext } from './callback-context.ts';
import type { CustomContext } from './custom-context.ts';
import type { CustomReply, CustomYield } from './custom-runs.ts';
import { heardBy } from './heard-by.ts';
import { liveState } from './live-state.ts';
import type { ConversationItem } from './places.ts';
import type { Speaking } from './speaking.ts';

/** What a step of a custom agent finds. */
export interface StepScope {
  readonly invocationId: string;
  readonly conversation: readonly ConversationItem[];
  readonly state: JsonObject;
  readonly effect: EffectContext;
}

interface Now {
  readonly scope: StepScope;
  readonly opened: OpenedCallbackContext;
}

/** The context of a custom agent: one object for its whole run, which always shows the step that runs now. */
export class CustomScope {
  readonly context: CustomContext;
  #now: Now;

  constructor(speaking: Speaking, names: readonly string[], first: StepScope) {
    this.#now = { scope: first, opened: opened(speaking, first) };
    const now = (): Now => this.#now;
    const { agentName, among } = speaking;
    this.context = {
      agentName,
      ...among,
      invocationId: first.invocationId,
      sessionKey: this.#now.opened.context.sessionKey,
      get contents() {
        return heardBy({ agentName, among: among ?? {} }, now().scope.conversation);
      },
      get signal() {
        return now().opened.context.signal;
      },
      get stateEntries() {
        return now().scope.state;
      },
      get artifacts() {
        return now().opened.context.artifacts;
      },
      get memory() {
        return now().opened.context.memory;
      },
      state: liveState(() => now().opened.context.state),
      actions: actionsOf((actions) => now().opened.act(actions)),
      run: (sub) => turnOf(sub, agentName, names),
    };
  }

  /** From here on the context shows this step. */
  enter(speaking: Speaking, scope: StepScope): OpenedCallbackContext {
    this.#now = { scope, opened: opened(speaking, scope) };
    return this.#now.opened;
  }
}

function opened(speaking: Speaking, scope: StepScope): OpenedCallbackContext {
  return openCallbackContext(speaking, scope.invocationId, scope.state, scope.effect);
}

async function* turnOf(
  sub: string,
  agentName: string,
  names: readonly string[],
): AsyncGenerator<CustomYield, CustomReply, CustomReply | undefined> {
  if (!names.includes(sub))
    throw new InvalidInputError(
      'agentName',
      `"${sub}" is no sub-agent of "${agentName}". They are: ${names.join(', ') || '(none)'}.`,
    );
  const reply = yield { runs: sub };
  return reply ?? { stopReason: 'end_turn' };
}
