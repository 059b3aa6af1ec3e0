import type { JSX } from 'preact';
import { toHref } from '../state/route.ts';
import { formatDuration, formatFullTime, formatTime, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import type { Span } from './read-trace.ts';

/** Everything that the journal has about a span. */
export function SpanDetails({
  sessionId,
  span,
  onClose,
}: {
  readonly sessionId: string;
  readonly span: Span;
  readonly onClose: () => void;
}): JSX.Element {
  const { record, endRecord, kind, name, transition, from, to, outcome, usage, attempts } = span;
  const toRecord = (at: number, tab?: string): string => toHref(['s', sessionId], { at, tab });
  return (
    <aside class="section trace-details" aria-label={`Span ${name}`}>
      <header class="card-head">
        <h2 class="mono">{redact(name)}</h2>
        <span class="grow" />
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <dl class="facts">
        <dt>{kind === 'wait' ? 'place' : 'transition'}</dt>
        <dd class="mono">{transition}</dd>
        <dt>began</dt>
        <dd title={formatFullTime(from)}>
          {formatTime(from)}, <a href={toRecord(record)}>record {record}</a>
        </dd>
        {to !== undefined && endRecord !== undefined && (
          <>
            <dt>ended</dt>
            <dd title={formatFullTime(to)}>
              {formatTime(to)}, <a href={toRecord(endRecord)}>record {endRecord}</a>
            </dd>
            <dt>took</dt>
            <dd>{formatDuration(to - from)}</dd>
          </>
        )}
        <dt>outcome</dt>
        <dd>{outcome ?? (kind === 'wait' ? 'waits' : 'runs')}</dd>
        {usage !== undefined && (
          <>
            <dt>tokens</dt>
            <dd>
              {usage.inputTokens.toLocaleString()} in, {usage.outputTokens.toLocaleString()} out
            </dd>
          </>
        )}
      </dl>
      {kind === 'model' && (
        <a class="button small" href={toRecord(record, 'prompt')}>
          <Icon name="search" /> The exact prompt
        </a>
      )}
      {attempts.length > 0 && (
        <>
          <h3 class="label-heading">Attempts</h3>
          <ol class="attempts">
            {attempts.map(({ record: at, how, reason }) => (
              <li key={at}>
                <a href={toRecord(at)}>record {at}</a>{' '}
                {how === 'crashed' ? 'the process died; it ran again' : how}
                {reason !== undefined && `: ${redact(reason)}`}
              </li>
            ))}
          </ol>
        </>
      )}
      {kind !== 'model' && span.input !== undefined && (
        <>
          <h3 class="label-heading">Arguments</h3>
          <JsonView key={`in ${record}`} value={span.input} open={2} />
        </>
      )}
      {span.output !== undefined && (
        <>
          <h3 class="label-heading">Result</h3>
          <JsonView key={`out ${record}`} value={span.output} open={3} />
        </>
      )}
    </aside>
  );
}
