import type { EventActions, LogEvent, Seq, SessionKey } from '../core/index.ts';
import type { Session as RuntimeSession } from '../runtime/index.ts';
import type { Store } from '../store/index.ts';
import type { ArtifactService } from '../tools/index.ts';

/** An artifact of the session that a rewind took away, and its version before; nothing when it was not there. */
interface Changed {
  readonly name: string;
  readonly before: number | undefined;
  /** Of the rewind that took it away, however often that was asked for. */
  readonly rewoundAt: Seq;
}

/**
 * Takes a session back to before an invocation: conversation, state and its own artifacts. The log keeps everything and
 * says so. An artifact gets its former content as a new version, or goes when there was none: what the log says decides
 * which, so the same rewind asked for again after a crash finishes it, and does nothing twice. Artifacts of the user, like
 * their state, stay as they are.
 * @throws InvalidInputError when there is no such invocation, or what is before it was summarised
 */
export async function rewindSession(
  session: RuntimeSession,
  { store, artifacts }: { readonly store: Store; readonly artifacts?: ArtifactService },
  beforeInvocationId: string,
): Promise<void> {
  await session.rewind({ beforeInvocationId });
  if (artifacts === undefined) return;
  const { key, uid } = await session.status();
  for (const { name, before, rewoundAt } of await takenAway(store, key, beforeInvocationId)) {
    const part =
      before === undefined ? undefined : await artifacts.load({ session: key, name }, before);
    if (part === undefined) await artifacts.delete({ session: key, name });
    else
      await artifacts.save({ session: key, name }, part, {
        saveId: `rewind/${uid}/${rewoundAt}/${name}`,
      });
  }
}

/** The artifacts that rewinds to before an invocation took away, and that nobody has saved since. */
async function takenAway(
  store: Store,
  key: SessionKey,
  beforeInvocationId: string,
): Promise<readonly Changed[]> {
  const begun: string[] = [];
  let standing: readonly Save[] = [];
  const taken = new Map<string, { readonly rewoundAt: Seq; readonly to: string }>();
  for await (const event of store.read(key, 0)) {
    if (event.type === 'turn.started') begun.push(event.invocationId);
    if (event.type === 'session.rewound') {
      const from = begun.indexOf(event.beforeInvocationId);
      const isBefore = ({ invocationId }: Save): boolean => begun.indexOf(invocationId) < from;
      for (const { name } of standing.filter((save) => !isBefore(save)))
        taken.set(name, { rewoundAt: event.seq, to: event.beforeInvocationId });
      standing = standing.filter(isBefore);
    }
    const { invocationId, artifactDelta } = savedIn(event);
    for (const [name, version] of Object.entries(artifactDelta)) {
      if (name.startsWith('user:')) continue;
      taken.delete(name);
      standing = [...standing, { invocationId, name, version }];
    }
  }
  return [...taken]
    .filter(([, { to }]) => to === beforeInvocationId)
    .map(([name, { rewoundAt }]) => ({
      name,
      rewoundAt,
      before: standing.findLast((save) => save.name === name)?.version,
    }));
}

interface Save {
  readonly invocationId: string;
  readonly name: string;
  readonly version: number;
}

/** What an event says was saved: by tools, by callbacks, and before an invocation began. */
function savedIn(event: LogEvent): {
  readonly invocationId: string;
  readonly artifactDelta: EventActions['artifactDelta'];
} {
  switch (event.type) {
    case 'tool.result':
    case 'agent.message':
      return {
        invocationId: event.invocationId,
        artifactDelta: event.actions?.artifactDelta ?? {},
      };
    case 'event.appended':
      return {
        invocationId: event.invocationId,
        artifactDelta: event.event.actions.artifactDelta,
      };
    default:
      return { invocationId: '', artifactDelta: {} };
  }
}
