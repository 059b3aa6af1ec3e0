import { signal } from '@preact/signals';
import { parseRecords } from '../../../src/net/journal/index.ts';
import type { ConsoleClient } from '../api/console-client.ts';
import type { SessionEvent, SessionForkPoint, SessionNet, SessionRow } from '../api/types.ts';
import { untilReached } from '../api/until-reached.ts';
import { JournalHistory } from './journal-history.ts';
import { serialized } from './serialized.ts';
import { withMoment } from './session-model.ts';
import type { SessionModel } from './session-model.ts';

/** A session that is read page by page. It keeps no connection open, so a page can show several. */
export interface PagedSession {
  readonly model: SessionModel;
  /** Reads what was added since. */
  readonly refresh: () => void;
}

/** Reads a session without following it. */
export function readSession(client: ConsoleClient, id: string, aborted: AbortSignal): PagedSession {
  const session = signal<SessionRow | undefined>(undefined);
  const events = signal<readonly SessionEvent[]>([]);
  const last = signal(0);
  const net = signal<SessionNet | undefined>(undefined);
  const forkPoints = signal<readonly SessionForkPoint[]>([]);
  const error = signal<Error | undefined>(undefined);
  const history = new JournalHistory();
  const { sessions } = client;
  const read = async (): Promise<void> => {
    session.value = await sessions.get(id);
    net.value ??= await sessions.net(id);
    for await (const { stored, step } of sessions.records(id, {
      after: history.last,
      values: 'full',
      limit: 1000,
    })) {
      if (aborted.aborted) return;
      for (const record of parseRecords([stored])) history.append(record, step);
    }
    forkPoints.value = await Array.fromAsync(sessions.forkPoints(id, { limit: 1000 }));
    events.value = await Array.fromAsync(sessions.listEvents(id, { limit: 1000 }));
    last.value = history.last;
  };
  const refresh = serialized(
    async () => untilReached(read, aborted),
    (cause) => {
      if (!aborted.aborted) error.value = cause instanceof Error ? cause : new Error(String(cause));
    },
  );
  refresh();
  const source = {
    id,
    session,
    events,
    previews: signal([]),
    history,
    last,
    net,
    noNet: signal(undefined),
  };
  return { model: withMoment({ ...source, forkPoints, error, isFile: false }), refresh };
}
