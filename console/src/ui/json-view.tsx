import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { redact } from './format.ts';

const MOST_TEXT = 2048;
const MOST_ENTRIES = 200;

export interface JsonViewProps {
  readonly value: unknown;
  readonly name?: string | undefined;
  /** How many levels are open at first. Default: 1. */
  readonly open?: number;
}

/** Shows JSON as a tree. Long texts and long lists are cut until more is asked for. */
export function JsonView({ value, name, open = 1 }: JsonViewProps): JSX.Element {
  return (
    <div class="json">
      <JsonNode value={value} name={name} open={open} />
    </div>
  );
}

function JsonNode({ value, name, open = 0 }: JsonViewProps): JSX.Element {
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-row">
        <JsonName name={name} />
        <JsonLeaf value={value} />
      </div>
    );
  return <JsonBranch value={value} name={name} open={open} />;
}

function JsonBranch({
  value,
  name,
  open = 0,
}: JsonViewProps & { readonly value: object }): JSX.Element {
  const [limit, setLimit] = useState(MOST_ENTRIES);
  const [isOpen, setOpen] = useState(open > 0);
  const entries = Object.entries(value);
  const isList = Array.isArray(value);
  if (entries.length === 0)
    return (
      <div class="json-row">
        <JsonName name={name} />
        <span class="json-mark">{isList ? '[ ]' : '{ }'}</span>
      </div>
    );
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
      }}
    >
      <summary class="json-row">
        <JsonName name={name} />
        <span class="json-mark">
          {isList ? `[ ${entries.length} ]` : `{ ${summarize(entries)} }`}
        </span>
      </summary>
      {isOpen && (
        <div class="json-body">
          {entries.slice(0, limit).map(([key, member]) => (
            <JsonNode key={key} name={key} value={member} open={open - 1} />
          ))}
          {entries.length > limit && (
            <button type="button" class="link" onClick={() => setLimit(limit * 5)}>
              Show more of {entries.length}
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function summarize(entries: readonly (readonly [string, unknown])[]): string {
  const names = entries.slice(0, 3).map(([name]) => name);
  return entries.length > 3 ? `${names.join(', ')}, …` : names.join(', ');
}

function JsonName({ name }: { readonly name: string | undefined }): JSX.Element | null {
  return name === undefined ? null : <span class="json-name">{name}</span>;
}

function JsonLeaf({ value }: { readonly value: unknown }): JSX.Element {
  const [all, setAll] = useState(false);
  if (typeof value !== 'string')
    return (
      <span class={`json-leaf json-${value === null ? 'null' : typeof value}`}>
        {String(value)}
      </span>
    );
  const text = redact(value);
  const isLong = text.length > MOST_TEXT && !all;
  return (
    <span class="json-leaf json-string">
      {isLong ? `${text.slice(0, MOST_TEXT)}…` : text}
      {isLong && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          Load all {text.length.toLocaleString()} characters
        </button>
      )}
    </span>
  );
}
