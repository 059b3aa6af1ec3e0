import type { CallId, SessionId } from '../identity/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';

/** A pending call in the child session of a called agent, as the calling session shows it. */
export interface CalledAgentWait {
  readonly callId: CallId;
  readonly name: string;
  readonly args: Json;
  readonly needs: 'approval' | 'result';
  readonly fingerprint: string;
  readonly reason?: 'policy' | 'crash';
  readonly request?: Json;
  readonly asks?: number;
  /** Set if the tool runs again with the answer. */
  readonly resumes?: true;
  /** The session that made the call. */
  readonly session: SessionId;
  /** The names of the called agents, from the outermost to the one that made the call. */
  readonly path: readonly string[];
}

const MEMBER = 'called_agent';

/** Returns the `request` of a pending agent call: the calls that the called agent waits for. */
export function calledAgentRequest(waits: readonly CalledAgentWait[]): JsonObject {
  return { [MEMBER]: { waits: waits.map((wait) => ({ ...wait })) } };
}

/**
 * Reads the pending calls of a called agent from the `request` of its call. Undefined for any other call, also for one whose
 * request only looks alike.
 */
export function calledAgentWaits(
  request: Json | undefined,
): readonly CalledAgentWait[] | undefined {
  const waits: readonly unknown[] | undefined = readWaits(request);
  return waits?.every(isWait) === true ? waits : undefined;
}

/** True for a request that names calls of a called agent in another form than `calledAgentWaits` reads. */
export function hasInvalidWaits(request: Json | undefined): boolean {
  return readWaits(request)?.every(isWait) === false;
}

function readWaits(request: Json | undefined): readonly Json[] | undefined {
  const called = isJsonObject(request) ? request[MEMBER] : undefined;
  const waits = isJsonObject(called) ? called['waits'] : undefined;
  return Array.isArray(waits) ? waits : undefined;
}

function isWait(wait: unknown): wait is CalledAgentWait {
  if (!isJsonObject(wait)) return false;
  const { callId, name, needs, fingerprint, session, path } = wait;
  return (
    [callId, name, fingerprint, session].every((value) => typeof value === 'string') &&
    (needs === 'approval' || needs === 'result') &&
    Array.isArray(path) &&
    path.every((value) => typeof value === 'string')
  );
}

/** Returns the resume data of a pending agent call: the firing that began the call and determines the child session. */
export function calledAgentResume(firingId: string): JsonObject {
  return { [MEMBER]: firingId };
}

/** Reads the firing that began an agent call from its resume data. Undefined if the call was not pending before. */
export function calledAgentFiring(resume: Json | undefined): string | undefined {
  const firing = isJsonObject(resume) ? resume[MEMBER] : undefined;
  return typeof firing === 'string' ? firing : undefined;
}
