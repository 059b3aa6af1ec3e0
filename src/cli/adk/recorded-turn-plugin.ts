import { isDeepStrictEqual } from 'node:util';
import { BasePlugin, getFunctionCalls, getFunctionResponses } from '../../adk/index.ts';
import type { Content, Event, FunctionCall, Json, JsonObject } from '../../core/index.ts';
import type { OpenTurn } from './open-turn.ts';

type BeforeModel = Parameters<BasePlugin['beforeModelCallback']>[0];
type BeforeTool = Parameters<BasePlugin['beforeToolCallback']>[0];

/** The result of a call for which the saved session has none, although it does not wait. */
const UNKNOWN: JsonObject = {
  error: {
    code: 'outcome_unknown',
    message: 'The saved session has no result of this call. It is not run again.',
  },
};

interface RecordedCall {
  readonly call: FunctionCall;
  /** Undefined: it waits, so it is made again. */
  readonly response: JsonObject | undefined;
  readonly actions: Event['actions'] | undefined;
}

/**
 * Runs a saved turn again up to the calls that wait: models give the saved answers, and calls their saved results. After
 * these, nothing is changed.
 */
export class RecordedTurnPlugin extends BasePlugin {
  readonly #answers: Map<string, Content[]> = new Map();
  readonly #calls: RecordedCall[];

  constructor({ events, waiting }: OpenTurn) {
    super('recorded_turn');
    for (const { author, content, partial } of events) {
      if (content?.role !== 'model' || partial === true || isRequestToUser(content)) continue;
      this.#answers.set(author, [...(this.#answers.get(author) ?? []), content]);
    }
    const responses = new Map(
      events.flatMap((event) =>
        getFunctionResponses(event).map(
          ({ id, response }) => [id, { response, actions: event.actions }] as const,
        ),
      ),
    );
    const calls = events.flatMap(getFunctionCalls);
    // A call that waits in a called agent is not among the events: the call of the agent has no result yet.
    const isInner = [...waiting].some((id) => !calls.some((call) => call.id === id));
    this.#calls = calls.map((call) => {
      const { response, actions } = responses.get(call.id) ?? {};
      const waits = waiting.has(call.id) || (isInner && response === undefined);
      return { call, response: waits ? undefined : (response ?? UNKNOWN), actions };
    });
  }

  /** Forgets what is left, when the turn waits again. */
  end(): void {
    this.#answers.clear();
    this.#calls.length = 0;
  }

  override async beforeModelCallback({
    callbackContext,
  }: BeforeModel): ReturnType<BasePlugin['beforeModelCallback']> {
    const content = this.#answers.get(callbackContext.agentName)?.shift();
    return content === undefined ? undefined : { content };
  }

  override async beforeToolCallback({
    tool,
    toolArgs,
    toolContext,
  }: BeforeTool): Promise<Json | undefined> {
    const index = this.#calls.findIndex(
      ({ call }) => call.name === tool.name && isDeepStrictEqual(call.args, { ...toolArgs }),
    );
    const [recorded] = index === -1 ? [] : this.#calls.splice(index, 1);
    if (recorded?.response === undefined) return undefined;
    const { stateDelta = {}, escalate, skipSummarization } = recorded.actions ?? {};
    for (const [key, value] of Object.entries(stateDelta)) toolContext.state.set(key, value);
    toolContext.actions.escalate = escalate;
    toolContext.actions.skipSummarization = skipSummarization;
    return recorded.response;
  }
}

function isRequestToUser({ parts }: Content): boolean {
  return parts.some(
    (part) => 'functionCall' in part && part.functionCall.name.startsWith('adk_request_'),
  );
}
