import { omitUndefined } from '../../core/internal.ts';
import type { Json } from '../../core/index.ts';
import { inputValues } from '../../net/index.ts';
import type { AnyPlace, Net } from '../../net/index.ts';
import { listOutputs } from '../../net/internal.ts';
import { modelRequest, toFirstCall } from '../vocabulary/model-call.ts';
import type { CurrentTurn, Ending, FailedTurn } from '../vocabulary/turn.ts';
import type { HeldValues } from './continuation.ts';
import type { Extension } from './extension.ts';
import type { TurnResources } from './turn-resources.ts';

/**
 * The work of a turn of several agents that a failed model call stops. It has no tokens if the turn cannot be continued:
 * an agent without a continuation, or an effect of an added net, was at work.
 */
export function toFailedTurn(
  { round }: CurrentTurn,
  { failedRequest, failedAgent }: Ending,
  resources: readonly TurnResources[],
  extensions: readonly Extension[],
  held: HeldValues,
): FailedTurn {
  const isEmpty = (place: AnyPlace): boolean => (held[place.name] ?? []).length === 0;
  const added = extensions.flatMap(({ discardable }) => discardable);
  const lost = [
    ...resources.flatMap((part) => (part.continuation === undefined ? listPlaces(part) : [])),
    ...added.filter((place) => !isToken(place)),
  ];
  if (!lost.every(isEmpty)) return { round };
  const tokens = new Map<string, readonly Json[]>();
  const add = ({ name }: AnyPlace, values: readonly Json[]): void => {
    if (values.length > 0) tokens.set(name, [...(tokens.get(name) ?? []), ...values]);
  };
  for (const { continuation, identity, scoped } of resources) {
    const isFailed = identity.agentName === failedAgent && failedRequest !== undefined;
    for (const place of continuation?.kept ?? [])
      if (isFailed && place.name === scoped(modelRequest).name)
        add(place, [toJson(toFirstCall(failedRequest))]);
    for (const place of continuation?.kept ?? []) add(place, inputValues<Json>(held, place));
    for (const { to, toTokens } of continuation?.restarts ?? [])
      add(to, toTokens(held, (place) => place).map(toJson));
  }
  for (const place of added) add(place, inputValues<Json>(held, place));
  return { round, tokens: Object.fromEntries(tokens) };
}

/** A place in which a continued turn may begin. */
export interface ContinuedPlace {
  readonly place: AnyPlace;
  /** The most tokens that a firing gives it. */
  readonly most: number;
  /** True for a budget: of the tokens that it had, it keeps as many as it may have now. */
  readonly isBudget: boolean;
}

/**
 * The places in which a continued turn may begin.
 * @param nets the nets of the agents
 */
export function listContinuedPlaces(
  resources: readonly TurnResources[],
  extensions: readonly Extension[],
  nets: readonly Net[],
): readonly ContinuedPlace[] {
  const places = [
    ...resources.flatMap(({ continuation }) => [
      ...(continuation?.kept ?? []),
      ...(continuation?.restarts ?? []).map(({ to }) => to),
    ]),
    ...extensions.flatMap(({ discardable }) => discardable.filter(isToken)),
  ];
  const most = new Map<string, number>(places.map(({ name }) => [name, 1]));
  for (const { give } of nets.flatMap(({ transitions }) => transitions))
    for (const output of listOutputs(give)) {
      const { name } = output.place;
      if (output.arc === 'upTo' && most.has(name))
        most.set(name, Math.max(most.get(name) ?? 1, output.max));
    }
  const budgets = new Set(resources.flatMap((part) => part.budgets).map(({ name }) => name));
  return [...new Map(places.map((place) => [place.name, place])).values()].map((place) => ({
    place,
    most: most.get(place.name) ?? 1,
    isBudget: budgets.has(place.name),
  }));
}

function listPlaces({ mustAnswer, discardable, budgets }: TurnResources): readonly AnyPlace[] {
  return [...mustAnswer, ...discardable, ...budgets];
}

function isToken({ kind }: AnyPlace): boolean {
  return kind === 'tokens';
}

/** Tokens are JSON: members that are undefined are left out. */
function toJson(value: unknown): Json {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the value of a token
  const json = value as Json;
  return typeof json === 'object' && json !== null && !Array.isArray(json)
    ? omitUndefined(json)
    : json;
}
