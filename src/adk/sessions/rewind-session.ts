import type { EventActions, LogEvent, Seq, SessionKey } from '../../core/index.ts';
import type { Session as RuntimeSession } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';

/** An artifact of the session that a rewind took away, and its version before; nothing when it was not there. */
interface RewoundArtifact {
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
  for (const { name, before, rewoundAt } of await findRewoundArtifacts(
    store,
    key,
    beforeInvocationId,
  )) {
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
async function findRewoundArtifacts(
  store: Store,
  key: SessionKey,
  beforeInvocationId: string,
): Promise<readonly RewoundArtifact[]> {
  const startedInvocations: string[] = [];
  let saves: readonly SavedArtifact[] = [];
  const rewound = new Map<string, { readonly rewoundAt: Seq; readonly to: string }>();
  for await (const event of store.read(key, 0)) {
    if (event.type === 'turn.started') startedInvocations.push(event.invocationId);
    if (event.type === 'session.rewound') {
      const from = startedInvocations.indexOf(event.beforeInvocationId);
      const isBefore = ({ invocationId }: SavedArtifact): boolean =>
        startedInvocations.indexOf(invocationId) < from;
      for (const { name } of saves.filter((save) => !isBefore(save)))
        rewound.set(name, { rewoundAt: event.seq, to: event.beforeInvocationId });
      saves = saves.filter(isBefore);
    }
    const { invocationId, artifactDelta } = readArtifactDelta(event);
    for (const [name, version] of Object.entries(artifactDelta)) {
      if (name.startsWith('user:')) continue;
      rewound.delete(name);
      saves = [...saves, { invocationId, name, version }];
    }
  }
  return [...rewound]
    .filter(([, { to }]) => to === beforeInvocationId)
    .map(([name, { rewoundAt }]) => ({
      name,
      rewoundAt,
      before: saves.findLast((save) => save.name === name)?.version,
    }));
}

interface SavedArtifact {
  readonly invocationId: string;
  readonly name: string;
  readonly version: number;
}

/** What an event says was saved: by tools, by callbacks, and before an invocation began. */
function readArtifactDelta(event: LogEvent): {
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
