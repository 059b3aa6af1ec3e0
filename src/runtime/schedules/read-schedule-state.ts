import * as v from 'valibot';
import { mapIn, tokensIn } from '../../net/index.ts';
import type { AnyPlace, Marking } from '../../net/index.ts';
import type { Json } from '../../core/index.ts';
import { listRuns } from './run-history.ts';
import {
  runActive,
  runChallenger,
  runCheck,
  runDue,
  runHistory,
  runQueued,
  runReady,
  scheduleDefinition,
  scheduleEnded,
  schedulePassed,
  schedulePaused,
  scheduleTimer,
  STATE_SCHEMAS,
} from './schedule-places.ts';
import type { ActiveRun, ScheduleState } from './schedule-places.ts';

/**
 * Reads the state of a schedule from the marking of its journal, also from that of another release. Tokens of an effect in
 * flight count as not taken: after a crash it runs again. Undefined when there is no definition, or when the marking has
 * something that this release does not understand.
 */
export function readScheduleState(marking: Marking): ScheduleState | undefined {
  try {
    const [definition] = read(marking, scheduleDefinition, STATE_SCHEMAS.definition);
    const [timer] = read(marking, scheduleTimer, STATE_SCHEMAS.timer);
    const [passed] = read(marking, schedulePassed, STATE_SCHEMAS.passed);
    const [check] = read(marking, runCheck, STATE_SCHEMAS.check);
    const [found = check?.run] = read(marking, runActive, STATE_SCHEMAS.started);
    const active = isActive(found) ? found : null;
    // The message of a run that an earlier release described otherwise is sent again, which adds nothing.
    const again = active === null && found !== undefined ? v.parse(STATE_SCHEMAS.due, found) : null;
    const [ready = again] = read(marking, runReady, STATE_SCHEMAS.due);
    const isPaused = listValues(marking, schedulePaused.name).length > 0;
    if (definition === undefined) return undefined;
    const waiting = [
      ...(check?.challenger === undefined ? [] : [check.challenger]),
      ...[runQueued, runChallenger, runDue].flatMap((place) =>
        read(marking, place, STATE_SCHEMAS.due),
      ),
    ];
    const history = listRuns(mapIn(marking, runHistory.name));
    const from = timer?.dueAt ?? passed?.from ?? null;
    return { definition, isPaused, from, ready, active, waiting, history };
  } catch (error) {
    if (error instanceof v.ValiError) return undefined;
    throw error;
  }
}

/** True if a schedule waits for its next due time, is paused or has ended. False if its net could not plan. */
export function isPlanned(marking: Marking): boolean {
  return [scheduleTimer, schedulePassed, schedulePaused, scheduleEnded].some(
    ({ name }) => listValues(marking, name).length > 0,
  );
}

/** @throws ValiError for a value that does not fit the schema */
function read<T>(
  marking: Marking,
  { name }: Pick<AnyPlace, 'name'>,
  schema: v.GenericSchema<unknown, T>,
): readonly T[] {
  return listValues(marking, name).map((value) => v.parse(schema, value));
}

/** The values in a place, with those that effects in flight have taken. */
function listValues(marking: Marking, place: string): readonly Json[] {
  return [
    ...[...marking.firings.values()].flatMap(({ inputs }) => inputs.get(place) ?? []),
    ...tokensIn(marking, place),
  ].map(({ value }) => value);
}

function isActive(run: unknown): run is ActiveRun {
  return v.is(STATE_SCHEMAS.active, run);
}
