import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { PendingCall } from '../api/types.ts';
import { client } from '../state/connection.ts';
import { JsonView } from '../ui/json-view.tsx';
import { isSameCall } from './same-call.ts';
import { diffState } from './state-diff.ts';

const CALL_TYPES = ['agent.tool_use', 'agent.mcp_tool_use', 'agent.custom_tool_use'] as const;
/** How many calls of the session are looked at, the latest first. */
const MOST_CALLS = 200;

type Arguments = Readonly<Record<string, unknown>>;

/** Says which arguments differ from those of the previous call of the same tool in the session. Read when it is opened. */
export function PreviousCall({ call }: { readonly call: PendingCall }): JSX.Element {
  const found = useSignal<Arguments | 'reading' | 'none' | Error>('reading');
  const read = (): void => {
    found.value = 'reading';
    readPreviousArguments(call)
      .then((previous) => {
        found.value = previous ?? 'none';
      })
      .catch((error: unknown) => {
        found.value = error instanceof Error ? error : new Error(String(error));
      });
  };
  return (
    <details
      class="previous-call"
      onToggle={({ currentTarget }) => {
        if (currentTarget.open) read();
      }}
    >
      <summary>Changes since the previous call</summary>
      <Changes name={call.name} previous={found.value} now={Object(call.input)} />
    </details>
  );
}

function Changes({
  name,
  previous,
  now,
}: {
  readonly name: string;
  readonly previous: Arguments | 'reading' | 'none' | Error;
  readonly now: Arguments;
}): JSX.Element {
  if (previous === 'reading') return <p class="muted">Reading the calls of the session …</p>;
  if (previous === 'none')
    return (
      <p class="muted">
        The session has no earlier call of <span class="mono">{name}</span>.
      </p>
    );
  if (previous instanceof Error) return <p class="bad">{previous.message}</p>;
  const changes = diffState(previous, now);
  if (changes.length === 0) return <p class="muted">The arguments are the same.</p>;
  return (
    <>
      {changes.map(({ key, how, value }) => (
        <div key={key} class={`move move-${how === 'removed' ? 'taken' : 'given'}`}>
          <span class="mono">{key}</span> <span class="muted">{how}</span>
          {how === 'changed' && <JsonView name="before" value={previous[key]} />}
          <JsonView name={how === 'removed' ? 'before' : 'now'} value={value} />
        </div>
      ))}
    </>
  );
}

/** The arguments of the latest call of the tool before this one. Undefined: there is none. */
async function readPreviousArguments(call: PendingCall): Promise<Arguments | undefined> {
  const calls = client.value.sessions.listEvents(call.session_id, {
    order: 'desc',
    types: [...CALL_TYPES],
    limit: MOST_CALLS,
  });
  let isEarlier = false;
  let looked = 0;
  for await (const event of calls) {
    if ('input' in event && event.name === call.name) {
      if (isEarlier) return event.input;
      isEarlier = isSameCall(event, call);
    }
    if (++looked === MOST_CALLS) return undefined;
  }
  return undefined;
}
