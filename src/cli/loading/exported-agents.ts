import { isJsonObject } from '../../core/index.ts';
import { readMember } from '../../core/internal.ts';
import type { App, BaseAgent } from '../../adk/index.ts';
import type { Agent } from '../../agents/index.ts';
import { describeThrown } from './describe-thrown.ts';

/** An agent that a module exports. `label` is its place in the module, such as `agents[0]`. */
export type ExportedAgent = { readonly label: string; readonly name: string } & (
  | { readonly kind: 'agent'; readonly value: Agent }
  | { readonly kind: 'app'; readonly value: App }
  /** An ADK agent without an app. */
  | { readonly kind: 'adk_agent'; readonly value: BaseAgent }
  /** A definition as data, as a client would send it. */
  | { readonly kind: 'definition'; readonly value: unknown }
);

/** A list in which some values are agents and this one is not. */
export interface UnknownEntry {
  readonly label: string;
  readonly value: unknown;
}

/** An export that is left out, or cannot be used, and why. */
export interface RejectedExport {
  readonly label: string;
  /** A sentence about the export, without a subject: `cannot be read: No key.` */
  readonly reason: string;
}

/** The agents among the exports of a module. */
export interface ExportedAgents {
  readonly agents: readonly ExportedAgent[];
  readonly unknown: readonly UnknownEntry[];
  /** Exports that throw when they are read. */
  readonly unreadable: readonly RejectedExport[];
  /** ADK agents that are among their own sub-agents. */
  readonly cyclic: readonly RejectedExport[];
}

/**
 * Finds the agents among the exports of a module, also in lists. A value that is exported twice is found once, under
 * its name. A sub-agent of an exported ADK agent or app belongs to that, and is left out.
 */
export function findExportedAgents(exported: Readonly<Record<string, unknown>>): ExportedAgents {
  const found: ExportedAgent[] = [];
  const unknown: UnknownEntry[] = [];
  const unreadable: RejectedExport[] = [];
  const read = (label: string, value: unknown): ExportedAgent | undefined => {
    try {
      const agent = toExportedAgent(label, value);
      // In the list `agents`, an incomplete definition is one, and what it lacks is reported.
      const isListed = label.startsWith('agents[') && isJsonObject(value);
      return agent ?? (isListed ? toDefinition({ label, value }) : undefined);
    } catch (error) {
      unreadable.push({ label, reason: `cannot be read: ${describeThrown(error)}` });
      return undefined;
    }
  };
  // A default export often has a name, too.
  const entries = Object.entries(exported).toSorted(
    ([one], [other]) => Number(one === 'default') - Number(other === 'default'),
  );
  for (const [name, value] of entries) {
    if (!Array.isArray(value)) {
      const agent = read(name, value);
      if (agent !== undefined) found.push(agent);
      continue;
    }
    const labeled = value.map((one: unknown, index) => ({
      label: `${name}[${index}]`,
      value: one,
    }));
    const agents = labeled.map((one) => read(one.label, one.value));
    found.push(...agents.filter((agent) => agent !== undefined));
    if (name === 'agents' || agents.some((agent) => agent !== undefined))
      unknown.push(...labeled.filter((_, index) => agents[index] === undefined));
  }
  const once = found.filter(
    ({ value }, index) => found.findIndex((other) => other.value === value) === index,
  );
  const cyclic = once.flatMap(findCycle);
  const owned = new Set(cyclic.length > 0 ? [] : once.flatMap(listOwnedAgents));
  return { agents: once.filter(({ value }) => !owned.has(value)), unknown, unreadable, cyclic };
}

/** Undefined: the value is no agent. */
function toExportedAgent(label: string, value: unknown): ExportedAgent | undefined {
  if (isAgent(value)) return { kind: 'agent', label, name: value.name, value };
  if (isApp(value)) return { kind: 'app', label, name: value.name, value };
  if (isAdkAgent(value)) return { kind: 'adk_agent', label, name: value.name, value };
  const isDefinition = isJsonObject(value) && typeof value['name'] === 'string' && 'model' in value;
  return isDefinition ? toDefinition({ label, value }) : undefined;
}

function toDefinition({ label, value }: UnknownEntry): ExportedAgent {
  const name = readMember(value, 'name');
  return { kind: 'definition', label, name: typeof name === 'string' ? name : '', value };
}

/** The ADK agents that run as a part of this one. */
function listOwnedAgents(exported: ExportedAgent): readonly unknown[] {
  const root = findRoot(exported);
  if (root === undefined) return [];
  const descendants = listDescendants(root);
  return exported.kind === 'app' ? [root, ...descendants] : [...descendants];
}

function findRoot(exported: ExportedAgent): BaseAgent | undefined {
  if (exported.kind === 'app') return exported.value.rootAgent;
  return exported.kind === 'adk_agent' ? exported.value : undefined;
}

function listDescendants(agent: BaseAgent, listed: Set<BaseAgent> = new Set()): Set<BaseAgent> {
  for (const one of agent.subAgents) {
    if (!isAdkAgent(one) || listed.has(one)) continue;
    listed.add(one);
    listDescendants(one, listed);
  }
  return listed;
}

/** An ADK agent that is among its own sub-agents, at any depth. */
function findCycle(exported: ExportedAgent): readonly RejectedExport[] {
  const root = findRoot(exported);
  const path = root === undefined ? undefined : findPathToItself(root, [], new Set());
  if (path === undefined) return [];
  const { label } = exported;
  return [{ label, reason: `has an agent that is its own sub-agent: ${path.join(' > ')}.` }];
}

function findPathToItself(
  agent: BaseAgent,
  above: readonly BaseAgent[],
  done: Set<BaseAgent>,
): readonly string[] | undefined {
  if (!isAdkAgent(agent) || done.has(agent)) return undefined;
  const start = above.indexOf(agent);
  if (start !== -1) return [...above.slice(start), agent].map(({ name }) => name);
  for (const one of agent.subAgents) {
    const path = findPathToItself(one, [...above, agent], done);
    if (path !== undefined) return path;
  }
  done.add(agent);
  return undefined;
}

// These check the shape, not the class: the module may have loaded another copy of this package.

/** True for what `agent()`, `sequential()`, `workflow()` and the like return. */
export function isAgent(value: unknown): value is Agent {
  return (
    typeof readMember(value, 'name') === 'string' &&
    typeof readMember(value, 'readStatus') === 'function' &&
    typeof readMember(value, 'compiled') === 'object'
  );
}

function isApp(value: unknown): value is App {
  return (
    typeof readMember(value, 'name') === 'string' && isAdkAgent(readMember(value, 'rootAgent'))
  );
}

function isAdkAgent(value: unknown): value is BaseAgent {
  return (
    typeof readMember(value, 'name') === 'string' &&
    typeof readMember(value, 'compile') === 'function' &&
    Array.isArray(readMember(value, 'subAgents'))
  );
}
