import { omitUndefined } from '../../core/internal.ts';
import {
  decodeJson,
  encodeJson,
  InvalidInputError,
  isJsonObject,
  parseContent,
} from '../../core/index.ts';
import type { Content, Json, Route, StateDelta } from '../../core/index.ts';
import { parseActions, parseRoute } from '../callbacks/parse-actions.ts';
import type { ShownActions, UnsupportedActions } from '../callbacks/parse-actions.ts';
import { NodeEvent, RequestInput } from './yields.ts';
import type { YieldedEvent } from './yields.ts';

/** How the yields of a function are read. */
export interface YieldForm {
  /** The name of the agent or node, for errors. */
  readonly name: string;
  /**
   * What a value is that is neither an event nor content.
   * - `message`: text is a message, `{ content, actions, … }` an event, and a returned value is ignored.
   * - `output`: it is the output.
   */
  readonly otherValues: 'message' | 'output';
  /** The actions that are not supported here, with advice for the error. */
  readonly unsupported?: UnsupportedActions;
  /** Advice for the error when a question is not supported here. */
  readonly questionsUnsupported?: string;
}

/** A validated yield. */
export interface ParsedYield {
  readonly content?: Content;
  readonly output?: Json;
  readonly route?: Route;
  readonly stateDelta: StateDelta;
  /** The actions to request, without the route. */
  readonly actions: Omit<ShownActions, 'route'>;
  readonly endInvocation: boolean;
  /** The question, if the yield asks one. */
  readonly question?: RequestInput;
  /** The sub-agent to run. */
  readonly runs?: string;
}

const nothing: ParsedYield = { stateDelta: {}, actions: {}, endInvocation: false };

/** Members of an event that the log sets. A yield may contain them; they are ignored. */
const LOG_MEMBERS: readonly string[] = ['id', 'timestamp', 'invocationId', 'author', 'branch'];

/**
 * Parses the value that a custom agent or a node yielded or returned.
 * @throws InvalidInputError for a member or an action that is unknown, malformed or unsupported
 * @throws NotSerializableError for an output that is not JSON
 */
export function parseYield(
  { done = false, value }: IteratorResult<unknown, unknown>,
  form: YieldForm,
): ParsedYield {
  const { name, otherValues, questionsUnsupported } = form;
  if (value instanceof RequestInput) {
    if (questionsUnsupported === undefined) return { ...nothing, question: value };
    throw new InvalidInputError(`yield of "${name}"`, questionsUnsupported);
  }
  if (value instanceof NodeEvent) return parseEvent(value, form);
  if (otherValues === 'message') return done ? nothing : parseMessage(value, form);
  if (value === undefined || value === null) return nothing;
  return isContent(value)
    ? { ...nothing, ...toModelContent(value) }
    : { ...nothing, output: copyOutput(value, name) };
}

function parseMessage(value: unknown, form: YieldForm): ParsedYield {
  if (typeof value === 'string')
    return { ...nothing, content: { role: 'model', parts: [{ text: value }] } };
  if (typeof value !== 'object' || value === null)
    throw new InvalidInputError(
      'yield',
      `must be text, content, or { content, actions, output }; it is ${String(value)}.`,
    );
  if ('runs' in value) return { ...nothing, runs: String(value.runs) };
  if ('parts' in value)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- parseContent checks it
    return { ...nothing, ...toModelContent(value as Content) };
  return parseEvent(value, form);
}

function parseEvent(
  { content, output, route: eventRoute, state, actions, ...others }: YieldedEvent,
  { name, unsupported }: YieldForm,
): ParsedYield {
  for (const [member, value] of Object.entries(others)) {
    if (LOG_MEMBERS.includes(member) || value === undefined || value === false) continue;
    throw new InvalidInputError(
      `yield.${member}`,
      'is not supported. An agent yields text, content, or { content, actions, output, route, state }.',
    );
  }
  const { stateDelta, shown, endInvocation } = parseActions(actions, unsupported);
  const { route: actionRoute, ...otherActions } = shown;
  const route = parseRoute(eventRoute) ?? actionRoute;
  return {
    ...(content !== undefined && toModelContent(content)),
    ...omitUndefined({
      output: output === undefined ? undefined : copyOutput(output, name),
      route,
    }),
    stateDelta: { ...stateDelta, ...state },
    actions: otherActions,
    endInvocation,
  };
}

function isContent(value: unknown): value is Content {
  return isJsonObject(value) && typeof value['role'] === 'string' && Array.isArray(value['parts']);
}

/** The content as a model message; nothing if it has no parts. */
function toModelContent(content: Content): Pick<ParsedYield, 'content'> {
  if (content.parts.length === 0) return {};
  return { content: parseContent({ ...content, role: 'model' }, { unknownParts: 'keep' }) };
}

function copyOutput(output: unknown, name: string): Json {
  const what = `output of "${name}"`;
  return decodeJson(encodeJson(output, what), what);
}

/** A value as text for a model or a user: strings as they are, other values as JSON. */
export function textContent(value: Json): Content {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return { role: 'model', parts: [{ text }] };
}
