import * as v from 'valibot';
import { omitUndefined } from '../../core/internal.ts';
import type { MapWrites } from '../../net/index.ts';
import { runEntrySchema } from './schedule-places.ts';
import type { ScheduledRun } from './schedule-places.ts';

/** The history has at most this many runs. */
const MAX_HISTORY = 100;

/** Adds what is new about a run. The oldest runs that are over make room. */
export function addToHistory(
  history: Readonly<Record<string, unknown>>,
  entry: ScheduledRun,
): MapWrites {
  const known = history[entry.id];
  const over = listRuns(history).filter(({ status }) => status !== 'running');
  const surplus = Object.keys(history).length + (known === undefined ? 1 : 0) - MAX_HISTORY;
  return {
    set: { [entry.id]: omitUndefined({ ...(isRun(known) ? known : {}), ...entry }) },
    delete: surplus <= 0 ? [] : over.slice(-surplus).map(({ id }) => id),
  };
}

/** Makes a history of these runs. */
export function toHistory(runs: readonly ScheduledRun[]): MapWrites {
  return { set: Object.fromEntries(runs.map((run) => [run.id, omitUndefined({ ...run })])) };
}

/** Lists the runs of a history, the one that was due last first. */
export function listRuns(history: Readonly<Record<string, unknown>>): readonly ScheduledRun[] {
  return Object.values(history)
    .filter(isRun)
    .toSorted((one, other) => other.dueAt - one.dueAt);
}

function isRun(entry: unknown): entry is ScheduledRun {
  return v.is(runEntrySchema, entry);
}
