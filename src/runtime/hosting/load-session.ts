import { withPromptChoice } from '../../agents/internal.ts';
import type { Agent } from '../../agents/index.ts';
import { NetChangedError, planUpgrade } from '../../net/index.ts';
import { currentPlaceName, renameMarking } from '../../net/internal.ts';
import type { Marking } from '../../net/index.ts';
import type { InboxRow, SessionRow, Store } from '../../store/index.ts';
import { hydrate } from '../journal/hydrate.ts';

/** A stored session, in the names of an agent's net. */
export interface LoadedSession {
  readonly marking: Marking;
  /** How the session continues under the agent's net. Undefined: it is under that net. */
  readonly upgrade: ReturnType<typeof planUpgrade>;
  /**
   * The places to which `migrate` moves unread inputs, by the place that they were sent to. Undefined: the session is
   * under the agent's net.
   */
  readonly movedInputs: ReadonlyMap<string, string> | undefined;
}

/** True when the last step of the session was committed under another net. */
export function isNetChanged(row: SessionRow, agent: Agent): boolean {
  return row.head > 0 && row.netHash !== agent.compiled.hash;
}

/** True when the session must be loaded before its claim: its tokens or its unread inputs may not fit the agent. */
export function mayNotFit(row: SessionRow, agent: Agent): boolean {
  // The first inputs of a session may come from another release, too.
  return row.netHash !== agent.compiled.hash && (row.head > 0 || row.inboxPending);
}

/**
 * Finds the place that takes a new input. An input of a place that the agent does not have goes where `migrate` moves
 * it. It comes from a process of another release, after this one has decided about the inputs that were unread. Without
 * such a place the net rejects it.
 */
export function findInputPlace({ compiled, migrate }: Agent, name: string): string {
  const place = currentPlaceName(compiled.formerNames, name);
  if (compiled.places.get(place)?.environment === true) return place;
  return migrate?.([name]).moved?.[name] ?? place;
}

/**
 * Loads a session for an agent. Writes nothing.
 * @throws NetChangedError when the session's tokens, or its unread inputs, do not fit the agent
 */
export async function loadSession(
  store: Store,
  { key, netHash }: Pick<SessionRow, 'key' | 'netHash'>,
  agent: Agent,
): Promise<LoadedSession> {
  const { compiled, migrate } = agent;
  const marking = await hydrate(store, key);
  const upgrade =
    marking.seq > 0
      ? planUpgrade(marking, compiled, withPromptChoice(compiled, migrate))
      : undefined;
  // Without steps, it is under the net of the agent that created it.
  const isUnderOtherNet = marking.seq > 0 ? upgrade !== undefined : netHash !== compiled.hash;
  const movedInputs = isUnderOtherNet
    ? moveInputs(await store.inbox(key, 0), marking, agent)
    : undefined;
  // The host reads current names before the upgrade is committed. A new session has none.
  if (marking.seq > 0) renameMarking(marking, compiled);
  return { marking, upgrade, movedInputs };
}

/**
 * Decides about unread inputs that only the stored net takes: the agent's net would reject them. Like tokens, they
 * need `migrate`. An input that it drops is rejected. A session without steps has no stored net: its inputs were
 * accepted by the agent of their sender.
 */
function moveInputs(
  inbox: readonly InboxRow[],
  { seq, net: { versions } }: Marking,
  { compiled, migrate }: Agent,
): ReadonlyMap<string, string> {
  const isInput = (place: string): boolean => compiled.places.get(place)?.environment === true;
  const lost = new Set(
    inbox
      .map(({ input }) => input.place)
      .filter(
        (place) =>
          (seq === 0 || versions[place] !== undefined) &&
          !isInput(currentPlaceName(compiled.formerNames, place)),
      ),
  );
  if (lost.size === 0) return new Map();
  const { moved = {} } = migrate?.([...lost]) ?? {};
  const left = [...lost].filter((place) => {
    const target = moved[place];
    return target === undefined || (target !== null && !isInput(target));
  });
  if (left.length > 0) throw new NetChangedError(compiled.name, left);
  return new Map(
    [...lost].flatMap((place) => {
      const target = moved[place];
      return typeof target === 'string' ? [[place, target] as const] : [];
    }),
  );
}
