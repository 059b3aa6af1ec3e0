import type { EventActions, LogEvent, SessionKey } from '../core/index.ts';
import type { Session as RuntimeSession } from '../runtime/index.ts';
import type { Store } from '../store/index.ts';
import type { ArtifactService } from '../tools/index.ts';

/** An artifact of the session that was saved in what is rewound, and its version before; nothing when it was not there. */
interface Changed {
  readonly name: string;
  readonly before: number | undefined;
}

/**
 * Takes a session back to before an invocation: conversation, state and its own artifacts. The log keeps everything and
 * says so. An artifact gets its former content as a new version, or goes when there was none; done again after a crash it
 * does nothing twice. Artifacts of the user, like their state, stay as they are.
 * @throws InvalidInputError when there is no such invocation, or what is before it was summarised
 */
export async function rewindSession(
  session: RuntimeSession,
  { store, artifacts }: { readonly store: Store; readonly artifacts?: ArtifactService },
  beforeInvocationId: string,
): Promise<void> {
  const { key, lastSeq, uid } = await session.status();
  const changed = artifacts === undefined ? [] : await changedSince(store, key, beforeInvocationId);
  await session.rewind({ beforeInvocationId });
  if (artifacts === undefined) return;
  for (const { name, before } of changed) {
    const part =
      before === undefined ? undefined : await artifacts.load({ session: key, name }, before);
    if (part === undefined) await artifacts.delete({ session: key, name });
    else
      await artifacts.save({ session: key, name }, part, {
        saveId: `rewind/${uid}/${lastSeq}/${name}`,
      });
  }
}

async function changedSince(
  store: Store,
  key: SessionKey,
  beforeInvocationId: string,
): Promise<readonly Changed[]> {
  const log: LogEvent[] = [];
  for await (const event of store.read(key, 0)) log.push(event);
  const saves = standing(log);
  const order = [...new Set(saves.map(({ invocationId }) => invocationId))];
  const begun = invocationsIn(log);
  const from = begun.indexOf(beforeInvocationId);
  const isBefore = (invocationId: string): boolean => begun.indexOf(invocationId) < from;
  const rewound = new Set(order.filter((invocationId) => !isBefore(invocationId)));
  const names = new Set(
    saves.filter(({ invocationId }) => rewound.has(invocationId)).map(({ name }) => name),
  );
  return [...names].map((name) => ({
    name,
    before: saves.findLast((save) => save.name === name && isBefore(save.invocationId))?.version,
  }));
}

interface Save {
  readonly invocationId: string;
  readonly name: string;
  readonly version: number;
}

/** The saves of the session's own artifacts that no rewind has taken back. */
function standing(log: readonly LogEvent[]): readonly Save[] {
  const begun = invocationsIn(log);
  let saves: readonly Save[] = [];
  for (const event of log) {
    if (event.type === 'session.rewound') {
      const from = begun.indexOf(event.beforeInvocationId);
      saves = saves.filter(({ invocationId }) => begun.indexOf(invocationId) < from);
    }
    const { invocationId, artifactDelta } = savedIn(event);
    for (const [name, version] of Object.entries(artifactDelta)) {
      if (!name.startsWith('user:')) saves = [...saves, { invocationId, name, version }];
    }
  }
  return saves;
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

/** In the order they began. */
function invocationsIn(log: readonly LogEvent[]): readonly string[] {
  return log.flatMap((event) => (event.type === 'turn.started' ? [event.invocationId] : []));
}
