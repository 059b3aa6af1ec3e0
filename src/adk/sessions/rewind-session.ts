import type { EventActions, LogEvent, Seq, SessionKey } from '../../core/index.ts';
import type { Session as RuntimeSession } from '../../runtime/index.ts';
import type { Store } from '../../store/index.ts';
import type { ArtifactService } from '../../tools/index.ts';

/** A session artifact removed by a rewind, and its last version before it; `undefined` if it did not exist then. */
interface RewoundArtifact {
  readonly name: string;
  readonly before: number | undefined;
  /** Position of the rewind that removed the artifact. Stays the same when the rewind is repeated. */
  readonly rewoundAt: Seq;
}

/**
 * Takes a session back to before an invocation: conversation, session state and session artifacts. The log keeps
 * everything and records the rewind. An artifact gets its former content as a new version, or is deleted if it did not
 * exist before. The log decides which, so repeating the same rewind after a crash finishes it and does nothing twice.
 * Artifacts and state of the user are not changed.
 * @throws InvalidInputError if there is no such invocation, or if the events before it were summarized
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

/** Finds the artifacts that rewinds to before this invocation removed and that were not saved again since. */
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

/** Reads the artifacts that an event reports as saved by tools, by callbacks, or before an invocation started. */
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
