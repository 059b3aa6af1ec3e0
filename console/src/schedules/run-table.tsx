import type { JSX } from 'preact';
import type { ScheduleRun } from '../api/types.ts';
import { toHref } from '../state/route.ts';
import { Badge } from '../ui/badge.tsx';
import { formatTime, redact } from '../ui/format.ts';
import { describeDue, describeRun, RUN_TONES } from './schedule-text.ts';

/** The last runs of a schedule, the last due first. */
export function RunTable({ runs }: { readonly runs: readonly ScheduleRun[] }): JSX.Element {
  if (runs.length === 0) return <p class="muted">There was no run yet.</p>;
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Runs, table">
      <table class="run-table">
        <thead>
          <tr>
            <th scope="col">Due</th>
            <th scope="col">Status</th>
            <th scope="col">Session</th>
            <th scope="col">Started</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id} title={describeRun(run)}>
              <th scope="row">
                {describeDue(run)}
                {run.kind !== 'scheduled' && <small class="muted"> {run.kind}</small>}
              </th>
              <td>
                <Badge tone={RUN_TONES[run.status]} text={run.status} />
              </td>
              <td class="mono">
                {run.session_id !== null && (
                  <a href={toHref(['s', run.session_id])}>{run.session_id}</a>
                )}
              </td>
              <td>{run.started_at === null ? '' : formatTime(run.started_at)}</td>
              <td class="run-reason">{run.reason === null ? '' : redact(run.reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
