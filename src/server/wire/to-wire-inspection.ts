import { isJsonObject, omitUndefined } from '../../core/internal.ts';
import { decodeJson, encodeJson } from '../../core/index.ts';
import type { Json } from '../../core/index.ts';
import type {
  ForkPoint,
  InspectedMarking,
  InspectedModelRequest,
  InspectedRecord,
  NetDescription,
  SubnetDescription,
} from '../../runtime/index.ts';
import { toClientMessage } from './client-error-message.ts';
import type { Wire } from './component.ts';

/** Converts a record for clients. Texts of providers and exceptions are replaced: only the log of the server has them. */
export function toWireRecord(
  {
    record,
    dueAt,
    timeoutAt,
    errorCode,
    netHash,
    reason: _reason,
    owner: _owner,
    stored,
    ...rest
  }: InspectedRecord,
  sessionId: string,
): Wire<'SessionRecord'> {
  return replaceFailureTexts(
    {
      record,
      ...rest,
      ...omitUndefined({
        due_at: dueAt,
        timeout_at: timeoutAt,
        error_code: errorCode,
        net_hash: netHash,
        stored: stored === undefined ? undefined : hideReason(stored),
      }),
    },
    `${sessionId}, record ${record}`,
  );
}

/** Converts a marking for clients, with the same replacements. */
export function toWireMarking(
  { record, step, at, netHash, places, firings, encoded }: InspectedMarking,
  sessionId: string,
): Wire<'SessionMarking'> {
  return replaceFailureTexts(
    {
      record,
      step,
      at,
      net_hash: netHash,
      places,
      firings: firings.map(
        ({ firing, transition, startedAt, attempt, crashes, timeoutAt, retryAt, inputs }) => ({
          firing,
          transition,
          started_at: startedAt,
          attempt,
          crashes,
          timeout_at: timeoutAt,
          ...omitUndefined({ retry_at: retryAt }),
          inputs,
        }),
      ),
      ...(encoded !== undefined && {
        encoded: { ...encoded, firings: encoded.firings.map(hideReason) },
      }),
    },
    `${sessionId}, record ${record}`,
  );
}

export function toWireNet({
  transitions,
  subnets,
  layout: { edges, ...layout },
  ...net
}: NetDescription): Wire<'SessionNet'> {
  return toMutable({
    ...net,
    layout: {
      ...layout,
      ...omitUndefined({
        edges: edges?.map(({ startTip, endTip, ...edge }) => ({
          ...edge,
          ...omitUndefined({ start_tip: startTip, end_tip: endTip }),
        })),
      }),
    },
    transitions: transitions.map(({ afterMs, timeoutMs, onCrash, ...rest }) => ({
      ...rest,
      ...omitUndefined({ after_ms: afterMs, timeout_ms: timeoutMs, on_crash: onCrash }),
    })),
    subnets: subnets.flatMap((subnet) => listSubnets(subnet, [])),
  });
}

function listSubnets(
  { name, transitions, subnets }: SubnetDescription,
  around: readonly string[],
): readonly { readonly path: readonly string[]; readonly transitions: readonly string[] }[] {
  const path = [...around, name];
  return [{ path, transitions }, ...subnets.flatMap((inner) => listSubnets(inner, path))];
}

export function toWireModelRequest({
  netChanged,
  mayDiffer,
  ...rest
}: InspectedModelRequest): Wire<'SessionModelRequest'> {
  return toMutable({ ...rest, net_changed: netChanged, may_differ: mayDiffer });
}

export function toWireForkPoint({ upTo, ...rest }: ForkPoint): Wire<'ForkPoint'> {
  return { up_to_seq: upTo, ...rest };
}

const HIDDEN = 'The log of the server has the reason.';

/** The reason of a failed attempt is the text of an exception. */
function hideReason<T extends object>(value: T): T {
  return 'reason' in value && value.reason !== undefined ? { ...value, reason: HIDDEN } : value;
}

/** Replaces the message of every object that has a code and a message, as events do. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the wire type
function replaceFailureTexts<T>(value: unknown, reference: string): T {
  const replace = (one: Json): Json => {
    if (Array.isArray(one)) return one.map(replace);
    if (!isJsonObject(one)) return one;
    const { code, message } = one;
    const members = Object.entries(one).map(([key, member]) => [key, replace(member)] as const);
    const copy = Object.fromEntries(members);
    return typeof code === 'string' && typeof message === 'string'
      ? { ...copy, message: toClientMessage({ code, message }, reference) }
      : copy;
  };
  return toMutable(replace(toJson(value)));
}

function toJson(value: unknown): Json {
  return decodeJson(encodeJson(value, 'inspection'), 'inspection');
}

/** A copy with the type of the wire, whose lists are not readonly. Tests compare every response with its schema. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the wire type
function toMutable<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the response schema has this type
  return toJson(value) as T;
}
