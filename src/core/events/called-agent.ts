import type { CallId, SessionId } from '../identity/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/** A call in the session of a called agent that waits for someone, as the session that called shows it. */
export interface CalledAgentWait {
  readonly callId: CallId;
  readonly name: string;
  readonly args: Json;
  readonly needs: 'approval' | 'result';
  readonly fingerprint: string;
  readonly reason?: 'policy' | 'crash';
  readonly request?: Json;
  readonly asks?: number;
  /** The tool runs again with the answer. */
  readonly resumes?: true;
  /** The session that made the call. */
  readonly session: SessionId;
  /** The called agents down to the one that made the call, by name. */
  readonly path: readonly string[];
}

const MEMBER = 'called_agent';

/** What a call of an agent shows while that agent waits: the calls it waits for. */
export function calledAgentRequest(waits: readonly CalledAgentWait[]): JsonObject {
  return { [MEMBER]: { waits: waits.map((wait) => ({ ...wait })) } };
}

/** The calls that a called agent waits for, of what its own call shows; undefined for any other call. */
export function calledAgentWaits(
  request: Json | undefined,
): readonly CalledAgentWait[] | undefined {
  const called = isJsonObject(request) ? request[MEMBER] : undefined;
  const waits = isJsonObject(called) ? called['waits'] : undefined;
  return Array.isArray(waits) ? waits : undefined;
}

/** What a waiting call of an agent keeps for itself: the firing that began it, which names the agent's session. */
export function calledAgentResume(firingId: string): JsonObject {
  return { [MEMBER]: firingId };
}

/** The firing that began a call of an agent, if it waited before. */
export function calledAgentFiring(resume: Json | undefined): string | undefined {
  const firing = isJsonObject(resume) ? resume[MEMBER] : undefined;
  return typeof firing === 'string' ? firing : undefined;
}
