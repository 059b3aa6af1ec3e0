import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { parseRecords } from '../../../src/net/journal/index.ts';
import type { SessionRow } from '../api/types.ts';
import { batched } from '../state/batched.ts';
import { client } from '../state/connection.ts';
import { lists } from '../state/lists.ts';
import { navigate, route, setQuery, toHref } from '../state/route.ts';
import { settings } from '../state/settings.ts';
import { StateBadge } from '../ui/badge.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { formatCost, formatCount, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { useNow } from '../ui/use-now.ts';
import { VirtualList } from '../ui/virtual-list.tsx';
import { findPrice, toCost } from '../usage/prices.ts';
import { sumUsage, Trace } from './read-trace.ts';
import type { Span } from './read-trace.ts';
import { SpanDetails } from './span-details.tsx';
import { InvocationRow, SpanRow } from './trace-rows.tsx';
import { listRows } from './list-rows.ts';

const ROW_HEIGHT = 34;
/** Sessions that are offered. The others are found with the search of the sessions screen. */
const MOST_SESSIONS = 200;

/** What took time in a session: its invocations, and their model calls, tools and waits. All of it is in the journal. */
export function TracesScreen(): JSX.Element {
  const { rows, loaded, error } = lists.value.sessions;
  if (error.value !== undefined) return <Failure error={error.value} isScreen />;
  const [, chosen] = route.value.segments;
  const id = chosen ?? rows.value[0]?.id;
  return (
    <section class="screen traces">
      <header class="screen-head">
        <h1>Traces</h1>
        {id !== undefined && <SessionPicker id={id} sessions={rows.value} />}
      </header>
      {id !== undefined ? (
        <SessionTrace key={id} id={id} session={rows.value.find((one) => one.id === id)} />
      ) : loaded.value ? (
        <EmptyState icon="traces" title="No session yet">
          <p>The trace of a session is read from its journal. Start a session to see one.</p>
        </EmptyState>
      ) : (
        <Loading rows={8} />
      )}
    </section>
  );
}

function SessionPicker({
  id,
  sessions,
}: {
  readonly id: string;
  readonly sessions: readonly SessionRow[];
}): JSX.Element {
  const offered = sessions.slice(0, MOST_SESSIONS);
  const isOffered = offered.some((one) => one.id === id);
  const session = sessions.find((one) => one.id === id);
  return (
    <>
      <select
        aria-label="Session"
        class="session-picker"
        value={id}
        onChange={({ currentTarget }) => navigate(toHref(['traces', currentTarget.value]))}
      >
        {!isOffered && <option value={id}>{redact(session?.title ?? id)}</option>}
        {offered.map((one) => (
          <option key={one.id} value={one.id}>
            {redact(one.title ?? one.id)}
          </option>
        ))}
      </select>
      {session !== undefined && <StateBadge session={session} />}
      <a class="button small" href={toHref(['s', id])}>
        <Icon name="net" /> Open
      </a>
      <span class="grow" />
      {session !== undefined && (
        <span class="muted wide-only">
          changed <RelativeTime at={session.updated_at} />
        </span>
      )}
    </>
  );
}

function SessionTrace({
  id,
  session,
}: {
  readonly id: string;
  readonly session: SessionRow | undefined;
}): JSX.Element {
  const { trace, last, error } = useTrace(id);
  const { query } = route.value;
  const text = query.get('q') ?? '';
  const closed = useSignal<ReadonlySet<string>>(new Set());
  const rows = useMemo(
    () => listRows(trace.invocations, { text, closed: closed.value }),
    [trace, last, text, closed.value],
  );
  const spans = useMemo(
    () => trace.invocations.flatMap((invocation) => invocation.spans),
    [trace, last],
  );
  const isOpen = spans.some(({ to }) => to === undefined);
  const time = useNow(isOpen);
  const now = isOpen ? time : trace.at;
  if (error !== undefined) return <Failure error={error} />;
  if (last === 0) return <Loading rows={8} />;
  const chosen = spans.find(({ record }) => String(record) === query.get('span'));
  const choose = (span: Span | undefined): void => setQuery({ span: span?.record });
  const toggle = (invocation: string): void => {
    const next = new Set(closed.value);
    if (!next.delete(invocation)) next.add(invocation);
    closed.value = next;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0 && event.key !== 'Escape') return;
    const shown = rows.flatMap(({ span }) => (span === undefined ? [] : [span]));
    const at = chosen === undefined ? -1 : shown.indexOf(chosen);
    choose(step === 0 ? undefined : (shown[Math.max(0, at + step)] ?? chosen));
    event.preventDefault();
  };
  return (
    <>
      <div class="filters" role="search">
        <SearchField label="Search spans" placeholder="Search names, arguments and results" />
        <Totals trace={trace} spans={spans} model={session?.agent.model.id ?? ''} />
      </div>
      {rows.length === 0 ? (
        text === '' ? (
          <EmptyState icon="traces" title="Nothing ran yet">
            <p>The session has had no message. Its first turn appears here while it runs.</p>
          </EmptyState>
        ) : (
          <EmptyState icon="search" title="No span matches">
            <p>Names, arguments and results are searched. Change or clear the search.</p>
          </EmptyState>
        )
      ) : (
        <div class={`trace-columns${chosen === undefined ? '' : ' has-details'}`}>
          <div
            class="table trace-table"
            role="table"
            aria-label="Spans"
            aria-rowcount={rows.length + 1}
            onKeyDown={onKeyDown}
          >
            <div role="rowgroup">
              <div class="table-head" role="row">
                <span role="columnheader">Span</span>
                <span role="columnheader" class="trace-bars">
                  Time
                </span>
                <span role="columnheader" class="cell-number">
                  Took
                </span>
                <span role="columnheader" class="cell-number wide-only">
                  Tokens
                </span>
              </div>
            </div>
            <VirtualList
              count={rows.length}
              rowHeight={ROW_HEIGHT}
              label="Rows"
              row={(index) => {
                const row = rows[index];
                if (row === undefined) return <></>;
                return row.span === undefined ? (
                  <InvocationRow
                    invocation={row.invocation}
                    now={now}
                    isOpen={!closed.value.has(row.invocation.id)}
                    onToggle={() => toggle(row.invocation.id)}
                  />
                ) : (
                  <SpanRow
                    invocation={row.invocation}
                    span={row.span}
                    now={now}
                    isChosen={row.span === chosen}
                    onChoose={() => choose(row.span === chosen ? undefined : row.span)}
                  />
                );
              }}
            />
          </div>
          {chosen !== undefined && (
            <SpanDetails sessionId={id} span={chosen} onClose={() => choose(undefined)} />
          )}
        </div>
      )}
    </>
  );
}

function Totals({
  trace,
  spans,
  model,
}: {
  readonly trace: Trace;
  readonly spans: readonly Span[];
  readonly model: string;
}): JSX.Element {
  const count = (kind: Span['kind']): number => spans.filter((span) => span.kind === kind).length;
  const usage = sumUsage(spans);
  const price = findPrice(model, settings.value.prices);
  return (
    <dl class="totals">
      <div>
        <dt>{trace.invocations.length === 1 ? 'turn' : 'turns'}</dt>
        <dd>{formatCount(trace.invocations.length)}</dd>
      </div>
      <div>
        <dt>{count('model') === 1 ? 'model call' : 'model calls'}</dt>
        <dd>{formatCount(count('model'))}</dd>
      </div>
      <div>
        <dt>{count('tool') === 1 ? 'tool call' : 'tool calls'}</dt>
        <dd>{formatCount(count('tool'))}</dd>
      </div>
      <div>
        <dt>tokens</dt>
        <dd>
          {formatCount(usage.inputTokens)} in, {formatCount(usage.outputTokens)} out
        </dd>
      </div>
      {price !== undefined && (
        <div>
          <dt>cost</dt>
          <dd>{formatCost(toCost(price, usage))}</dd>
        </div>
      )}
    </dl>
  );
}

interface FollowedTrace {
  readonly trace: Trace;
  /** Changes when records arrive. */
  readonly last: number;
  readonly error: Error | undefined;
}

/** Reads the records of a session, then new ones as they are committed. */
function useTrace(id: string): FollowedTrace {
  const [state, setState] = useState<FollowedTrace>(() => ({
    trace: new Trace(),
    last: 0,
    error: undefined,
  }));
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const trace = new Trace();
    const publish = batched(() => {
      if (!signal.aborted) setState({ trace, last: trace.last, error: undefined });
    });
    const follow = async (): Promise<void> => {
      const options = { signal, values: 'full', reconnects: Infinity } as const;
      for await (const { stored } of client.value.sessions.followRecords(id, options)) {
        for (const record of parseRecords([stored])) trace.add(record);
        publish();
      }
    };
    follow().catch((cause: unknown) => {
      if (signal.aborted) return;
      const error = cause instanceof Error ? cause : new Error(String(cause));
      setState({ trace, last: trace.last, error });
    });
    return () => controller.abort();
  }, [id, client.value]);
  return state;
}
