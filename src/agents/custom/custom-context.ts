import { InvalidInputError } from '../../core/index.ts';
import type { Content, JsonObject } from '../../core/index.ts';
import type { Actions } from '../../tools/index.ts';
import { createActions } from '../../tools/internal.ts';
import type { ExtendContext, GeneratorContext } from '../generator/live-context.ts';
import type { CustomReply, CustomYield } from '../generator/yields.ts';
import { visibleContents } from '../prompt/visible-contents.ts';
import type { AgentIdentity } from '../vocabulary/agent-identity.ts';
import type { CustomStep } from './custom-places.ts';

/** The context that a custom agent runs with. */
export interface CustomContext extends GeneratorContext {
  readonly agentName: string;
  readonly branch?: string;
  /** Identifies this run of the agent. The same over crashes and retries: an idempotency key for the whole run. */
  readonly activationId: string;
  /** The conversation up to the last yield, as this agent sees it. It changes with each step, as `stateEntries` does. */
  readonly contents: readonly Content[];
  /** All state at the last yield, by key. */
  readonly stateEntries: JsonObject;
  readonly actions: Actions;
  /** Runs a sub-agent: `const reply = yield* context.run('name')`. Returns how it ended. */
  readonly run: (
    agentName: string,
  ) => AsyncGenerator<CustomYield, CustomReply, CustomReply | undefined>;
}

/** The members of a custom agent's context, with the names of its sub-agents. */
export function customContext(
  { agentName, multiAgent = {} }: AgentIdentity,
  names: readonly string[],
): ExtendContext<CustomStep, CustomContext> {
  return ({ step }, { getInputs, act }) => ({
    agentName,
    activationId: step.activation,
    ...multiAgent,
    get contents() {
      return visibleContents({ agentName, multiAgent }, getInputs().conversation);
    },
    get stateEntries() {
      return getInputs().state;
    },
    actions: createActions(act),
    run: (sub) => runSubAgent(sub, agentName, names),
  });
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
