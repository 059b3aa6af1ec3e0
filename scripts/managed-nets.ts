import { compileAgent } from '../src/managed/compilation/compile-agent.ts';
import { ScriptedModel } from '../src/models/index.ts';
import type { CompiledNet, DiagramOptions } from '../src/net/index.ts';
import { diagram } from './shipped-nets.ts';
import type { Diagram } from './shipped-nets.ts';

/** One picture of a managed session's net: the transitions it is about, and what it leaves out to be read. */
export interface ManagedPicture {
  readonly name: string;
  readonly transitions: readonly string[];
  readonly without?: readonly string[];
}

/** Together they show every transition. What is in no picture of its own is in the one it belongs to by its story. */
export const managedPictures: readonly ManagedPicture[] = [
  {
    name: 'managed-hold',
    transitions: ['turn.start', 'session.pause', 'session.resume', 'pause.refuse', 'resume.refuse'],
    without: ['event.out', 'conversation', 'answer.in', 'state.write'],
  },
  {
    name: 'managed-close',
    transitions: [
      'session.stop',
      'session.close',
      'session.complete',
      'session.archive-completed',
      'archived.discard-permit',
      'completed.discard-permit',
      'archive.refuse',
      'complete.refuse',
    ],
    without: ['event.out'],
  },
  {
    name: 'managed-model',
    transitions: [
      'model.call',
      'model.retry',
      'model.exhaust',
      'model.reset-attempts',
      'model.fail',
      'session.retry',
    ],
    without: ['event.out', 'conversation', 'state', 'turn.stopping', 'model.response'],
  },
  {
    name: 'managed-calls',
    transitions: [
      'model.route',
      'tool.run',
      'tool.persist',
      'tool.answer',
      'tool.expire',
      'turn.wait',
    ],
    without: [
      'event.out',
      'conversation',
      'state',
      'turn.stopping',
      'model.attempted',
      'session.failed',
    ],
  },
  {
    name: 'managed-again',
    transitions: ['turn.continue', 'turn.conclude', 'turn.end', 'state.persist'],
    without: ['event.out', 'turn.stopping', 'outcome.interrupted'],
  },
  {
    name: 'managed-stop',
    transitions: ['turn.interrupt', 'interrupt.discard', 'turn.end'],
    without: [
      'event.out',
      'conversation',
      'state',
      'state.write',
      'turn.budget',
      'session.failed',
      'outcome.grading',
      'outcome.verdict',
      'outcome.interrupted',
      'running(outcome.grade)',
    ],
  },
  {
    name: 'managed-end',
    transitions: ['turn.halt', 'turn.stop'],
    without: ['event.out', 'conversation'],
  },
  {
    name: 'managed-fault',
    transitions: ['turn.abandon', 'session.rewind'],
    without: [
      'event.out',
      'tool.batch',
      'tool.write',
      'model.failed',
      'model.response',
      'turn.stopping',
      'outcome.interrupted',
    ],
  },
  {
    name: 'managed-append',
    transitions: [
      'session.append-event',
      'session.append-event-in-turn',
      'session.append-content',
      'event.refuse',
    ],
    without: ['event.out'],
  },
  {
    name: 'managed-outcome-order',
    transitions: [
      'outcome.define',
      'outcome.queue',
      'outcome.begin',
      'outcome.define-next',
      'outcome.release',
    ],
    without: [
      'event.out',
      'conversation',
      'outcome.round',
      'session.completed',
      'session.archived',
    ],
  },
  {
    name: 'managed-outcome',
    transitions: [
      'outcome.define',
      'outcome.evaluate',
      'outcome.grade',
      'outcome.apply-verdict',
      'outcome.conclude',
    ],
    without: [
      'event.out',
      'conversation',
      'turn.stopping',
      'turn.budget',
      'session.closing',
      'session.paused',
      'outcome.interrupted',
    ],
  },
  {
    name: 'managed-outcome-ends',
    transitions: ['outcome.evaluate', 'outcome.interrupt', 'outcome.stop'],
    without: ['event.out'],
  },
];

/** The net of a managed session: the same whatever its agent is made of. */
export async function managedNet(): Promise<CompiledNet> {
  const model = new ScriptedModel([]);
  const { agent } = await compileAgent(
    'managed',
    {
      name: 'managed',
      model: 'gemini-2.5-flash',
      tools: [{ type: 'custom', name: 'look', input_schema: { type: 'object' } }],
    },
    {},
    {
      resolver: async () => model,
      reaskBudget: 25,
      modelAttempts: 4,
      customToolTimeoutMs: 300_000,
    },
  );
  return agent.compiled;
}

export function toDiagramOptions({ transitions, without = [] }: ManagedPicture): DiagramOptions {
  return { only: (t) => transitions.includes(t), without: (place) => without.includes(place) };
}

export async function managedDiagrams(): Promise<readonly Diagram[]> {
  const net = await managedNet();
  return managedPictures.map((picture) => diagram(picture.name, net, toDiagramOptions(picture)));
}
