import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Agent } from '../api/types.ts';
import { client } from '../state/connection.ts';
import { act } from './toast.tsx';

/** Chooses an agent of the server by its id. Without a choice, it chooses the first one. */
export function AgentSelect({
  chosen,
  isOffered = () => true,
}: {
  readonly chosen: Signal<string>;
  /** Default: every agent. */
  readonly isOffered?: (agent: Agent) => boolean;
}): JSX.Element {
  const agents = useSignal<readonly Agent[]>([]);
  useEffect(() => {
    act(async () => {
      const found = await Array.fromAsync(client.value.agents.list({ limit: 100 }));
      agents.value = found.filter(isOffered);
      if (chosen.value === '') chosen.value = agents.value[0]?.id ?? '';
    });
  }, []);
  return (
    <label>
      Agent
      <select
        value={chosen.value}
        onChange={({ currentTarget }) => (chosen.value = currentTarget.value)}
      >
        {agents.value.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
