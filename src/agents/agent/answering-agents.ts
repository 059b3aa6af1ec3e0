import type { Agent } from './agent.ts';

/**
 * The names of the agents whose message can be the final answer of a turn: an agent and those it can transfer to, the
 * last one of a sequence, all of any other structure.
 */
export function listAnsweringAgents({ name, author = name, role }: Agent): readonly string[] {
  const { kind, subAgents } = role;
  const answering = kind === 'sequence' ? subAgents.slice(-1) : subAgents;
  return [...new Set([author, ...answering.flatMap(listAnsweringAgents)])];
}
