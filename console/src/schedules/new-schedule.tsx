import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ScheduleParams } from '../../../src/client/index.ts';
import type { Schedule } from '../api/types.ts';
import { client } from '../state/connection.ts';
import { AgentSelect } from '../ui/agent-select.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { EMPTY_FORM, toParams, UNITS } from './schedule-form.ts';
import type { ScheduleForm } from './schedule-form.ts';

const OVERLAPS: readonly (readonly [NonNullable<ScheduleParams['overlap']>, string])[] = [
  ['skip', 'The run is left out'],
  ['queue', 'The run waits'],
  ['replace', 'The run before is interrupted'],
];
const BACKFILLS: readonly (readonly [NonNullable<ScheduleParams['backfill']>, string])[] = [
  ['none', 'Are left out'],
  ['last', 'The last one is made up for'],
  ['all', 'The last ones are made up for'],
];

/** Creates a schedule. */
export function NewSchedule({
  onClose,
  onCreated,
}: {
  readonly onClose: () => void;
  readonly onCreated: (schedule: Schedule) => void;
}): JSX.Element {
  const agent = useSignal('');
  const form = useSignal<ScheduleForm>(EMPTY_FORM);
  const change = (fields: Partial<ScheduleForm>): void => {
    form.value = { ...form.value, ...fields };
  };
  const params = toParams(form.value, agent.value);
  return (
    <FormDialog
      title="New schedule"
      submit="Create"
      canSubmit={params !== undefined}
      onSubmit={async () => {
        if (params === undefined) return;
        const schedule = await client.value.schedules.create(params);
        onClose();
        onCreated(schedule);
      }}
      onClose={onClose}
    >
      <label>
        <span>
          Name <span class="muted">(optional)</span>
        </span>
        <input
          type="text"
          maxLength={64}
          pattern="[A-Za-z0-9_\-]*"
          title="Letters, digits, _ and -"
          value={form.value.id}
          onInput={({ currentTarget }) => change({ id: currentTarget.value })}
        />
      </label>
      <AgentSelect chosen={agent} />
      <label>
        Message
        <textarea
          rows={3}
          required
          value={form.value.message}
          onInput={({ currentTarget }) => change({ message: currentTarget.value })}
        />
      </label>
      <Times form={form.value} change={change} />
      <details>
        <summary>More</summary>
        <div class="form more-fields">
          <More form={form.value} change={change} />
        </div>
      </details>
    </FormDialog>
  );
}

interface FieldsProps {
  readonly form: ScheduleForm;
  readonly change: (fields: Partial<ScheduleForm>) => void;
}

function Times({ form, change }: FieldsProps): JSX.Element {
  return (
    <>
      <label>
        Due
        <select
          value={form.times}
          onChange={({ currentTarget }) =>
            change({ times: currentTarget.value === 'every' ? 'every' : 'cron' })
          }
        >
          <option value="cron">By a cron pattern</option>
          <option value="every">At an interval</option>
        </select>
      </label>
      {form.times === 'cron' ? (
        <div class="field-pair">
          <label>
            Pattern
            <input
              type="text"
              class="mono"
              required
              placeholder="0 9 * * 1-5"
              value={form.cron}
              onInput={({ currentTarget }) => change({ cron: currentTarget.value })}
            />
          </label>
          <label>
            Time zone
            <input
              type="text"
              list="time-zones"
              required
              value={form.timeZone}
              onInput={({ currentTarget }) => change({ timeZone: currentTarget.value })}
            />
          </label>
          <datalist id="time-zones">
            {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </div>
      ) : (
        <div class="field-pair">
          <label>
            Every
            <input
              type="number"
              min={1}
              required
              value={form.every}
              onInput={({ currentTarget }) => change({ every: currentTarget.valueAsNumber })}
            />
          </label>
          <label>
            Unit
            <select
              value={form.unit}
              onChange={({ currentTarget }) => change({ unit: currentTarget.value })}
            >
              {Object.keys(UNITS).map((unit) => (
                <option key={unit} value={unit}>
                  {unit}
                </option>
              ))}
            </select>
          </label>
        </div>
      )}
    </>
  );
}

function More({ form, change }: FieldsProps): JSX.Element {
  return (
    <>
      <label>
        <span>
          Session <span class="muted">(default: a new one for each run)</span>
        </span>
        <input
          type="text"
          class="mono"
          value={form.session}
          onInput={({ currentTarget }) => change({ session: currentTarget.value })}
        />
      </label>
      <label>
        A run that is due while another one runs
        <select
          value={form.overlap}
          onChange={({ currentTarget: { value } }) =>
            change({ overlap: OVERLAPS.find(([name]) => name === value)?.[0] ?? 'skip' })
          }
        >
          {OVERLAPS.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Due times that were missed
        <select
          value={form.backfill}
          onChange={({ currentTarget: { value } }) =>
            change({ backfill: BACKFILLS.find(([name]) => name === value)?.[0] ?? 'none' })
          }
        >
          {BACKFILLS.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <div class="field-pair">
        {form.backfill === 'all' && (
          <label>
            At most
            <input
              type="number"
              min={1}
              max={50}
              required
              value={form.maxBackfill}
              onInput={({ currentTarget }) => change({ maxBackfill: currentTarget.valueAsNumber })}
            />
          </label>
        )}
        <label>
          Largest delay, in seconds
          <input
            type="number"
            min={0}
            required
            value={form.jitterSeconds}
            onInput={({ currentTarget }) => change({ jitterSeconds: currentTarget.valueAsNumber })}
          />
        </label>
      </div>
    </>
  );
}
