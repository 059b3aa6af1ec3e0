import * as v from 'valibot';
import { valuesIn } from '../../net/index.ts';
import { SessionNotFoundError } from '../../store/internal.ts';
import type { InboxRow, SessionRow, Store } from '../../store/index.ts';
import { hydrate } from '../journal/hydrate.ts';
import { readScheduleState } from './read-schedule-state.ts';
import type { StoredSchedule } from './schedule-definition.ts';
import {
  definitionIn,
  definitionSchema,
  scheduleDefinition,
  scheduleStateSchema,
  scheduleTimer,
  stateIn,
} from './schedule-places.ts';
import type { ScheduleState } from './schedule-places.ts';

/** What a store has of a schedule. */
export interface ScheduleReading {
  readonly row: SessionRow;
  readonly definition: Pick<StoredSchedule, 'session'>;
  /** Undefined: its net has not taken its definition, or this release does not understand it. */
  readonly state: ScheduleState | undefined;
  /** When the next due time fires, in epoch ms. Null: unknown, or never. */
  readonly nextRunAt: number | null;
}

/**
 * Reads a schedule. What its net has not taken is read from its inbox: a new definition, and the state with which its
 * journal begins anew. Undefined: it was deleted.
 * @param found its row
 */
export async function readStoredSchedule(
  store: Store,
  found: SessionRow,
): Promise<ScheduleReading | undefined> {
  for (let row = found; ;) {
    const reading = await readSchedule(store, row);
    if (reading !== undefined) return reading;
    const current = await store.find(row.key);
    if (current === undefined || (current.uid === row.uid && current.head === row.head))
      return undefined;
    // Its net took its input between both reads, or its journal began anew.
    row = current;
  }
}

async function readSchedule(store: Store, row: SessionRow): Promise<ScheduleReading | undefined> {
  try {
    const marking = await hydrate(store, row.key);
    const state = readScheduleState(marking);
    const [definition = state?.definition] = valuesIn(marking, scheduleDefinition);
    const [timer] = valuesIn(marking, scheduleTimer);
    if (definition !== undefined)
      return { row, definition, state, nextRunAt: timer?.fireAt ?? null };
    return await readUntaken(store, row);
  } catch (error) {
    if (error instanceof SessionNotFoundError) return undefined;
    throw error;
  }
}

async function readUntaken(store: Store, row: SessionRow): Promise<ScheduleReading | undefined> {
  const inbox = await store.inbox(row.key, 0);
  const state = findInput(inbox, stateIn.name, scheduleStateSchema);
  const definition = state?.definition ?? findInput(inbox, definitionIn.name, definitionSchema);
  return definition && { row, definition, state, nextRunAt: null };
}

function findInput<T>(
  inbox: readonly InboxRow[],
  place: string,
  schema: v.GenericSchema<unknown, T>,
): T | undefined {
  const found = inbox.find(({ input }) => input.place === place);
  return found && v.parse(schema, found.input.value);
}
