import {
  InvalidInputError,
  InvalidStateKeyError,
  isJsonObject,
  validateStateDelta,
} from '../../core/index.ts';
import type { EventActions, StateDelta } from '../../core/index.ts';

/** What an agent or a node of your own may ask for beside what it says: the actions of ADK's events, and the end of the turn. */
export type RequestedActions = Partial<EventActions> & {
  /** The turn stops at once: what is not committed yet is dropped, open calls are answered. */
  readonly endInvocation?: boolean;
};

/** Actions that the event shows by which they are taken. */
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

/** Actions that were read and can be taken. */
export interface ParsedActions {
  readonly stateDelta: StateDelta;
  readonly shown: ShownActions;
  readonly endInvocation: boolean;
}

export const noActions: ParsedActions = { stateDelta: {}, shown: {}, endInvocation: false };

/** Why an action cannot be taken, by its name. */
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

/** What each action must be. */
const ACTION_SHAPES: Readonly<
  Record<keyof ShownActions | 'endInvocation', readonly [ValueCheck, string]>
> = {
  artifactDelta: [
    (value) => isJsonObject(value) && Object.values(value).every((version) => isVersion(version)),
    'must be versions, whole numbers from 0, by the names of artifacts.',
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
 * Reads actions that somebody gave. An action that is not there, false or empty is none.
 * @param unsupported which actions cannot be taken there, and what to do instead
 * @throws InvalidInputError for an action that is unknown, malformed or cannot be taken
 */
export function parseActions(input: unknown, unsupported: UnsupportedActions = {}): ParsedActions {
  if (input === undefined) return noActions;
  if (!isObject(input)) throw new InvalidInputError('actions', 'must be an object.');
  const { stateDelta, ...others } = input;
  const unsupportedHere: Readonly<Record<string, string>> = {
    ...UNSUPPORTED_ACTIONS,
    ...unsupported,
  };
  const taken = Object.entries(others).filter(([, value]) => isSet(value));
  for (const [name, value] of taken) {
    const advice = unsupportedHere[name];
    if (advice !== undefined) throw new InvalidInputError(`actions.${name}`, advice);
    const [fits, problem] = findShape(name);
    if (!fits(value)) throw new InvalidInputError(`actions.${name}`, problem);
  }
  const { endInvocation, ...shown } = Object.fromEntries(taken);
  return {
    stateDelta: stateDelta === undefined ? {} : parseDelta(stateDelta),
    shown,
    endInvocation: endInvocation === true,
  };
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
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a key of it
    return ACTION_SHAPES[name as keyof typeof ACTION_SHAPES];
  const known = ['stateDelta', ...Object.keys(ACTION_SHAPES)].join(', ');
  throw new InvalidInputError(`actions.${name}`, `is unknown. Actions are: ${known}.`);
}

/** Events have empty maps where nobody asked for anything. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return !isObject(value) || Array.isArray(value) || Object.keys(value).length > 0;
}

function isVersion(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
