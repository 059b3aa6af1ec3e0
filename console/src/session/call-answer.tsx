import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ApiError } from '../../../src/client/index.ts';
import type { UserEvent } from '../../../src/client/index.ts';
import { client, readOnly } from '../state/connection.ts';
import { formatTime } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { act, showToast } from '../ui/toast.tsx';
import { readQuestion } from './answer-schema.ts';
import { QuestionForm } from './question-form.tsx';

/** A call that waits for a person. */
export interface WaitingCall {
  readonly sessionId: string;
  readonly callId: string;
  readonly name: string;
  readonly needs: 'approval' | 'result';
  /** Names what a person approves: the server refuses an approval of other arguments. */
  readonly fingerprint: string | undefined;
  /** The question of the call, if it asks one. */
  readonly request: unknown;
}

/** Approves, denies or answers a call. */
export function CallAnswer({ call }: { readonly call: WaitingCall }): JSX.Element | null {
  const busy = useSignal(false);
  const denying = useSignal(false);
  const words = useSignal('');
  const outcome = useSignal<string | undefined>(undefined);
  if (readOnly.value) return <p class="muted">Read only: answer it elsewhere.</p>;
  if (outcome.value !== undefined)
    return (
      <p class="outcome" role="status">
        {outcome.value}
      </p>
    );
  const send = (event: UserEvent, done: string): void => {
    busy.value = true;
    act(async () => {
      try {
        await client.value.sessions.send(call.sessionId, [event]);
        outcome.value = done;
      } catch (error) {
        // The call may be gone from the page by now, so the line is shown apart from it.
        showToast(describeRefusal(error), 'bad');
      }
      busy.value = false;
    });
  };
  const confirm = (result: 'allow' | 'deny', message?: string): UserEvent => ({
    type: 'user.tool_confirmation',
    tool_use_id: call.callId,
    result,
    ...(call.fingerprint !== undefined && { fingerprint: call.fingerprint }),
    ...(message !== undefined && message !== '' && { deny_message: message }),
  });
  if (call.needs === 'result') {
    const question = readQuestion(call.request);
    const onSend = (text: string, isError: boolean): void =>
      send(
        {
          type: 'user.custom_tool_result',
          custom_tool_use_id: call.callId,
          content: [{ type: 'text', text }],
          ...(isError && { is_error: true }),
        },
        isError ? 'You reported a failure.' : 'You gave the result.',
      );
    return question === undefined ? (
      <ResultForm busy={busy.value} onSend={onSend} />
    ) : (
      <QuestionForm question={question} busy={busy.value} onSend={onSend} />
    );
  }
  return (
    <div class="answer">
      {denying.value && (
        <input
          type="text"
          aria-label="Why it is denied"
          placeholder="Tell the model why (optional)"
          value={words.value}
          onInput={({ currentTarget }) => (words.value = currentTarget.value)}
          onKeyDown={({ key }) => {
            if (key === 'Enter') send(confirm('deny', words.value.trim()), 'You denied it.');
          }}
        />
      )}
      <div class="answer-buttons">
        {!denying.value && (
          <button
            type="button"
            class="button primary"
            disabled={busy.value}
            onClick={() => send(confirm('allow'), 'You approved it.')}
          >
            <Icon name="check" /> Approve
          </button>
        )}
        <button
          type="button"
          class={`button ${denying.value ? 'danger' : ''}`}
          disabled={busy.value}
          onClick={() => {
            if (denying.value) send(confirm('deny', words.value.trim()), 'You denied it.');
            else denying.value = true;
          }}
        >
          <Icon name="close" /> {denying.value ? 'Deny it' : 'Deny'}
        </button>
        {denying.value && (
          <button type="button" class="button" onClick={() => (denying.value = false)}>
            Back
          </button>
        )}
      </div>
    </div>
  );
}

function ResultForm({
  busy,
  onSend,
}: {
  readonly busy: boolean;
  readonly onSend: (text: string, isError: boolean) => void;
}): JSX.Element {
  const text = useSignal('');
  return (
    <div class="answer">
      <textarea
        rows={3}
        aria-label="Result"
        placeholder="The result, as text or JSON"
        value={text.value}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
      <div class="answer-buttons">
        <button
          type="button"
          class="button primary"
          disabled={busy || text.value.trim() === ''}
          onClick={() => onSend(text.value, false)}
        >
          <Icon name="check" /> Give the result
        </button>
        <button
          type="button"
          class="button"
          disabled={busy || text.value.trim() === ''}
          onClick={() => onSend(text.value, true)}
        >
          Report a failure
        </button>
      </div>
    </div>
  );
}

/** Who was first is an answer too, and no failure. */
function describeRefusal(error: unknown): string {
  if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
  if (error.errorCode === 'already_answered') return describeFirstAnswer(error.details);
  if (error.errorCode === 'call_not_pending') return 'This call does not wait any more.';
  return error.message;
}

/** An older server does not say who was first. */
function describeFirstAnswer({
  decision,
  answered_by: by,
  answered_at: at,
}: ApiError['details']): string {
  if (typeof decision !== 'string') return 'Someone else was first. The first answer counts.';
  const who = typeof by === 'string' ? ` by ${by}` : '';
  const when = typeof at === 'string' ? ` at ${formatTime(at)}` : '';
  return `Already ${decision}${who}${when}. The first answer counts.`;
}
