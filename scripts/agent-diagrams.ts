import { agent, custom, loop, parallel, sequential, workflow } from '../src/agents/index.ts';
import type { Agent } from '../src/agents/index.ts';
import { ScriptedModel } from '../src/models/index.ts';
import { tool } from '../src/tools/index.ts';
import { diagram } from './shipped-nets.ts';
import type { Diagram } from './shipped-nets.ts';

const model = new ScriptedModel([]);
const nothing = (): undefined => undefined;

/** What every turn touches, and no picture of it gets clearer by. */
const sharedPlaces: ReadonlySet<string> = new Set([
  'answer.in',
  'conversation',
  'event.out',
  'interrupt.in',
  'model.rescheduled',
  'model.attempted',
  'session.failed',
  'session.paused',
  'session.queued',
  'state',
  'state.write',
  'turn.stop-requested',
  'turn.stopping',
]);

/** The kinds of agents, as docs/agents.md shows them. */
export function agentDiagrams(): readonly Diagram[] {
  const workers = (): readonly Agent[] => [worker('a'), worker('b')];
  return [
    flow('sequence', sequential({ name: 'flow', subAgents: workers() })),
    flow('side-by-side', parallel({ name: 'flow', subAgents: workers() })),
    flow('loop', loop({ name: 'flow', subAgents: workers(), maxIterations: 3 })),
    flow('custom', custom({ name: 'flow', subAgents: [worker('a')], async *run() {} })),
    diagram('workflow', graph().compiled, {
      only: (t) =>
        /^(flow\/(agent\.begin|node\.(?!deny|answer))|a\/(agent\.begin|custom\.step)$)/.test(t),
      without: (place) =>
        sharedPlaces.has(place) ||
        /^(running|a\/custom\.budget)|\/(workflow\.(run|budget)|tool\.parked)$/.test(place),
    }),
    diagram('transfers', desk().compiled, {
      only: (t) => /^desk\/(transfer\.|model\.route)|^turn\.start$|agent\.begin$/.test(t),
      without: (place) =>
        sharedPlaces.has(place) ||
        /(^|\/)(turn\.(budget|current|ending)|tool\.(call|parked)|model\.request)$/.test(place),
    }),
    diagram('callbacks', watched().compiled, {
      only: (t) =>
        /^(agent|tool|model)\.(before|after|on-error|ask|route|fail|run|persist)$|^prompt|^turn\.(end|reask)$/.test(
          t,
        ),
      without: (place) =>
        sharedPlaces.has(place) || /^(running|tool\.parked|turn\.(budget|current))/.test(place),
    }),
  ];
}

/** An agent of one effect: the smallest there is. */
function worker(name: string): Agent {
  return custom({ name, maxYields: 1, async *run() {} });
}

function flow(name: string, { compiled }: Agent): Diagram {
  return diagram(name, compiled, {
    only: (t) => /^(flow\/|turn\.start$|turn\.end$|[ab]\/(agent\.begin|custom\.step)$)/.test(t),
    without: (place) => sharedPlaces.has(place) || /^[ab]\/custom\.budget$/.test(place),
  });
}

function graph(): Agent {
  return workflow({
    name: 'flow',
    nodes: [
      { kind: 'function', name: 'plan', run: () => null },
      { kind: 'agent', name: 'a', agent: worker('a') },
      { kind: 'each', name: 'items', run: () => null },
      { kind: 'join', name: 'both' },
    ],
    edges: [
      { from: 'START', to: 'plan' },
      { from: 'plan', to: 'a' },
      { from: 'plan', to: 'items' },
      { from: 'a', to: 'both' },
      { from: 'items', to: 'both' },
    ],
  });
}

function desk(): Agent {
  const subAgents = ['billing', 'repairs'].map((name) => agent({ name, model }));
  return agent({ name: 'desk', model, subAgents });
}

function watched(): Agent {
  return agent({
    name: 'assistant',
    model,
    tools: [tool({ name: 'look', description: 'Looks.' })],
    callbacks: {
      beforeAgent: nothing,
      afterAgent: nothing,
      beforeModel: nothing,
      afterModel: nothing,
      onModelError: nothing,
      beforeTool: nothing,
      afterTool: nothing,
      onToolError: nothing,
    },
  });
}
