import type { JSX } from 'preact';
import { lists } from '../state/lists.ts';
import { route, setQuery, toHref } from '../state/route.ts';
import { CallAnswer } from '../session/call-answer.tsx';
import { PreviousCall } from '../session/previous-call.tsx';
import { readQuestion } from '../session/answer-schema.ts';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { formatFullTime } from '../ui/format.ts';
import { JsonView } from '../ui/json-view.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { Badge } from '../ui/badge.tsx';
import type { PendingCall } from '../api/types.ts';

/** Every call that waits for a person, of all sessions. */
export function InboxScreen(): JSX.Element {
  const { calls, loaded, error } = lists.value.pending;
  if (error.value !== undefined) return <Failure error={error.value} isScreen />;
  const { query } = route.value;
  const tool = query.get('tool');
  const tools = [...new Set(calls.value.map(({ name }) => name))].toSorted();
  const shown = calls.value.filter(({ name }) => tool === null || name === tool);
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Inbox</h1>
        <span class="muted">{loaded.value ? `${calls.value.length} waiting` : ''}</span>
        <span class="grow" />
        {tools.length > 1 && (
          <select
            aria-label="Tool"
            value={tool ?? ''}
            onChange={({ currentTarget }) => setQuery({ tool: currentTarget.value || undefined })}
          >
            <option value="">Any tool</option>
            {tools.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </header>
      {!loaded.value ? (
        <Loading rows={3} />
      ) : shown.length === 0 ? (
        <EmptyState icon="inbox" title="Nothing waits for you">
          <p>
            A call that needs an approval or a result appears here at once, whichever session it
            belongs to.
          </p>
        </EmptyState>
      ) : (
        <ul class="cards">
          {shown.map((call) => (
            <li key={`${call.session_id} ${call.id}`}>
              <PendingCard call={call} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function PendingCard({ call }: { readonly call: PendingCall }): JSX.Element {
  return (
    <article class="card" aria-label={`${call.name} waits`}>
      <header class="card-head">
        <h2 class="mono">{call.name}</h2>
        <Badge
          tone={call.reason === 'crash' ? 'bad' : 'wait'}
          text={
            call.reason === 'crash'
              ? 'outcome unknown after a crash'
              : `needs ${call.needs === 'approval' ? 'an approval' : 'a result'}`
          }
        />
        <span class="grow" />
        <span class="muted">
          asked <RelativeTime at={call.waiting_since} />
        </span>
      </header>
      <p class="card-line">
        <a href={toHref(['s', call.session_id])} class="mono">
          {call.session_id}
        </a>
        <span class="muted"> by {call.agent_id}</span>
        {call.expires_at !== null && (
          <span class="muted"> · until {formatFullTime(call.expires_at)}</span>
        )}
      </p>
      <JsonView value={call.input} open={2} />
      <PreviousCall call={call} />
      {call.request !== null && readQuestion(call.request) === undefined && (
        <JsonView name="asks" value={call.request} open={2} />
      )}
      <CallAnswer
        call={{
          sessionId: call.session_id,
          callId: call.id,
          name: call.name,
          needs: call.needs,
          fingerprint: call.fingerprint,
          request: call.request,
        }}
      />
    </article>
  );
}
