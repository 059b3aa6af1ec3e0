import type { JSX } from 'preact';
import type { Schedule, ScheduleRun } from '../api/types.ts';
import { client, readOnly } from '../state/connection.ts';
import { toHref } from '../state/route.ts';
import { Badge } from '../ui/badge.tsx';
import { Failure, Loading } from '../ui/empty-state.tsx';
import { formatDuration, formatFullTime, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { DueTime, RelativeTime } from '../ui/relative-time.tsx';
import { act, showToast } from '../ui/toast.tsx';
import { RunTable } from './run-table.tsx';
import { describeBackfill, describeTimes, STATUS_TONES } from './schedule-text.ts';
import { useFollowed } from './use-followed.ts';

const EVERY_MS = 4000;

/** A schedule: what it does, when it is due next, and its runs. */
export function ScheduleDetails({
  id,
  onChanged,
  onDeleted,
}: {
  readonly id: string;
  readonly onChanged: () => void;
  readonly onDeleted: () => void;
}): JSX.Element {
  const { value, error, reload } = useFollowed(async () => readSchedule(id), {
    everyMs: EVERY_MS,
    key: id,
  });
  if (error !== undefined) return <Failure error={error} />;
  if (value === undefined) return <Loading rows={6} />;
  const { schedule, runs } = value;
  const change = (run: () => Promise<unknown>): void =>
    act(async () => {
      await run();
      reload();
      onChanged();
    });
  return (
    <div class="sections">
      <section class="section" aria-label="About the schedule">
        <div class="card-head">
          <h2>{schedule.id}</h2>
          <Badge tone={STATUS_TONES[schedule.status]} text={schedule.status} />
          <span class="grow" />
          {!readOnly.value && <Verbs schedule={schedule} change={change} onDeleted={onDeleted} />}
        </div>
        <Status schedule={schedule} />
        <p class="schedule-message">{redact(schedule.message)}</p>
        <Facts schedule={schedule} />
      </section>
      <section class="section" aria-label="Runs">
        <h2>Runs</h2>
        <RunTable runs={runs} />
      </section>
    </div>
  );
}

async function readSchedule(
  id: string,
): Promise<{ readonly schedule: Schedule; readonly runs: readonly ScheduleRun[] }> {
  const { schedules } = client.value;
  const [schedule, runs] = await Promise.all([schedules.get(id), schedules.runs(id)]);
  return { schedule, runs };
}

function Verbs({
  schedule: { id, status },
  change,
  onDeleted,
}: {
  readonly schedule: Schedule;
  readonly change: (run: () => Promise<unknown>) => void;
  readonly onDeleted: () => void;
}): JSX.Element {
  const { schedules } = client.value;
  return (
    <div class="card-actions">
      {status !== 'failed' && (
        <button
          type="button"
          class="button"
          onClick={() =>
            change(async () => {
              await schedules.run(id);
              showToast(`A run of ${id} is due.`);
            })
          }
        >
          <Icon name="play" /> Run now
        </button>
      )}
      {status === 'active' && (
        <button
          type="button"
          class="button"
          onClick={() => change(async () => schedules.pause(id))}
        >
          <Icon name="pause" /> Pause
        </button>
      )}
      {status === 'paused' && (
        <button
          type="button"
          class="button"
          onClick={() => change(async () => schedules.resume(id))}
        >
          <Icon name="play" /> Resume
        </button>
      )}
      <button
        type="button"
        class="button danger"
        onClick={() => {
          if (confirm(`Delete the schedule ${id} and its history? Its sessions stay.`))
            act(async () => {
              await schedules.delete(id);
              onDeleted();
            });
        }}
      >
        <Icon name="trash" /> Delete
      </button>
    </div>
  );
}

/** When the next run begins, or why none does. */
function Status({ schedule }: { readonly schedule: Schedule }): JSX.Element {
  const { status, next_due_at: due, next_run_at: runs, waiting_runs: waiting } = schedule;
  if (status === 'failed')
    return <p class="bad">The schedule has a defect and does nothing. Delete it.</p>;
  if (status === 'paused') return <p>Due times pass without a run until it is resumed.</p>;
  if (status === 'ended') return <p>There is no due time any more.</p>;
  return (
    <p>
      {due === null ? (
        'The next due time is being planned.'
      ) : (
        <>
          Next due <DueTime at={due} />, {formatFullTime(due)}.
          {runs !== null && runs !== due && ` Its run begins at ${formatFullTime(runs)}.`}
        </>
      )}
      {waiting > 0 && ` ${waiting === 1 ? '1 run waits' : `${waiting} runs wait`}.`}
    </p>
  );
}

function Facts({ schedule }: { readonly schedule: Schedule }): JSX.Element {
  const { agent_id: agent, agent_version: version, session_id: session } = schedule;
  return (
    <dl class="facts">
      <dt>due</dt>
      <dd class="mono">{describeTimes(schedule)}</dd>
      <dt>agent</dt>
      <dd>
        <a href={toHref(['agents', agent])} class="mono">
          {agent}
        </a>
        {version !== null && `, version ${version}`}
      </dd>
      <dt>session</dt>
      <dd>
        {session === null ? (
          'a new one for each run'
        ) : (
          <a href={toHref(['s', session])} class="mono">
            {session}
          </a>
        )}
      </dd>
      <dt>overlap</dt>
      <dd>{schedule.overlap}</dd>
      {schedule.jitter_ms > 0 && (
        <>
          <dt>jitter</dt>
          <dd>up to {formatDuration(schedule.jitter_ms)}</dd>
        </>
      )}
      <dt>missed due times</dt>
      <dd>{describeBackfill(schedule)}</dd>
      <dt>created</dt>
      <dd>
        <RelativeTime at={schedule.created_at} />
      </dd>
    </dl>
  );
}
