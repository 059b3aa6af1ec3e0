import { resolve } from 'node:path';
import { readMember } from '../../core/internal.ts';
import { agentProof, checkInvariants, InvariantError } from '../../agents/index.ts';
import type { Agent, AgentProofLimits } from '../../agents/index.ts';
import { compile } from '../../net/index.ts';
import type { CompiledNet, Net } from '../../net/index.ts';
import { netProof } from '../../verify/index.ts';
import type { Bounds, Property, ProveOptions } from '../../verify/index.ts';
import { findExportedAgents } from '../loading/exported-agents.ts';
import { formatRejected } from '../loading/format-exports.ts';
import { importModule } from '../loading/import-module.ts';
import { loadAgent } from '../loading/load-agent.ts';
import type { AgentSelector } from '../loading/load-agent.ts';
import { selectNamed } from '../loading/select-named.ts';
import type { ProofSource } from './proof-test-file.ts';

/** What a proof is about: the net of an agent, or a net that a module exports. */
export interface ProofSubject {
  readonly name: string;
  readonly net: CompiledNet;
  /** The default properties by name. */
  readonly properties: Readonly<Record<string, Property>>;
  readonly bounds: Bounds;
  /** The components of the net, by whose contracts properties are proved. Undefined for a net without an agent. */
  readonly components?: ProveOptions['components'];
  /** The rules of agents that the arcs break. Undefined for a net without an agent. */
  readonly brokenRules: readonly string[] | undefined;
  /** How a test gets the net from the namespace `subject` of its module. Undefined for ADK agents and definitions. */
  readonly source: ProofSource | undefined;
}

/**
 * Loads the agent, or the net, that a module exports, or the definition of an agent, also of a `.json` file. A net is found
 * only in a module without agents.
 * @throws AgentModuleError if the module cannot be loaded, or exports nothing to prove or several
 * @throws NetBuildError if an exported net breaks a build rule
 */
export async function loadProofSubject(
  selector: AgentSelector,
  limits: AgentProofLimits,
): Promise<ProofSubject> {
  const { file, cwd, name } = selector;
  const exported = file.endsWith('.json')
    ? { agents: await (await import('./defined-agent.ts')).loadDefinitions(file, cwd) }
    : await importModule(file, resolve(cwd, file));
  const { agents, unreadable } = findExportedAgents(exported);
  const nets = findExportedNets(exported);
  if (agents.length === 0 && nets.length > 0) {
    const net = selectNamed(file, 'net', nets, { name });
    if (net !== undefined) return toNetSubject(net, limits);
  }
  const hasDefinitions = agents.some(({ kind }) => kind === 'definition');
  const note = formatRejected(unreadable);
  const selected = hasDefinitions ? selectNamed(file, 'agent', agents, { name, note }) : undefined;
  const agent =
    selected?.kind === 'definition'
      ? // Loaded on demand: most modules have no definitions.
        await (await import('./defined-agent.ts')).compileDefinedAgent(file, cwd, selected.name)
      : await loadAgent(selector);
  const own = agents.find(({ value }) => value === agent);
  return {
    name: agent.name,
    net: agent.compiled,
    ...agentProof(agent, limits),
    brokenRules: listBrokenRules(agent),
    source: own && { agent: `subject.${own.label}`, limits },
  };
}

interface ExportedNet {
  readonly name: string;
  readonly net: CompiledNet;
  readonly expression: string;
}

function toNetSubject(
  { name, net, expression }: ExportedNet,
  { faults, messages, atOnce, shutdowns, states, quiescentPlaces }: AgentProofLimits,
): ProofSubject {
  const proof = netProof(net, quiescentPlaces === undefined ? {} : { quiescentPlaces });
  const environment = [...net.places.values()].flatMap((place) =>
    place.kind === 'tokens' && place.environment ? [place.name] : [],
  );
  const bounds = {
    ...proof.bounds,
    ...(messages !== undefined && {
      environment: Object.fromEntries(environment.map((place) => [place, messages])),
    }),
    ...(atOnce !== undefined && { upTo: atOnce }),
    ...(faults !== undefined && { faults }),
    ...(shutdowns !== undefined && { shutdowns }),
    ...(states !== undefined && { states }),
  };
  return {
    name,
    net,
    properties: proof.properties,
    bounds,
    brokenRules: undefined,
    source: { net: expression, bounds },
  };
}

function findExportedNets(exported: Readonly<Record<string, unknown>>): readonly ExportedNet[] {
  const nets = Object.entries(exported).flatMap(([label, value]): ExportedNet[] => {
    if (isCompiledNet(value))
      return [{ name: value.name, net: value, expression: `subject.${label}` }];
    if (!isNet(value)) return [];
    return [{ name: value.name, net: compile(value), expression: `compile(subject.${label})` }];
  });
  // A default export often has a name, too.
  return nets.filter(({ name, net }, index) =>
    nets.slice(0, index).every((one) => one.name !== name || one.net.hash !== net.hash),
  );
}

// These check the shape, not the class: the module may have loaded another copy of this package.

function isCompiledNet(value: unknown): value is CompiledNet {
  return (
    typeof readMember(value, 'hash') === 'string' &&
    readMember(value, 'byName') instanceof Map &&
    readMember(value, 'places') instanceof Map
  );
}

function isNet(value: unknown): value is Net {
  return (
    typeof readMember(value, 'name') === 'string' &&
    Array.isArray(readMember(value, 'transitions')) &&
    Array.isArray(readMember(value, 'initial')) &&
    Array.isArray(readMember(value, 'clusters'))
  );
}

function listBrokenRules({ compiled }: Agent): readonly string[] {
  try {
    checkInvariants(compiled);
    return [];
  } catch (error) {
    if (error instanceof InvariantError) return error.problems;
    throw error;
  }
}
