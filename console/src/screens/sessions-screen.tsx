import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { SessionRow } from '../api/types.ts';
import { client, readOnly } from '../state/connection.ts';
import { lists } from '../state/lists.ts';
import { route, setQuery, toHref } from '../state/route.ts';
import { StateBadge, toState } from '../ui/badge.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { formatCount, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { act, showToast } from '../ui/toast.tsx';
import { VirtualList } from '../ui/virtual-list.tsx';
import { toTree } from '../state/session-tree.ts';
import type { TreeRow } from '../state/session-tree.ts';
import { NewSession } from './new-session.tsx';

const STATES = [
  'queued',
  'running',
  'idle',
  'waiting',
  'rescheduling',
  'paused',
  'failed',
  'completed',
  'archived',
] as const;

/** All sessions, the last changed first, forks below what they were forked from. */
export function SessionsScreen(): JSX.Element {
  const { rows, loaded, error } = lists.value.sessions;
  const isNew = useSignal(false);
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  const shown = useComputed(() => {
    const { query } = route.value;
    return toTree(lists.value.sessions.rows.value.filter((session) => matches(session, query)));
  });
  const agents = useComputed(() =>
    [...new Set(lists.value.sessions.rows.value.map(({ agent }) => agent.name))].toSorted(),
  );
  if (error.value !== undefined) return <Failure error={error.value} isScreen />;
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Sessions</h1>
        <span class="muted">{loaded.value ? formatCount(rows.value.length) : ''}</span>
        <span class="grow" />
        <a class="button" href={toHref(['file'])} aria-label="Open a journal file">
          <Icon name="upload" /> <span class="wide-only">Open a journal file</span>
        </a>
        {!readOnly.value && (
          <button type="button" class="button primary" onClick={() => (isNew.value = true)}>
            <Icon name="plus" /> New session
          </button>
        )}
      </header>
      <Filters agents={agents.value} />
      {chosen.value.size > 0 && (
        <Bulk
          ids={[...chosen.value]}
          onDone={() => {
            chosen.value = new Set();
          }}
        />
      )}
      {!loaded.value ? (
        <Loading rows={10} />
      ) : shown.value.length === 0 ? (
        <NoSessions hasAny={rows.value.length > 0} onNew={() => (isNew.value = true)} />
      ) : (
        <div
          class="table sessions-table"
          role="table"
          aria-label="Sessions"
          aria-rowcount={shown.value.length + 1}
        >
          <div role="rowgroup">
            <div class="table-head" role="row">
              <span role="columnheader" class="cell-check">
                <span class="visually-hidden">Chosen</span>
              </span>
              <span role="columnheader">Session</span>
              <span role="columnheader">State</span>
              <span role="columnheader">Agent</span>
              <span role="columnheader" class="cell-number">
                Tokens in
              </span>
              <span role="columnheader" class="cell-number">
                out
              </span>
              <span role="columnheader" class="cell-number">
                Updated
              </span>
            </div>
          </div>
          <VirtualList
            count={shown.value.length}
            rowHeight={52}
            label="Rows"
            row={(index) => (
              <Row
                row={shown.value[index]}
                isChosen={chosen.value.has(shown.value[index]?.session.id ?? '')}
                onChoose={(id, to) => {
                  const next = new Set(chosen.value);
                  if (to) next.add(id);
                  else next.delete(id);
                  chosen.value = next;
                }}
              />
            )}
          />
        </div>
      )}
      {isNew.value && <NewSession onClose={() => (isNew.value = false)} />}
    </section>
  );
}

function Row({
  row,
  isChosen,
  onChoose,
}: {
  readonly row: TreeRow | undefined;
  readonly isChosen: boolean;
  readonly onChoose: (id: string, to: boolean) => void;
}): JSX.Element | null {
  if (row === undefined) return null;
  const { session, depth } = row;
  const name = redact(session.title ?? session.id);
  return (
    <div class="table-row" role="row">
      <span role="cell" class="cell-check">
        <input
          type="checkbox"
          aria-label={`Choose ${name}`}
          checked={isChosen}
          onChange={({ currentTarget }) => onChoose(session.id, currentTarget.checked)}
        />
      </span>
      <span role="cell" class={`cell-name depth-${Math.min(depth, 4)}`}>
        {depth > 0 && <Icon name="fork" />}
        <a href={toHref(['s', session.id])}>
          <strong>{name}</strong>
          {session.title !== null && <small class="mono">{session.id}</small>}
        </a>
      </span>
      <span role="cell">
        <StateBadge session={session} />
        {(session.pending_count ?? 0) > 0 && (
          <small class="muted nowrap"> for {session.waiting_for ?? 'an answer'}</small>
        )}
      </span>
      <span role="cell" class="cell-clip">
        {session.agent.name}
        <small class="muted"> v{session.agent.version}</small>
      </span>
      <span role="cell" class="cell-number">
        {formatCount(session.usage.input_tokens)}
      </span>
      <span role="cell" class="cell-number">
        {formatCount(session.usage.output_tokens)}
      </span>
      <span role="cell" class="cell-number muted">
        <RelativeTime at={session.updated_at} />
      </span>
    </div>
  );
}

function Filters({ agents }: { readonly agents: readonly string[] }): JSX.Element {
  const { query } = route.value;
  return (
    <div class="filters" role="search">
      <SearchField label="Search sessions" placeholder="Search title, id, user" />
      <select
        aria-label="State"
        value={query.get('state') ?? ''}
        onChange={({ currentTarget }) => setQuery({ state: currentTarget.value || undefined })}
      >
        <option value="">Any state</option>
        {STATES.map((state) => (
          <option key={state} value={state}>
            {state}
          </option>
        ))}
        <option value="approval">waiting for an approval</option>
        <option value="result">waiting for a result</option>
      </select>
      <select
        aria-label="Agent"
        value={query.get('agent') ?? ''}
        onChange={({ currentTarget }) => setQuery({ agent: currentTarget.value || undefined })}
      >
        <option value="">Any agent</option>
        {agents.map((agent) => (
          <option key={agent} value={agent}>
            {agent}
          </option>
        ))}
      </select>
      <select
        aria-label="Changed"
        value={query.get('since') ?? ''}
        onChange={({ currentTarget }) => setQuery({ since: currentTarget.value || undefined })}
      >
        <option value="">Any time</option>
        <option value="3600000">Last hour</option>
        <option value="86400000">Last day</option>
        <option value="604800000">Last week</option>
      </select>
    </div>
  );
}

function Bulk({
  ids,
  onDone,
}: {
  readonly ids: readonly string[];
  readonly onDone: () => void;
}): JSX.Element {
  const each = (what: string, run: (id: string) => Promise<unknown>): void =>
    act(async () => {
      for (const id of ids) await run(id);
      showToast(`${what} ${ids.length} ${ids.length === 1 ? 'session' : 'sessions'}.`);
      onDone();
    });
  return (
    <div class="bulk">
      <span>{ids.length} chosen</span>
      {ids.length === 2 && (
        <a class="button" href={toHref(['compare', ...ids])}>
          <Icon name="compare" /> Compare
        </a>
      )}
      {!readOnly.value && (
        <>
          <button
            type="button"
            class="button"
            onClick={() => each('Archived', async (id) => client.value.sessions.archive(id))}
          >
            <Icon name="archive" /> Archive
          </button>
          <button
            type="button"
            class="button danger"
            onClick={() => {
              if (
                confirm(`Delete ${ids.length} sessions and their journals? This cannot be undone.`)
              )
                each('Deleted', async (id) => client.value.sessions.delete(id));
            }}
          >
            <Icon name="trash" /> Delete
          </button>
        </>
      )}
      <button type="button" class="button" onClick={onDone}>
        Choose none
      </button>
    </div>
  );
}

function NoSessions({
  hasAny,
  onNew,
}: {
  readonly hasAny: boolean;
  readonly onNew: () => void;
}): JSX.Element {
  return hasAny ? (
    <EmptyState icon="search" title="No session matches">
      <p>Change or clear the filters above.</p>
    </EmptyState>
  ) : (
    <EmptyState icon="sessions" title="No session yet">
      <p>
        A session is one conversation with an agent. Everything it does is recorded, so you can go
        back to any moment and fork there.
      </p>
      {!readOnly.value && (
        <button type="button" class="button primary" onClick={onNew}>
          <Icon name="plus" /> Start the first one
        </button>
      )}
    </EmptyState>
  );
}

/** Whether a session is in a state, or waits for `approval` or `result`. */
function isInState(session: SessionRow, state: string): boolean {
  const found = toState(session);
  return found === state || (found === 'waiting' && session.waiting_for === state);
}

function matches(session: SessionRow, query: URLSearchParams): boolean {
  const text = (query.get('q') ?? '').toLowerCase();
  const state = query.get('state');
  const agent = query.get('agent');
  const since = Number(query.get('since') ?? Infinity);
  const words = `${session.id} ${session.title ?? ''} ${session.user_id ?? ''}`.toLowerCase();
  return (
    words.includes(text) &&
    (state === null ? toState(session) !== 'archived' : isInState(session, state)) &&
    (agent === null || session.agent.name === agent) &&
    Date.now() - Date.parse(session.updated_at) <= since
  );
}
