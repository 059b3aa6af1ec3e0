import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ChatLog } from '../session/chat-pane.tsx';
import { NetPane, useHappened } from '../session/net-pane.tsx';
import { readSession } from '../session/read-session.ts';
import type { PagedSession } from '../session/read-session.ts';
import { describeRecord, isTrouble } from '../session/record-moves.ts';
import type { SessionModel } from '../session/session-model.ts';
import { client } from '../state/connection.ts';
import { lists } from '../state/lists.ts';
import { navigate, route, setQuery, toHref } from '../state/route.ts';
import { StateBadge } from '../ui/badge.tsx';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { VirtualList } from '../ui/virtual-list.tsx';
import { compareRecords } from './compare-records.ts';
import type { ComparedRow, Comparison } from './compare-records.ts';

/** Two sessions side by side, usually a fork and what it was forked from, from the last record that they share. */
export function CompareScreen(): JSX.Element {
  const [, left, right] = route.value.segments;
  const { rows } = lists.value.sessions;
  const findName = (id: string): string =>
    redact(rows.value.find((one) => one.id === id)?.title ?? id);
  return (
    <section class="screen compare">
      <header class="screen-head">
        <h1>Compare</h1>
        <Picker
          label="First session"
          id={left}
          name={findName}
          onChoose={(id) => navigate(toHref(['compare', id, right ?? '']))}
        />
        <button
          type="button"
          class="icon-button"
          aria-label="Swap the two"
          disabled={left === undefined || right === undefined}
          onClick={() => navigate(toHref(['compare', right ?? '', left ?? '']))}
        >
          ⇄
        </button>
        <Picker
          label="Second session"
          id={right}
          name={findName}
          onChoose={(id) => navigate(toHref(['compare', left ?? '', id]))}
        />
      </header>
      {left === undefined || right === undefined ? (
        <EmptyState icon="compare" title="Choose two sessions">
          <p>A session and its fork have the most in common: what differs starts at the fork.</p>
        </EmptyState>
      ) : (
        <Pair key={`${left} ${right}`} left={left} right={right} />
      )}
    </section>
  );
}

function Picker({
  label,
  id,
  name,
  onChoose,
}: {
  readonly label: string;
  readonly id: string | undefined;
  readonly name: (id: string) => string;
  readonly onChoose: (id: string) => void;
}): JSX.Element {
  const ids = lists.value.sessions.rows.value.slice(0, 200).map((session) => session.id);
  return (
    <select
      class="session-picker"
      aria-label={label}
      value={id ?? ''}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      {id === undefined && <option value="">Choose a session</option>}
      {id !== undefined && !ids.includes(id) && <option value={id}>{name(id)}</option>}
      {ids.map((one) => (
        <option key={one} value={one}>
          {name(one)}
        </option>
      ))}
    </select>
  );
}

function Pair({ left, right }: { readonly left: string; readonly right: string }): JSX.Element {
  const a = usePagedSession(left);
  const b = usePagedSession(right);
  const lasts = [a?.model.last.value ?? 0, b?.model.last.value ?? 0];
  const comparison = useMemo(
    () =>
      a === undefined || b === undefined
        ? { common: 0, rows: [] }
        : compareRecords(a.model.history.slice(1), b.model.history.slice(1)),
    [a, b, ...lasts],
  );
  const chosen = readRow(route.value.query.get('row'), comparison.rows.length);
  useEffect(() => {
    if (a === undefined || b === undefined) return;
    const rows = chosen === undefined ? undefined : comparison.rows.slice(0, chosen);
    show(a.model, rows, 'left', comparison);
    show(b.model, rows, 'right', comparison);
  }, [a, b, comparison, chosen]);
  const error = a?.model.error.value ?? b?.model.error.value;
  if (error !== undefined) return <Failure error={error} />;
  if (a === undefined || b === undefined || lasts.includes(0)) return <Loading rows={8} />;
  return (
    <div class="compare-body">
      <Side model={a.model} other={b.model} label="First session" />
      <Side model={b.model} other={a.model} label="Second session" />
      <Differences comparison={comparison} chosen={chosen} />
    </div>
  );
}

/** Shows a session as of the last record of its own among the rows. Undefined: as it is now. */
function show(
  { at }: SessionModel,
  rows: readonly ComparedRow[] | undefined,
  side: keyof ComparedRow,
  { common }: Comparison,
): void {
  at.value =
    rows === undefined
      ? undefined
      : (rows.findLast((row) => row[side] !== undefined)?.[side]?.seq ?? common);
}

function Side({
  model,
  other,
  label,
}: {
  readonly model: SessionModel;
  readonly other: SessionModel;
  readonly label: string;
}): JSX.Element {
  const session = model.session.value;
  const { record } = model.moment.value;
  return (
    <section class="compare-side" aria-label={label}>
      <header class="pane-head">
        <h2>
          <a href={toHref(['s', model.id], { at: model.at.value })}>
            {redact(session?.title ?? model.id)}
          </a>
        </h2>
        {session !== undefined && <StateBadge session={session} />}
        <span class="grow" />
        <span class="muted nowrap">
          record {record} of {model.last.value}
        </span>
      </header>
      <ChatLog model={model} />
      <NetPane
        model={model}
        others={useHappened(other)}
        label={`Net of the ${label.toLowerCase()}`}
      />
    </section>
  );
}

function Differences({
  comparison: { common, rows },
  chosen,
}: {
  readonly comparison: Comparison;
  readonly chosen: number | undefined;
}): JSX.Element {
  const choose = (row: number | undefined): void =>
    setQuery({ row: row === undefined || row >= rows.length ? undefined : Math.max(0, row) });
  const at = chosen ?? rows.length;
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    choose(at + step);
  };
  return (
    <section class="compare-records" aria-label="Records">
      <header class="pane-head">
        <h2>Records</h2>
        <span class="muted">
          {common === 0 ? 'nothing in common' : `records 1 to ${common} are the same`}
        </span>
        <span class="grow" />
        <button
          type="button"
          class="button small"
          aria-pressed={chosen === 0}
          onClick={() => choose(0)}
        >
          <Icon name="fork" /> At the fork
        </button>
        <button
          type="button"
          class="button small"
          aria-pressed={chosen === undefined}
          onClick={() => choose(undefined)}
        >
          <Icon name="live" /> At the end
        </button>
      </header>
      {rows.length === 0 ? (
        <p class="muted center compare-same">Both journals are the same.</p>
      ) : (
        <div
          class="compare-table"
          role="table"
          aria-label="Records that differ"
          aria-rowcount={rows.length}
          onKeyDown={onKeyDown}
        >
          <VirtualList
            count={rows.length}
            rowHeight={28}
            label="Rows"
            row={(index) => {
              const row = rows[index];
              return row === undefined ? (
                <></>
              ) : (
                <div
                  class={`compare-row${index < at ? '' : ' is-after'}${index === at - 1 && chosen !== undefined ? ' is-chosen' : ''}`}
                  role="row"
                >
                  <RecordCell record={row.left} onChoose={() => choose(index + 1)} />
                  <RecordCell record={row.right} onChoose={() => choose(index + 1)} />
                </div>
              );
            }}
          />
        </div>
      )}
    </section>
  );
}

function RecordCell({
  record,
  onChoose,
}: {
  readonly record: ComparedRow['left'];
  readonly onChoose: () => void;
}): JSX.Element {
  return (
    <span role="cell" class={record === undefined ? 'compare-none' : ''}>
      {record === undefined ? (
        <span class="visually-hidden">no record</span>
      ) : (
        <button type="button" class="compare-choose" onClick={onChoose}>
          <span class="muted">{record.seq}</span>
          <span class={`mono${isTrouble(record) ? ' bad' : ''}`}>{describeRecord(record)}</span>
        </button>
      )}
    </span>
  );
}

/** Reads a session, and again when the list of sessions says that it changed. */
function usePagedSession(id: string): PagedSession | undefined {
  const [opened, setOpened] = useState<PagedSession | undefined>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    setOpened(readSession(client.value, id, controller.signal));
    return () => controller.abort();
  }, [id, client.value]);
  const changed = lists.value.sessions.rows.value.find((one) => one.id === id)?.updated_at;
  useEffect(() => {
    if (changed !== undefined && changed !== opened?.model.session.peek()?.updated_at)
      opened?.refresh();
  }, [changed]);
  return opened;
}

function readRow(text: string | null, most: number): number | undefined {
  const row = text === null ? Number.NaN : Number(text);
  return Number.isSafeInteger(row) && row >= 0 && row < most ? row : undefined;
}
