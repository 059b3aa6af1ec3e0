import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent, SessionNet, Tool } from '../api/types.ts';
import { layOut } from '../net/lay-out.ts';
import type { Drawing } from '../net/lay-out.ts';
import { NetView } from '../net/net-view.tsx';
import { useDirection } from '../net/use-direction.ts';
import { STORY } from '../net/story.ts';
import { listMoves } from '../session/record-moves.ts';
import { client, config, readOnly } from '../state/connection.ts';
import { lists } from '../state/lists.ts';
import { route, toHref } from '../state/route.ts';
import { Badge } from '../ui/badge.tsx';
import { EmptyState, Failure, Loading } from '../ui/empty-state.tsx';
import { redact } from '../ui/format.ts';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { NewSession } from './new-session.tsx';

/** What the server serves: each agent with its tools, its net and its versions. */
export function AgentsScreen(): JSX.Element {
  const agents = useSignal<readonly Agent[] | undefined>(undefined);
  const error = useSignal<Error | undefined>(undefined);
  useEffect(() => {
    const read = async (): Promise<void> => {
      const found: Agent[] = [];
      for await (const agent of client.value.agents.list({ limit: 100 })) found.push(agent);
      agents.value = found;
    };
    read().catch((cause: unknown) => {
      error.value = cause instanceof Error ? cause : new Error(String(cause));
    });
  }, [client.value]);
  if (error.value !== undefined) return <Failure error={error.value} isScreen />;
  const [, chosenId] = route.value.segments;
  const chosen = agents.value?.find(({ id }) => id === chosenId) ?? agents.value?.[0];
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Agents</h1>
      </header>
      {agents.value === undefined ? (
        <Loading />
      ) : chosen === undefined ? (
        <EmptyState icon="agents" title="No agent is served">
          <p>
            Export one from the file that you give to <code>petrichor dev</code>.
          </p>
        </EmptyState>
      ) : (
        <div class="columns">
          <nav class="side-list" aria-label="Agents">
            {agents.value.map((agent) => (
              <a
                key={agent.id}
                href={toHref(['agents', agent.id])}
                aria-current={agent.id === chosen.id}
              >
                <strong>{agent.name}</strong>
                <small class="muted">
                  v{agent.version} · {agent.source}
                </small>
              </a>
            ))}
          </nav>
          <AgentDetails key={chosen.id} agent={chosen} />
        </div>
      )}
    </section>
  );
}

function AgentDetails({ agent }: { readonly agent: Agent }): JSX.Element {
  const isNew = useSignal(false);
  const sessions = lists.value.sessions.rows.value.filter((one) => one.agent.id === agent.id);
  const old = sessions.filter(
    (one) => one.agent.version < agent.version && one.archived_at === null,
  );
  return (
    <div class="sections">
      <section class="section" aria-label="About the agent">
        <div class="card-head">
          <h2>{agent.name}</h2>
          <Badge tone="info" text={agent.source === 'code' ? 'from code' : 'definition'} />
          <span class="grow" />
          {!readOnly.value && (
            <div class="card-actions">
              {config.value.proofs && agent.source === 'code' && (
                <a class="button" href={toHref(['proofs'], { new: agent.id })}>
                  <Icon name="proofs" /> Prove
                </a>
              )}
              <button type="button" class="button primary" onClick={() => (isNew.value = true)}>
                <Icon name="plus" /> New session
              </button>
            </div>
          )}
        </div>
        {agent.description !== null && <p>{redact(agent.description)}</p>}
        <dl class="facts">
          <dt>id</dt>
          <dd class="mono">{agent.id}</dd>
          <dt>version</dt>
          <dd>{agent.version}</dd>
          <dt>model</dt>
          <dd class="mono">{agent.model.id}</dd>
          {agent.net_hash !== null && (
            <>
              <dt>net</dt>
              <dd class="mono">{agent.net_hash}</dd>
            </>
          )}
          <dt>sessions</dt>
          <dd>
            <a href={toHref(['sessions'], { agent: agent.name })}>{sessions.length}</a>
            {old.length > 0 && `, ${old.length} on an earlier version`}
          </dd>
        </dl>
        {agent.system !== null && (
          <details>
            <summary>Instruction</summary>
            <p class="prompt-text">{redact(agent.system)}</p>
          </details>
        )}
      </section>
      <section class="section" aria-label="Tools">
        <h2>Tools</h2>
        {agent.tools.length === 0 && <p class="muted">This agent has no tools.</p>}
        {agent.tools.map((tool, index) => (
          <ToolRow key={index} tool={tool} />
        ))}
        {agent.multiagent !== null && (
          <>
            <h3 class="label-heading">Calls these agents</h3>
            <JsonView value={agent.multiagent.agents} open={2} />
          </>
        )}
      </section>
      <AgentNet agent={agent} />
      <Versions agent={agent} />
      {isNew.value && <NewSession agentId={agent.id} onClose={() => (isNew.value = false)} />}
    </div>
  );
}

/** What happens to a call whose process ended while it ran. An older server does not say. */
const AFTER_CRASH: Readonly<Record<string, string>> = {
  rerun: 'runs again after a crash',
  unknown: 'not run again after a crash',
  ask: 'asks you after a crash',
};

function ToolRow({ tool }: { readonly tool: Tool }): JSX.Element {
  if (tool.type !== 'code')
    return (
      <div class="tool-row">
        <JsonView value={tool} name={'name' in tool ? tool.name : tool.type} open={0} />
      </div>
    );
  const afterCrash = AFTER_CRASH[tool.on_crash];
  return (
    <details class="tool-row">
      <summary>
        <Icon name="tool" />
        <strong class="mono">{tool.name}</strong>
        {tool.approval !== 'never' && (
          <Badge
            tone="wait"
            text={tool.approval === 'always' ? 'needs an approval' : 'may need an approval'}
          />
        )}
        {tool.external && <Badge tone="info" text="answered from outside" />}
        {tool.read_only && <Badge tone="quiet" text="reads only" />}
        {afterCrash !== undefined && <Badge tone="quiet" text={afterCrash} />}
      </summary>
      <p>{redact(tool.description)}</p>
      <h3 class="label-heading">Parameters</h3>
      <JsonView value={tool.input_schema} open={3} />
    </details>
  );
}

function AgentNet({ agent }: { readonly agent: Agent }): JSX.Element {
  const [drawing, setDrawing] = useState<Drawing | undefined>(undefined);
  const failure = useSignal<string | undefined>(undefined);
  const focus = useSignal<string | undefined>(undefined);
  const box = useRef<HTMLDivElement>(null);
  const direction = useDirection(box);
  useEffect(() => {
    client.value.agents
      .net(agent.id)
      .then(async (net: SessionNet) =>
        setDrawing(await layOut(net, STORY, { subnets: false, direction })),
      )
      .catch((error: unknown) => {
        failure.value = error instanceof Error ? error.message : String(error);
      });
  }, [agent, direction]);
  return (
    <section class="section" aria-label="Net">
      <h2>Net</h2>
      {failure.value !== undefined ? (
        <p class="muted">{failure.value}</p>
      ) : (
        <div class="agent-net net-box" ref={box}>
          {drawing === undefined ? (
            <Loading rows={4} />
          ) : (
            <NetView
              drawing={drawing}
              marking={{ places: new Map(), running: new Map() }}
              moves={listMoves(undefined)}
              fired={undefined}
              record={0}
              now={0}
              focus={focus.value}
              onFocus={(node) => (focus.value = node)}
            />
          )}
        </div>
      )}
    </section>
  );
}

function Versions({ agent }: { readonly agent: Agent }): JSX.Element | null {
  const versions = useSignal<readonly Agent[]>([]);
  useEffect(() => {
    client.value
      .call<{ readonly data: readonly Agent[] }>(
        'GET',
        `/v1/agents/${encodeURIComponent(agent.id)}/versions`,
        { query: { limit: 50 } },
      )
      .then(({ data }) => {
        versions.value = data;
      })
      .catch(() => undefined);
  }, [agent]);
  if (versions.value.length < 2) return null;
  return (
    <section class="section" aria-label="Versions">
      <h2>Versions</h2>
      {versions.value.map((one, index) => (
        <details key={one.version} class="tool-row">
          <summary>
            <strong>Version {one.version}</strong>
            <span class="muted">{describeChange(one, versions.value[index + 1])}</span>
          </summary>
          <JsonView value={one} open={1} />
        </details>
      ))}
    </section>
  );
}

const COMPARED = [
  'system',
  'model',
  'tools',
  'net_hash',
  'permission_policy',
  'multiagent',
] as const;

/** Names the fields that differ from the version before. */
function describeChange(agent: Agent, before: Agent | undefined): string {
  if (before === undefined) return 'the first';
  const changed = COMPARED.filter(
    (field) => JSON.stringify(agent[field]) !== JSON.stringify(before[field]),
  );
  return changed.length === 0 ? 'no visible change' : `changed: ${changed.join(', ')}`;
}
