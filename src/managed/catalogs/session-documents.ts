import type { ManagedSession } from '../interface/managed-runtime.ts';
import { HEADS, VERSIONS, versionId } from './agent-catalog.ts';
import {
  ENVIRONMENTS,
  LABELS,
  SESSIONS,
  toEnvironmentName,
  toLabelsId,
} from './session-catalog.ts';

/**
 * Names the documents that may belong to a session: its record or its labels, its environment, and the definition of its
 * agent.
 */
export function listSessionDocuments({
  id,
  agentId,
  agentVersion,
  owner,
  environment,
}: ManagedSession): readonly { readonly kind: string; readonly id: string }[] {
  return [
    { kind: SESSIONS, id },
    { kind: LABELS, id: toLabelsId(owner, id) },
    ...(environment === undefined
      ? []
      : [{ kind: ENVIRONMENTS, id: toEnvironmentName(environment) }]),
    { kind: HEADS, id: agentId },
    { kind: VERSIONS, id: versionId(agentId, agentVersion) },
  ];
}
