import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Schedule } from '../api/types.ts';
import { client, readOnly } from '../state/connection.ts';
import { navigate, route, toHref } from '../state/route.ts';
import { Badge } from '../ui/badge.tsx';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { Icon } from '../ui/icon.tsx';
import { DueTime } from '../ui/relative-time.tsx';
import { NewSchedule } from './new-schedule.tsx';
import { ScheduleDetails } from './schedule-details.tsx';
import { describeTimes, STATUS_TONES } from './schedule-text.ts';
import { useFollowed } from './use-followed.ts';

/** All schedules are read less often than the one that is shown. */
const LIST_EVERY_MS = 15_000;
/** The most that a server sends at once. */
const PAGE = 100;

/** The schedules of the workspace: when each is due next, and what became of its runs. */
export function SchedulesScreen(): JSX.Element {
  const isNew = useSignal(false);
  const {
    value: schedules,
    error,
    reload,
  } = useFollowed(readSchedules, { everyMs: LIST_EVERY_MS });
  const [, chosenId] = route.value.segments;
  const id = chosenId ?? schedules?.[0]?.id;
  const add = readOnly.value ? undefined : (
    <button type="button" class="button primary" onClick={() => (isNew.value = true)}>
      <Icon name="plus" /> New schedule
    </button>
  );
  return (
    <section class="screen schedules">
      <header class="screen-head">
        <h1>Schedules</h1>
        <span class="grow" />
        {schedules !== undefined && schedules.length > 0 && add}
      </header>
      {error !== undefined ? (
        <Failure error={error} />
      ) : schedules === undefined ? (
        <Loading rows={5} />
      ) : id === undefined ? (
        <EmptyState icon="schedules" title="No schedule yet">
          <p>
            A schedule starts sessions, or sends messages to one, by a cron pattern or at an
            interval. Each due time makes one run, also when processes crash.
          </p>
          {add}
        </EmptyState>
      ) : (
        <div class="columns">
          <ScheduleList schedules={schedules} chosen={id} />
          <ScheduleDetails
            key={id}
            id={id}
            onChanged={reload}
            onDeleted={() => {
              navigate(toHref(['schedules']));
              reload();
            }}
          />
        </div>
      )}
      {isNew.value && (
        <NewSchedule
          onClose={() => (isNew.value = false)}
          onCreated={(schedule) => {
            navigate(toHref(['schedules', schedule.id]));
            reload();
          }}
        />
      )}
    </section>
  );
}

async function readSchedules(): Promise<readonly Schedule[]> {
  return Array.fromAsync(client.value.schedules.list({ limit: PAGE }));
}

function ScheduleList({
  schedules,
  chosen,
}: {
  readonly schedules: readonly Schedule[];
  readonly chosen: string;
}): JSX.Element {
  return (
    <nav class="side-list" aria-label="Schedules">
      {schedules.map((schedule) => (
        <a
          key={schedule.id}
          href={toHref(['schedules', schedule.id])}
          aria-current={schedule.id === chosen ? 'true' : undefined}
        >
          <strong>{schedule.id}</strong>
          <small class="muted">{describeTimes(schedule)}</small>
          {schedule.status === 'active' && schedule.next_run_at !== null ? (
            <small>
              next <DueTime at={schedule.next_run_at} />
            </small>
          ) : (
            <Badge tone={STATUS_TONES[schedule.status]} text={schedule.status} />
          )}
        </a>
      ))}
    </nav>
  );
}
