import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { AgentProperties, Proof, PropertyForm, SessionNet } from '../api/types.ts';
import { client } from '../state/connection.ts';
import { AgentSelect } from '../ui/agent-select.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Icon } from '../ui/icon.tsx';
import { listFields, writeProperty } from './property-form.ts';
import type { FormField } from './property-form.ts';

interface Choice {
  readonly properties: AgentProperties;
  readonly net: SessionNet;
}

/** Chooses what to prove of an agent, and within which bounds. */
export function NewProof({
  agentId,
  onClose,
  onStarted,
}: {
  readonly agentId: string | undefined;
  readonly onClose: () => void;
  readonly onStarted: (proof: Proof) => void;
}): JSX.Element {
  const agent = useSignal(agentId ?? '');
  const choice = useSignal<Choice | undefined>(undefined);
  const left = useSignal<ReadonlySet<string>>(new Set());
  const added = useSignal<readonly string[]>([]);
  const bounds = useSignal<AgentProperties['bounds'] | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  useEffect(() => {
    if (agent.value === '') return;
    choice.value = undefined;
    failure.value = undefined;
    const path = `/v1/agents/${encodeURIComponent(agent.value)}/properties`;
    Promise.all([
      client.value.call<AgentProperties>('GET', path),
      client.value.agents.net(agent.value),
    ])
      .then(([properties, net]) => {
        choice.value = { properties, net };
        bounds.value = properties.bounds;
        left.value = new Set();
        added.value = [];
      })
      .catch((error: unknown) => {
        failure.value = error instanceof Error ? error.message : String(error);
      });
  }, [agent.value]);
  const defaults = choice.value?.properties.properties ?? [];
  const chosen = [
    ...defaults.filter(({ name }) => !left.value.has(name)).map(({ name }) => name),
    ...added.value,
  ];
  const start = async (): Promise<void> => {
    const proof = await client.value.call<Proof>('POST', '/v1/proofs', {
      body: { agent_id: agent.value, properties: chosen, bounds: bounds.value },
    });
    onClose();
    onStarted(proof);
  };
  return (
    <FormDialog
      title="New proof"
      submit={
        <>
          <Icon name="proofs" /> Prove
        </>
      }
      canSubmit={choice.value !== undefined && chosen.length > 0}
      onSubmit={start}
      onClose={onClose}
    >
      <AgentSelect chosen={agent} isOffered={({ source }) => source === 'code'} />
      {failure.value !== undefined && <p class="bad">{failure.value}</p>}
      <fieldset>
        <legend>Properties</legend>
        {choice.value === undefined && failure.value === undefined && (
          <p class="muted">Reading the properties of the agent …</p>
        )}
        {defaults.map(({ name, title, text }) => (
          <label key={name} class="inline">
            <input
              type="checkbox"
              checked={!left.value.has(name)}
              onChange={({ currentTarget }) => {
                const next = new Set(left.value);
                if (currentTarget.checked) next.delete(name);
                else next.add(name);
                left.value = next;
              }}
            />
            <span class="property">
              {title}
              <code class="muted" title={text}>
                {text}
              </code>
            </span>
          </label>
        ))}
        {added.value.map((text, index) => (
          <p key={text} class="added">
            <code>{text}</code>
            <button
              type="button"
              class="icon-button"
              aria-label={`Remove ${text}`}
              onClick={() => (added.value = added.value.toSpliced(index, 1))}
            >
              <Icon name="close" />
            </button>
          </p>
        ))}
        {choice.value !== undefined && (
          <AddProperty
            choice={choice.value}
            onAdd={(text) => {
              if (!added.value.includes(text)) added.value = [...added.value, text];
            }}
          />
        )}
      </fieldset>
      {bounds.value !== undefined && (
        <Bounds bounds={bounds.value} onChange={(to) => (bounds.value = to)} />
      )}
    </FormDialog>
  );
}

function AddProperty({
  choice: { properties, net },
  onAdd,
}: {
  readonly choice: Choice;
  readonly onAdd: (text: string) => void;
}): JSX.Element {
  const chosen = useSignal('');
  const values = useSignal<readonly (readonly string[])[]>([]);
  const forms = properties.forms.flatMap(
    (form): readonly [PropertyForm, readonly FormField[]][] => {
      const fields = listFields(form);
      return fields === undefined ? [] : [[form, fields]];
    },
  );
  const [form, fields = []] = forms.find(([{ kind }]) => kind === chosen.value) ?? [];
  const text = form === undefined ? undefined : writeProperty(form, fields, values.value);
  const change = (index: number, to: readonly string[]): void => {
    values.value = fields.map((_, at) => (at === index ? to : (values.value[at] ?? [])));
  };
  return (
    <div class="add-property">
      <label>
        Another property
        <select
          value={chosen.value}
          onChange={({ currentTarget }) => {
            chosen.value = currentTarget.value;
            values.value = [];
          }}
        >
          <option value="">Choose one</option>
          {forms.map(([{ kind, states }]) => (
            <option key={kind} value={kind}>
              {kind}: {states}
            </option>
          ))}
        </select>
      </label>
      {fields.map((field, index) => (
        <FieldInput
          key={`${chosen.value} ${index}`}
          field={field}
          net={net}
          value={values.value[index] ?? []}
          onChange={(to) => change(index, to)}
        />
      ))}
      {form !== undefined && (
        <button
          type="button"
          class="button"
          disabled={text === undefined}
          onClick={() => {
            if (text === undefined) return;
            onAdd(text);
            chosen.value = '';
            values.value = [];
          }}
        >
          <Icon name="plus" /> Add {text !== undefined && <code>{text}</code>}
        </button>
      )}
    </div>
  );
}

function FieldInput({
  field: { kind, label },
  net,
  value,
  onChange,
}: {
  readonly field: FormField;
  readonly net: SessionNet;
  readonly value: readonly string[];
  readonly onChange: (to: readonly string[]) => void;
}): JSX.Element {
  if (kind === 'number')
    return (
      <label>
        {label}
        <input
          type="number"
          min={0}
          value={value[0] ?? ''}
          onInput={({ currentTarget }) => onChange([currentTarget.value])}
        />
      </label>
    );
  const names = (kind === 'places' || kind === 'place' ? net.places : net.transitions)
    .map(({ name }) => name)
    .toSorted();
  const isList = kind === 'places' || kind === 'transitions';
  return (
    <label>
      {label}
      <select
        multiple={isList}
        size={isList ? 6 : 1}
        class="mono"
        onChange={({ currentTarget }) =>
          onChange(Array.from(currentTarget.selectedOptions, (option) => option.value))
        }
      >
        {!isList && <option value="">Choose one</option>}
        {names.map((name) => (
          <option key={name} value={name} selected={value.includes(name)}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const COUNTS = [
  ['messages', 'Messages', 0],
  ['at_once', 'Calls at once', 1],
  ['faults', 'Faults', 0],
  ['states', 'Most states', 1],
] as const;

function Bounds({
  bounds,
  onChange,
}: {
  readonly bounds: AgentProperties['bounds'];
  readonly onChange: (to: AgentProperties['bounds']) => void;
}): JSX.Element {
  return (
    <fieldset class="bounds">
      <legend>Bounds</legend>
      {COUNTS.map(([name, label, least]) => (
        <label key={name}>
          {label}
          <input
            type="number"
            min={least}
            required
            value={bounds[name]}
            onInput={({ currentTarget }) => {
              const value = currentTarget.valueAsNumber;
              if (Number.isSafeInteger(value)) onChange({ ...bounds, [name]: value });
            }}
          />
        </label>
      ))}
      <label class="inline">
        <input
          type="checkbox"
          checked={bounds.shutdowns}
          onChange={({ currentTarget }) =>
            onChange({ ...bounds, shutdowns: currentTarget.checked })
          }
        />
        The owner may shut down
      </label>
    </fieldset>
  );
}
