import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { writeAnswer } from './answer-schema.ts';
import type { AnswerField, FieldValue, Question } from './answer-schema.ts';

/** Asks for an answer with the fields of its schema. */
export function QuestionForm({
  question: { message, fields, mayDecline },
  busy,
  onSend,
}: {
  readonly question: Question;
  readonly busy: boolean;
  readonly onSend: (text: string, isError: boolean) => void;
}): JSX.Element {
  const values = useSignal<Readonly<Record<string, FieldValue>>>({});
  const answer = writeAnswer(fields, values.value);
  return (
    <form
      class="answer form"
      onSubmit={(event) => {
        event.preventDefault();
        if (answer !== undefined) onSend(JSON.stringify(answer), false);
      }}
    >
      {message !== undefined && <p class="question">{redact(message)}</p>}
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          value={values.value[field.name] ?? field.start}
          onChange={(to) => (values.value = { ...values.value, [field.name]: to })}
        />
      ))}
      <div class="answer-buttons">
        <button type="submit" class="button primary" disabled={busy || answer === undefined}>
          <Icon name="check" /> Give the answer
        </button>
        <button
          type="button"
          class="button"
          disabled={busy}
          onClick={() =>
            mayDecline
              ? onSend(JSON.stringify({ action: 'decline' }), false)
              : onSend('The question was declined.', true)
          }
        >
          <Icon name="close" /> Decline
        </button>
      </div>
    </form>
  );
}

function FieldInput({
  field: { title, description, kind, values, isRequired },
  value,
  onChange,
}: {
  readonly field: AnswerField;
  readonly value: FieldValue;
  readonly onChange: (to: FieldValue) => void;
}): JSX.Element {
  const label = (
    <span>
      {redact(title)} {!isRequired && kind !== 'boolean' && <span class="muted">(optional)</span>}
      {description !== undefined && <small class="muted field-hint">{redact(description)}</small>}
    </span>
  );
  if (kind === 'boolean')
    return (
      <label class="inline">
        <input
          type="checkbox"
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        {label}
      </label>
    );
  if (kind === 'choice' || kind === 'choices')
    return (
      <label>
        {label}
        <select
          multiple={kind === 'choices'}
          required={isRequired}
          onChange={({ currentTarget }) =>
            onChange(
              kind === 'choice'
                ? currentTarget.value
                : Array.from(currentTarget.selectedOptions, (option) => option.value),
            )
          }
        >
          {kind === 'choice' && <option value="">Choose one</option>}
          {values.map((one) => (
            <option
              key={one}
              value={one}
              selected={typeof value === 'object' ? value.includes(one) : value === one}
            >
              {one}
            </option>
          ))}
        </select>
      </label>
    );
  return (
    <label>
      {label}
      {kind === 'text' ? (
        <input
          type="text"
          required={isRequired}
          value={String(value)}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      ) : (
        <input
          type="number"
          step={kind === 'number' ? 'any' : '1'}
          required={isRequired}
          value={String(value)}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </label>
  );
}
