import type { JSX } from 'preact';
import { lists } from '../state/lists.ts';
import { Badge } from '../ui/badge.tsx';
import type { Tone } from '../ui/badge.tsx';
import { formatDuration, formatTime, redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { Blocks } from './blocks.tsx';
import { CallAnswer } from './call-answer.tsx';
import type { CallItem } from './chat-items.ts';
import { isSameCall } from './same-call.ts';
import type { SessionModel } from './session-model.ts';

export interface ToolCardProps {
  readonly call: CallItem;
  readonly isWaiting: boolean;
  /** False: an earlier moment is shown, at which nothing can be answered. */
  readonly isLive: boolean;
  readonly model: SessionModel;
}

/** A call of a tool: its arguments, who decided, its result. */
export function ToolCard({ call, isWaiting, isLive, model }: ToolCardProps): JSX.Element {
  const { name, input, result, decision } = call;
  const [tone, text] = describeOutcome(call, isWaiting);
  const took = duration(call);
  const pending = isWaiting
    ? lists.value.pending.calls.value.find(
        (one) => one.session_id === model.id && isSameCall(one, call),
      )
    : undefined;
  return (
    <article class={`tool-card${isWaiting ? ' is-waiting' : ''}`} aria-label={`Call of ${name}`}>
      <details open={isWaiting}>
        <summary>
          <Icon name="tool" />
          <strong class="mono">{redact(name)}</strong>
          <Badge tone={tone} text={text} />
          <span class="grow" />
          {took !== undefined && <span class="muted nowrap">{took}</span>}
        </summary>
        <h3 class="label-heading">Arguments</h3>
        {Object.keys(input).length === 0 ? (
          <p class="muted">none</p>
        ) : (
          <JsonView value={input} open={2} />
        )}
        {result !== undefined && (
          <>
            <h3 class="label-heading">{result.isError ? 'Failed with' : 'Result'}</h3>
            {result.blocks.length === 0 ? (
              <p class="muted">nothing</p>
            ) : (
              <Blocks blocks={result.blocks} />
            )}
          </>
        )}
      </details>
      {decision !== undefined && (
        <p class="decision">
          <Icon name={decision.result === 'allow' ? 'check' : 'close'} />
          {decision.result === 'allow' ? 'Approved' : 'Denied'}
          {decision.at !== null && ` at ${formatTime(decision.at)}`}
          {decision.message !== undefined && `: ${redact(decision.message)}`}
        </p>
      )}
      {isWaiting && isLive && !model.isFile && (
        <div class="waiting-box">
          <p class="visually-hidden" role="status" aria-live="polite">
            {name} waits for {call.isExternal ? 'a result' : 'an approval'}.
          </p>
          {pending?.reason === 'crash' && (
            <p class="hint">
              The process ended while this call ran, so nobody knows whether it took effect. Approve
              it to run it again.
            </p>
          )}
          <CallAnswer
            call={{
              sessionId: model.id,
              callId: call.id,
              name,
              needs: pending?.needs ?? (call.isExternal ? 'result' : 'approval'),
              fingerprint: pending?.fingerprint,
              request: pending?.request,
            }}
          />
        </div>
      )}
    </article>
  );
}

function describeOutcome(
  { result, decision }: CallItem,
  isWaiting: boolean,
): readonly [Tone, string] {
  if (result !== undefined) {
    if (decision?.result === 'deny') return ['quiet', 'denied'];
    return result.isError ? ['bad', 'failed'] : ['good', 'ok'];
  }
  if (isWaiting) return ['wait', 'waits for you'];
  return decision?.result === 'deny' ? ['quiet', 'denied'] : ['busy', 'running'];
}

/** From the wish of the model, or from the decision of a person, to the result. */
function duration({ at, decision, result }: CallItem): string | undefined {
  const from = decision?.at ?? at;
  if (from == null || result?.at == null) return undefined;
  return formatDuration(Date.parse(result.at) - Date.parse(from));
}
