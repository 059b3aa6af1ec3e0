import type { JSX } from 'preact';
import type { Proof, ProofResult } from '../api/types.ts';
import { client, readOnly } from '../state/connection.ts';
import { route, setQuery } from '../state/route.ts';
import { Badge } from '../ui/badge.tsx';
import type { Tone } from '../ui/badge.tsx';
import { formatCount, formatDuration, formatFullTime } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { act } from '../ui/toast.tsx';
import { Counterexample } from './counterexample.tsx';

const STATUS_TONES: Readonly<Record<Proof['status'], Tone>> = {
  queued: 'info',
  running: 'busy',
  done: 'good',
  failed: 'bad',
  canceled: 'quiet',
  interrupted: 'wait',
};
const VERDICT_TONES: Readonly<Record<ProofResult['verdict'], Tone>> = {
  proved: 'good',
  refuted: 'bad',
  unknown: 'wait',
};

/** What needs a person comes first. */
const ORDER: readonly ProofResult['verdict'][] = ['refuted', 'unknown', 'proved'];

/** The worst verdict of a proof, or what it does. */
export function ProofBadge({ proof }: { readonly proof: Proof }): JSX.Element {
  const count = (verdict: ProofResult['verdict']): number =>
    proof.results.filter((result) => result.verdict === verdict).length;
  if (proof.status !== 'done')
    return <Badge tone={STATUS_TONES[proof.status]} text={proof.status} />;
  const refuted = count('refuted');
  if (refuted > 0) return <Badge tone="bad" text={`${refuted} refuted`} />;
  const unknown = count('unknown');
  return unknown > 0 ? (
    <Badge tone="wait" text={`${unknown} unknown`} />
  ) : (
    <Badge tone="good" text={`${count('proved')} proved`} />
  );
}

/** A proof: its bounds, how far it is, and the verdict of each property. */
export function ProofView({
  proof,
  deciding,
}: {
  readonly proof: Proof;
  readonly deciding: readonly string[];
}): JSX.Element {
  const isOpen = proof.status === 'queued' || proof.status === 'running';
  const chosen = route.value.query.get('result');
  const played = proof.results.find((result) => result.name === chosen && result.trace !== null);
  return (
    <div class="sections">
      <section class="section" aria-label="About the proof">
        <div class="card-head">
          <h2>{proof.agent_id.replace(/^agent_/u, '')}</h2>
          <Badge tone={STATUS_TONES[proof.status]} text={proof.status} />
          {isOpen && <span class="muted nowrap">{formatCount(proof.states)} states</span>}
          <span class="grow" />
          {isOpen && !readOnly.value && (
            <button
              type="button"
              class="button danger"
              onClick={() =>
                act(async () =>
                  client.value.call('DELETE', `/v1/proofs/${encodeURIComponent(proof.id)}`),
                )
              }
            >
              <Icon name="stop" /> Cancel
            </button>
          )}
        </div>
        {isOpen && (
          <p class="proof-progress" role="status">
            <span class="spinner" aria-hidden="true" />
            {proof.status === 'queued'
              ? 'Another proof runs. This one starts when it has ended.'
              : deciding.length === 0
                ? 'The net is prepared.'
                : `Deciding ${nameSome(deciding)}.`}
          </p>
        )}
        {proof.error !== null && <p class="bad">{proof.error.message}</p>}
        {proof.status === 'interrupted' && (
          <p class="hint">The server ended before the proof did. What it had decided is below.</p>
        )}
        <dl class="facts">
          <dt>bounds</dt>
          <dd>{describeBounds(proof.bounds)}</dd>
          <dt>started</dt>
          <dd>{formatFullTime(proof.created_at)}</dd>
          {proof.report !== null && (
            <>
              <dt>took</dt>
              <dd>{formatDuration(proof.report.duration_ms)}</dd>
              <dt>net</dt>
              <dd>
                {proof.report.places} places, {proof.report.transitions} transitions{' '}
                <span class="mono muted">{proof.report.net_hash}</span>
              </dd>
            </>
          )}
        </dl>
      </section>
      <section class="section" aria-label="Properties">
        <h2>Properties</h2>
        <Verdicts proof={proof} deciding={deciding} played={played?.name} />
      </section>
      {proof.report !== null && <Report report={proof.report} />}
    </div>
  );
}

function Verdicts({
  proof,
  deciding,
  played,
}: {
  readonly proof: Proof;
  readonly deciding: readonly string[];
  readonly played: string | undefined;
}): JSX.Element {
  const decided = new Set(proof.results.map(({ name }) => name));
  const open = proof.properties.filter((name) => !decided.has(name));
  const isRunning = proof.status === 'queued' || proof.status === 'running';
  const results = proof.results.toSorted(
    (a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict),
  );
  const shared = (results[0]?.over ?? []).filter((bound) =>
    results.every(({ over }) => over.includes(bound)),
  );
  return (
    <ul class="verdicts">
      {results.map((result) => (
        <li key={result.name} class="verdict">
          <Badge tone={VERDICT_TONES[result.verdict]} text={result.verdict} />
          <div class="verdict-text">
            <strong>{result.name}</strong>
            <code>{result.text}</code>
            {result.reason !== null && <p class="muted">{result.reason}</p>}
            <p class="muted verdict-facts">
              {[
                `decided by ${result.by}`,
                `${formatCount(result.states)} states`,
                formatDuration(result.duration_ms),
                ...result.over.filter((bound) => !shared.includes(bound)),
              ].join(' · ')}
            </p>
            {result.unreached.length > 0 && (
              <p class="muted verdict-facts">
                Not fired by the exploration: <code>{result.unreached.join(', ')}</code>
              </p>
            )}
          </div>
          {result.trace !== null && (
            <button
              type="button"
              class="button small"
              aria-pressed={played === result.name}
              onClick={() =>
                setQuery({
                  result: played === result.name ? undefined : result.name,
                  step: undefined,
                })
              }
            >
              <Icon name="play" /> Play {result.trace.steps.length}{' '}
              {result.trace.steps.length === 1 ? 'step' : 'steps'}
            </button>
          )}
          {result.trace !== null && played === result.name && (
            <Counterexample proof={proof} result={result} trace={result.trace} />
          )}
        </li>
      ))}
      {open.map((name) => (
        <li key={name} class="verdict">
          <Badge
            tone={isRunning && deciding.includes(name) ? 'busy' : 'quiet'}
            text={isRunning ? (deciding.includes(name) ? 'searching' : 'waits') : 'not decided'}
          />
          <div class="verdict-text">
            <strong>{name}</strong>
          </div>
        </li>
      ))}
      {shared.length > 0 && (
        <li class="verdict-shared muted">
          {results.length === 1 ? 'The verdict holds' : 'All verdicts hold'} within these bounds:{' '}
          {shared.join(' · ')}
        </li>
      )}
    </ul>
  );
}

function Report({ report }: { readonly report: NonNullable<Proof['report']> }): JSX.Element {
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['Rules of agents that the arcs break', report.broken_rules],
    ['Taken for granted', report.assumptions],
    ['Transitions that the bounds exclude', report.excluded],
    ['Transitions that no explored run fires', report.unfired],
  ];
  const shown = parts.filter(([, lines]) => lines.length > 0);
  return (
    <section class="section" aria-label="What the proof does not cover">
      <h2>What the proof does not cover</h2>
      {shown.length === 0 && <p class="muted">Nothing within its bounds.</p>}
      {shown.map(([title, lines]) => (
        <details key={title}>
          <summary>
            {title} <span class="muted">({lines.length})</span>
          </summary>
          <ul class="plain-list">
            {lines.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}

function describeBounds(bounds: Proof['bounds']): string {
  const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;
  return [
    count(bounds.messages, 'message', 'messages'),
    `at most ${count(bounds.at_once, 'call', 'calls')} at once`,
    count(bounds.faults, 'fault', 'faults'),
    bounds.shutdowns ? 'the owner may shut down' : 'no shutdown',
    `${formatCount(bounds.states)} states`,
  ].join(', ');
}

function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, 2).join(', ');
  return names.length > 2 ? `${shown} and ${names.length - 2} more` : shown;
}
