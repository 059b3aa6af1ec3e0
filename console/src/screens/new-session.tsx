import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { userMessage } from '../../../src/client/index.ts';
import type { Agent } from '../api/types.ts';
import { client } from '../state/connection.ts';
import { navigate, toHref } from '../state/route.ts';
import { Dialog } from '../ui/dialog.tsx';
import { act } from '../ui/toast.tsx';

/** Starts a session, with a first message if there is one. */
export function NewSession({
  onClose,
  agentId,
}: {
  readonly onClose: () => void;
  readonly agentId?: string;
}): JSX.Element {
  const agents = useSignal<readonly Agent[]>([]);
  const agent = useSignal(agentId ?? '');
  const title = useSignal('');
  const message = useSignal('');
  useEffect(() => {
    act(async () => {
      const found: Agent[] = [];
      for await (const one of client.value.agents.list({ limit: 100 })) found.push(one);
      agents.value = found;
      if (agent.value === '') agent.value = found[0]?.id ?? '';
    });
  }, []);
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
    <Dialog title="New session" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          act(start);
        }}
      >
        <label>
          Agent
          <select
            value={agent.value}
            onChange={({ currentTarget }) => (agent.value = currentTarget.value)}
          >
            {agents.value.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Title <span class="muted">(optional)</span>
          <input
            type="text"
            maxLength={200}
            value={title.value}
            onInput={({ currentTarget }) => (title.value = currentTarget.value)}
          />
        </label>
        <label>
          First message <span class="muted">(optional)</span>
          <textarea
            rows={4}
            value={message.value}
            onInput={({ currentTarget }) => (message.value = currentTarget.value)}
          />
        </label>
        <footer class="dialog-foot">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button primary" disabled={agent.value === ''}>
            Start
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
