import { AgentNotFoundError } from '../interface/managed-errors.ts';
import type { ManagedRuntime, ManagedSession } from '../interface/managed-runtime.ts';
import { HEADS, VERSIONS, versionId } from './agent-catalog.ts';
import {
  ENVIRONMENTS,
  LABELS,
  SESSIONS,
  toEnvironmentName,
  toLabelsId,
} from './session-catalog.ts';

interface DocumentName {
  readonly kind: string;
  readonly id: string;
}

/** Names the documents that may belong to a session: its record or its labels, and its environment. */
export function listSessionDocuments({
  id,
  owner,
  environment,
}: ManagedSession): readonly DocumentName[] {
  return [
    { kind: SESSIONS, id },
    { kind: LABELS, id: toLabelsId(owner, id) },
    ...(environment === undefined
      ? []
      : [{ kind: ENVIRONMENTS, id: toEnvironmentName(environment) }]),
  ];
}

/**
 * Names the documents of an agent and of those that it calls: this version, and the newest one, which the document of the
 * agent refers to.
 * @param version default: the newest one
 */
export async function listAgentDocuments(
  runtime: Pick<ManagedRuntime, 'getAgent'>,
  agentId: string,
  version: number | undefined,
): Promise<readonly (DocumentName & { readonly agentId: string })[]> {
  const named = version === undefined ? [] : [{ version }];
  const found = await Promise.all(
    [...named, {}].map(async (choice) =>
      runtime.getAgent(agentId, choice).catch((error: unknown) => {
        if (error instanceof AgentNotFoundError) return undefined;
        throw error;
      }),
    ),
  );
  const agents = found.filter((agent) => agent !== undefined);
  const called = await Promise.all(
    agents
      .flatMap((agent) => (agent.source === 'definition' ? (agent.definition.agents ?? []) : []))
      .map(async (one) => listAgentDocuments(runtime, one.agent_id, one.version)),
  );
  return [
    { kind: HEADS, id: agentId, agentId },
    ...agents.map((agent) => ({ kind: VERSIONS, id: versionId(agentId, agent.version), agentId })),
    ...called.flat(),
  ];
}
