import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { userMessage } from '../../../src/client/index.ts';
import { client } from '../state/connection.ts';
import { navigate, toHref } from '../state/route.ts';
import { AgentSelect } from '../ui/agent-select.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';

/** Starts a session, with a first message if there is one. */
export function NewSession({
  onClose,
  agentId,
}: {
  readonly onClose: () => void;
  readonly agentId?: string;
}): JSX.Element {
  const agent = useSignal(agentId ?? '');
  const title = useSignal('');
  const message = useSignal('');
  const start = async (): Promise<void> => {
    const text = message.value.trim();
    const session = await client.value.sessions.create({
      agent: agent.value,
      ...(title.value.trim() !== '' && { title: title.value.trim() }),
      ...(text !== '' && { initial_events: [userMessage(text)] }),
    });
    onClose();
    navigate(toHref(['s', session.id]));
  };
  return (
    <FormDialog
      title="New session"
      submit="Start"
      canSubmit={agent.value !== ''}
      onSubmit={start}
      onClose={onClose}
    >
      <AgentSelect chosen={agent} />
      <label>
        <span>
          Title <span class="muted">(optional)</span>
        </span>
        <input
          type="text"
          maxLength={200}
          value={title.value}
          onInput={({ currentTarget }) => (title.value = currentTarget.value)}
        />
      </label>
      <label>
        <span>
          First message <span class="muted">(optional)</span>
        </span>
        <textarea
          rows={4}
          value={message.value}
          onInput={({ currentTarget }) => (message.value = currentTarget.value)}
        />
      </label>
    </FormDialog>
  );
}
