import { isObject, isRecord } from '../../core/internal.ts';
import {
  InvalidInputError,
  InvalidStateKeyError,
  isJsonObject,
  validateStateDelta,
} from '../../core/index.ts';
import type { EventActions, Route, StateDelta } from '../../core/index.ts';

/** Actions that a custom agent or a node may request beside its content: the actions of ADK's events, and the end of the turn. */
export type RequestedActions = Partial<EventActions> & {
  /** Stops the turn at once. Uncommitted work is dropped; open calls get a result. */
  readonly endInvocation?: boolean;
};

/** Actions that are shown in the event of the message that requested them. */
export type ShownActions = Pick<
  Partial<EventActions>,
  | 'artifactDelta'
  | 'skipSummarization'
  | 'transferToAgent'
  | 'escalate'
  | 'endOfAgent'
  | 'route'
  | 'renderUiWidgets'
>;

/** Validated actions. */
export interface ParsedActions {
  readonly stateDelta: StateDelta;
  readonly shown: ShownActions;
  readonly endInvocation: boolean;
}

/** The result of `parseActions` when no action was requested. */
export const noActions: ParsedActions = { stateDelta: {}, shown: {}, endInvocation: false };

/** For each unsupported action, the reason and the alternative. */
export type UnsupportedActions = Partial<Readonly<Record<keyof RequestedActions, string>>>;

const UNSUPPORTED_ACTIONS: UnsupportedActions = {
  requestedToolConfirmations:
    'cannot wait for its answer here: give an LlmAgent a tool with needsApproval, or yield RequestInput in a node of a workflow.',
  requestedAuthConfigs:
    'cannot wait for its answer here: give an LlmAgent a tool that asks for the credential.',
  rewindBeforeInvocationId: 'is set by a rewind: call runner.rewind() between two invocations.',
  compaction: 'is set by a compaction: give the app eventsCompactionConfig.',
};

type ValueCheck = (value: unknown) => boolean;

const isBoolean: ValueCheck = (value) => typeof value === 'boolean';
const isRouteValue: ValueCheck = (value) => ['string', 'number', 'boolean'].includes(typeof value);

/** For each action, a check of its value and the message when the check fails. */
const ACTION_SHAPES: Readonly<
  Record<keyof ShownActions | 'endInvocation', readonly [ValueCheck, string]>
> = {
  artifactDelta: [
    (value) => isJsonObject(value) && Object.values(value).every((version) => isVersion(version)),
    'must map names of artifacts to versions, which are whole numbers from 0.',
  ],
  skipSummarization: [isBoolean, 'must be true or false.'],
  transferToAgent: [
    (value) => typeof value === 'string' && value !== '',
    'must be the name of an agent.',
  ],
  escalate: [isBoolean, 'must be true or false.'],
  endOfAgent: [isBoolean, 'must be true or false.'],
  endInvocation: [isBoolean, 'must be true or false.'],
  route: [
    (value) => isRouteValue(value) || (Array.isArray(value) && value.every(isRouteValue)),
    'must be a string, a number, a boolean, or a list of them.',
  ],
  renderUiWidgets: [Array.isArray, 'must be a list of widgets.'],
};

/**
 * Parses requested actions. An action that is missing, false or empty counts as not requested.
 * @param unsupported the actions that the caller does not support, with advice for the error
 * @throws InvalidInputError for an action that is unknown, malformed or unsupported
 */
export function parseActions(input: unknown, unsupported: UnsupportedActions = {}): ParsedActions {
  if (input === undefined) return noActions;
  if (!isObject(input)) throw new InvalidInputError('actions', 'must be an object.');
  const { stateDelta, ...others } = input;
  const unsupportedHere: Readonly<Record<string, string>> = {
    ...UNSUPPORTED_ACTIONS,
    ...unsupported,
  };
  const requested = Object.entries(others).filter(([, value]) => isSet(value));
  for (const [name, value] of requested) {
    const advice = unsupportedHere[name];
    if (advice !== undefined) throw new InvalidInputError(`actions.${name}`, advice);
    const [isValid, problem] = findShape(name);
    if (!isValid(value)) throw new InvalidInputError(`actions.${name}`, problem);
  }
  const { endInvocation, ...shown } = Object.fromEntries(requested);
  return {
    stateDelta: stateDelta === undefined ? {} : parseDelta(stateDelta),
    shown,
    endInvocation: endInvocation === true,
  };
}

/**
 * Validates the route of an event. Unlike the action `route`, it may be false.
 * @throws InvalidInputError
 */
export function parseRoute(route: Route | undefined): Route | undefined {
  const [isValid, problem] = ACTION_SHAPES.route;
  if (route !== undefined && !isValid(route)) throw new InvalidInputError('route', problem);
  return route;
}

function parseDelta(delta: unknown): StateDelta {
  try {
    return validateStateDelta(delta);
  } catch (error) {
    if (!(error instanceof InvalidStateKeyError)) throw error;
    const field = `actions.stateDelta[${JSON.stringify(error.key)}]`;
    throw new InvalidInputError(field, error.message, { cause: error });
  }
}

function findShape(name: string): readonly [ValueCheck, string] {
  if (Object.hasOwn(ACTION_SHAPES, name))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- hasOwn has just checked that it is a key
    return ACTION_SHAPES[name as keyof typeof ACTION_SHAPES];
  const known = ['stateDelta', ...Object.keys(ACTION_SHAPES)].join(', ');
  throw new InvalidInputError(`actions.${name}`, `is unknown. Actions are: ${known}.`);
}

/** Events of ADK have empty maps for actions that were not requested. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return !isRecord(value) || Object.keys(value).length > 0;
}

function isVersion(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
