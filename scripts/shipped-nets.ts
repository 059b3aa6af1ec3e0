import { agent } from '../src/agents/index.ts';
import { ScriptedModel } from '../src/models/index.ts';
import { toSvg } from '../src/net/index.ts';
import type { CompiledNet, DiagramOptions } from '../src/net/index.ts';
import { tool } from '../src/tools/index.ts';

/** A picture of a shipped net, and the file that holds it. */
export interface Diagram {
  readonly file: string;
  readonly draw: () => Promise<string>;
}

/** Every net the package ships. A picture shows the part its page speaks of. */
export function listDiagrams(): readonly Diagram[] {
  const { compiled } = shippedAgent();
  const stops = new Set(['turn.interrupt', 'turn.abandon', 'interrupt.discard']);
  // docs/managed-nets.md shows these subnets.
  const control = new Set(
    ['session-control', 'session-events', 'failed-turn-retry'].flatMap((cluster) => [
      ...listClusterTransitions(compiled, cluster),
    ]),
  );
  return [
    diagram('agent', compiled, {
      only: (t) => !stops.has(t) && !control.has(t) && t !== 'session.rewind',
      without: (place) =>
        ['event.out', 'conversation', 'state'].includes(place) || place.startsWith('session.'),
    }),
    diagram('agent-stops', compiled, { only: (t) => stops.has(t) || t === 'turn.end' }),
    diagram('tool-dispatch', compiled, {
      only: (t) => listClusterTransitions(compiled, 'tool-dispatch').has(t),
    }),
  ];
}

/** An agent with one tool: its net has the same shape whatever the tools are. */
export function shippedAgent(): ReturnType<typeof agent> {
  return agent({
    name: 'assistant',
    model: new ScriptedModel([]),
    tools: [tool({ name: 'look', description: 'Looks.' })],
  });
}

/** A picture of a net, drawn when it is asked for. */
export function diagram(name: string, net: CompiledNet, options: DiagramOptions): Diagram {
  return { file: `docs/nets/${name}.svg`, draw: async () => toSvg(net, options) };
}

function listClusterTransitions(net: CompiledNet, cluster: string): ReadonlySet<string> {
  return new Set(net.clusters.find(({ name }) => name === cluster)?.transitions);
}
