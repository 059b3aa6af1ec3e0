import { isJsonObject } from '../../core/index.ts';
import { readMember } from '../../core/internal.ts';
import type { App, BaseAgent } from '../../adk/index.ts';
import type { Agent } from '../../agents/index.ts';

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

/**
 * Finds the agents among the exports of a module, also in lists. A value that is exported twice is found once, under
 * its name. A sub-agent of an exported ADK agent or app belongs to that, and is left out.
 */
export function findExportedAgents(exported: Readonly<Record<string, unknown>>): {
  readonly agents: readonly ExportedAgent[];
  readonly unknown: readonly UnknownEntry[];
} {
  const found: ExportedAgent[] = [];
  const unknown: UnknownEntry[] = [];
  // A default export often has a name, too.
  const entries = Object.entries(exported).toSorted(
    ([one], [other]) => Number(one === 'default') - Number(other === 'default'),
  );
  for (const [name, value] of entries) {
    if (!Array.isArray(value)) {
      const agent = toExportedAgent(name, value);
      if (agent !== undefined) found.push(agent);
      continue;
    }
    const labeled = value.map((one: unknown, index) => ({
      label: `${name}[${index}]`,
      value: one,
    }));
    const agents = labeled.map(
      (one) =>
        toExportedAgent(one.label, one.value) ??
        // In the list `agents`, an incomplete definition is one, and what it lacks is reported.
        (name === 'agents' && isJsonObject(one.value) ? toDefinition(one) : undefined),
    );
    found.push(...agents.filter((agent) => agent !== undefined));
    if (name === 'agents' || agents.some((agent) => agent !== undefined))
      unknown.push(...labeled.filter((_, index) => agents[index] === undefined));
  }
  const once = found.filter(
    ({ value }, index) => found.findIndex((other) => other.value === value) === index,
  );
  const owned = new Set(once.flatMap(listOwnedAgents));
  return { agents: once.filter(({ value }) => !owned.has(value)), unknown };
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
  if (exported.kind === 'app')
    return [exported.value.rootAgent, ...listDescendants(exported.value.rootAgent)];
  return exported.kind === 'adk_agent' ? listDescendants(exported.value) : [];
}

function listDescendants({ subAgents }: BaseAgent): readonly BaseAgent[] {
  return subAgents.flatMap((agent) => [agent, ...listDescendants(agent)]);
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
