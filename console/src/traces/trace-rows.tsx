import type { JSX } from 'preact';
import { formatCount, formatDuration, formatTime, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import type { IconName } from '../ui/icon.tsx';
import { sumUsage } from './read-trace.ts';
import type { Invocation, Span } from './read-trace.ts';
import { createScale } from './time-scale.ts';

const ICONS: Readonly<Record<Span['kind'], IconName>> = {
  model: 'live',
  tool: 'tool',
  effect: 'settings',
  wait: 'pause',
};

/** A turn: what was asked, and how long the answer took. */
export function InvocationRow({
  invocation,
  now,
  isOpen,
  onToggle,
}: {
  readonly invocation: Invocation;
  readonly now: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}): JSX.Element {
  const { from, to, text, spans, stopReason } = invocation;
  const { breaks } = createScale(invocation, now);
  return (
    <div class="table-row trace-turn" role="row">
      <span role="cell" class="trace-name">
        <button
          type="button"
          class={`trace-toggle${isOpen ? ' is-open' : ''}`}
          aria-expanded={isOpen}
          onClick={onToggle}
        >
          <Icon name="chevron" />
          <strong>{redact(text) || 'A turn without a message'}</strong>
        </button>
      </span>
      <span role="cell" class="trace-bars muted">
        <span class="trace-when">{formatTime(from)}</span>
        {breaks.map((one) => (
          <span
            key={one.from}
            class="trace-break"
            style={{ left: `${one.from * 100}%`, width: `${(one.to - one.from) * 100}%` }}
            title={`Nothing ran for ${formatDuration(one.ms)}: drawn shorter`}
          >
            <span>{formatDuration(one.ms)}</span>
          </span>
        ))}
      </span>
      <span role="cell" class="cell-number">
        {to === undefined ? (
          <span class="muted">{stopReason ?? 'not ended'}</span>
        ) : (
          formatDuration(to - from)
        )}
      </span>
      <span role="cell" class="cell-number wide-only">
        <TokenCount {...sumUsage(spans)} />
      </span>
    </div>
  );
}

/** A model call, a tool call, another effect or a wait, as a bar in the time of its turn. */
export function SpanRow({
  invocation,
  span,
  now,
  isChosen,
  onChoose,
}: {
  readonly invocation: Invocation;
  readonly span: Span;
  readonly now: number;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}): JSX.Element {
  const { kind, name, from, to, attempts, usage } = span;
  const scale = createScale(invocation, now);
  const left = scale.position(from);
  const width = Math.max(0, scale.position(to ?? Math.max(now, from)) - left);
  const tone = findTone(span);
  return (
    <div class={`table-row trace-span${isChosen ? ' is-chosen' : ''}`} role="row">
      <span role="cell" class="trace-name">
        <button
          type="button"
          class="trace-choose"
          aria-pressed={isChosen}
          data-span={span.record}
          onClick={onChoose}
        >
          <Icon name={ICONS[kind]} />
          <span class="mono">{redact(name)}</span>
          {kind === 'wait' && <small class="muted">waits for a person</small>}
          {tone === 'bad' && <small class="bad">{span.outcome}</small>}
          {attempts.length > 0 && <small class="muted">×{attempts.length + 1}</small>}
        </button>
      </span>
      <span role="cell" class="trace-bars" onClick={onChoose}>
        <span
          class={`trace-bar trace-${kind} trace-${tone}`}
          style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }}
        />
        {attempts.map(({ record, at, how }) => (
          <span
            key={record}
            class={`trace-attempt trace-${how}`}
            style={{ left: `${scale.position(at) * 100}%` }}
            title={how}
          />
        ))}
      </span>
      <span role="cell" class="cell-number">
        {to === undefined ? (
          <span class={`trace-${kind === 'wait' ? 'waits' : 'running'}`}>
            {kind === 'wait' ? 'waits' : 'running'}
          </span>
        ) : (
          formatDuration(to - from)
        )}
      </span>
      <span role="cell" class="cell-number wide-only">
        {usage !== undefined && <TokenCount {...usage} />}
      </span>
    </div>
  );
}

function TokenCount({
  inputTokens,
  outputTokens,
}: {
  readonly inputTokens: number;
  readonly outputTokens: number;
}): JSX.Element | null {
  if (inputTokens + outputTokens === 0) return null;
  return (
    <span title="tokens in, tokens out">
      {formatCount(inputTokens)} <span class="muted">→</span> {formatCount(outputTokens)}
    </span>
  );
}

function findTone({ outcome, kind }: Span): 'busy' | 'good' | 'bad' | 'quiet' {
  if (outcome === undefined) return kind === 'wait' ? 'quiet' : 'busy';
  if (outcome === 'ok') return 'good';
  return outcome === 'cancelled' || outcome === 'answered' || outcome === 'ended' ? 'quiet' : 'bad';
}
