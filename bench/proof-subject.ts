/** The agents of the measurement `proofs`. The environment variable `SUBJECT` names the one that this module exports. */
import { agent, custom, loop, parallel, sequential, workflow } from 'petrichor/agents';
import type { Agent, AgentDefinition } from 'petrichor/agents';
import { ScriptedModel } from 'petrichor/testing';
import { tool } from 'petrichor/tools';
import { markImported } from './report-usage.ts';

function speaker(name: string, more: Partial<AgentDefinition> = {}): Agent {
  return agent({ name, model: new ScriptedModel([]), ...more });
}

function speakers(...names: readonly string[]): readonly Agent[] {
  return names.map((name) => speaker(name));
}

/** Ten tools, of which five need an approval. */
function assistantWithTools(): Agent {
  const tools = Array.from({ length: 10 }, (_, index) =>
    tool({
      name: `tool_${index}`,
      description: 'Does something.',
      needsApproval: index % 2 === 0,
      execute: () => null,
    }),
  );
  return speaker('assistant', { tools });
}

/** Three agents with models, one with a generator, and two that compose them. */
function treeOfSix(): Agent {
  return sequential({
    name: 'flow',
    subAgents: [
      parallel({ name: 'both', subAgents: speakers('poet', 'novelist') }),
      speaker('editor'),
      custom({ name: 'critic', async *run() {} }),
    ],
  });
}

/** Two branches of seven agents, and a desk that transfers the turn to four others. */
function treeOfTwenty(): Agent {
  const branch = (name: string): Agent =>
    sequential({
      name,
      subAgents: [
        parallel({ name: `${name}_both`, subAgents: speakers(`${name}_a`, `${name}_b`) }),
        loop({ name: `${name}_loop`, subAgents: speakers(`${name}_c`, `${name}_d`) }),
      ],
    });
  return sequential({
    name: 'root',
    subAgents: [
      branch('left'),
      branch('right'),
      speaker('desk', { subAgents: speakers('x', 'y', 'z', 'w') }),
    ],
  });
}

/** A row of diamonds of four nodes: in turn, both branches run and are joined, or a route selects one of them. */
function graph(size: number): Agent {
  const isJoin = (index: number): boolean => index % 8 === 3;
  const edge = (from: number, to: number, route?: string) =>
    to < size
      ? [{ from: `n${from}`, to: `n${to}`, ...(route === undefined ? {} : { route }) }]
      : [];
  const diamonds = Array.from({ length: Math.ceil(size / 4) }, (_, index) => index * 4);
  return workflow({
    name: 'graph',
    nodes: Array.from({ length: size }, (_, index) =>
      isJoin(index)
        ? { kind: 'join', name: `n${index}` }
        : { kind: 'function', name: `n${index}`, run: () => null },
    ),
    edges: [
      { from: 'START', to: 'n0' },
      ...diamonds.flatMap((at) => [
        ...edge(at, at + 1, isJoin(at + 3) ? undefined : 'left'),
        ...edge(at, at + 2, isJoin(at + 3) ? undefined : 'right'),
        ...edge(at + 1, at + 3),
        ...edge(at + 2, at + 3),
        ...edge(at + 3, at + 4),
      ]),
    ],
  });
}

const subjects: Readonly<Record<string, () => Agent>> = {
  'bare agent': () => speaker('assistant'),
  'agent with ten tools and approvals': assistantWithTools,
  'sequential of three': () => sequential({ name: 'flow', subAgents: speakers('a', 'b', 'c') }),
  'parallel of three': () => parallel({ name: 'flow', subAgents: speakers('a', 'b', 'c') }),
  'loop of three': () => loop({ name: 'flow', subAgents: speakers('a', 'b', 'c') }),
  'tree of six': treeOfSix,
  'tree of twenty': treeOfTwenty,
  'parallel of ten': () =>
    parallel({
      name: 'flow',
      subAgents: speakers('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'),
    }),
  'workflow of ten nodes': () => graph(10),
  'workflow of fifty nodes': () => graph(50),
  'session with control inputs': () => speaker('assistant'),
  'session with control and outcomes': () => speaker('assistant', { outcomes: {} }),
};

export const subject: Agent | undefined = subjects[process.env['SUBJECT'] ?? '']?.();

markImported();
