import { PetrichorError } from '../../core/index.ts';
import type { Seq } from '../../core/index.ts';

/**
 * The agent, or this version of it, does not exist.
 * @remedy List the agents, and use one of their ids and versions.
 */
export class AgentNotFoundError extends PetrichorError {
  override readonly code = 'agent_not_found' as const;
  readonly agentId: string;

  constructor(agentId: string, version?: number) {
    const what = version === undefined ? '' : ` in version ${version}`;
    const nextStep = agentId.startsWith('agent_')
      ? 'list the agents to see which there are.'
      : 'pass the id of an agent, not its name. The list of agents shows the ids.';
    super(`There is no agent "${agentId}"${what}: ${nextStep}`);
    this.agentId = agentId;
  }
}

/**
 * The agent was changed after the version that the update is based on. Nothing was changed.
 * @remedy Read the agent again, and repeat the update.
 */
export class AgentVersionConflictError extends PetrichorError {
  override readonly code = 'version_conflict' as const;
  readonly agentId: string;
  readonly version: number;

  constructor(agentId: string, has: number, expected: number) {
    super(
      `Agent "${agentId}" is at version ${has}, not ${expected}: read it again and repeat the update.`,
    );
    this.agentId = agentId;
    this.version = has;
  }
}

/**
 * The agent is archived: it is read-only permanently and cannot start sessions.
 * @remedy Create another agent.
 */
export class AgentArchivedError extends PetrichorError {
  override readonly code = 'agent_archived' as const;
  readonly agentId: string;

  constructor(agentId: string) {
    super(`Agent "${agentId}" is archived: create another one.`);
    this.agentId = agentId;
  }
}

/**
 * The agent is defined by a program, so that a client cannot change it.
 * @remedy Change the program and start it again: the agent then has a new version.
 */
export class AgentFromCodeError extends PetrichorError {
  override readonly code = 'agent_from_code' as const;
  readonly agentId: string;

  constructor(agentId: string, action: string) {
    super(
      `Agent "${agentId}" is defined by the program that serves it, so ${action} is not possible: change the program.`,
    );
    this.agentId = agentId;
  }
}

/**
 * The session or its thread does not exist, or was deleted.
 * @remedy List the sessions, and use one of their ids.
 */
export class ManagedSessionNotFoundError extends PetrichorError {
  override readonly code = 'session_not_found' as const;
  readonly sessionId: string;

  constructor(sessionId: string) {
    super(`There is no session "${sessionId}": list the sessions to see which there are.`);
    this.sessionId = sessionId;
  }
}

/** Handles the error of a session that does not exist. @throws every other error */
export function ignoreMissingSession(error: unknown): undefined {
  if (!(error instanceof ManagedSessionNotFoundError)) throw error;
}

/**
 * A reader of a stream fell behind by more than its buffer, and the stream was closed. No event is lost.
 * @remedy Stream again from `cursor`, and process events faster or outside the loop.
 */
export class SubscriberTooSlowError extends PetrichorError {
  override readonly code = 'subscriber_too_slow' as const;
  readonly sessionId: string;
  /** Number of the last event that the reader received. */
  readonly cursor: Seq;

  constructor(sessionId: string, cursor: Seq, limit: number) {
    super(
      `A reader of session "${sessionId}" is more than ${limit} events behind and was closed: stream again from ${cursor}.`,
    );
    this.sessionId = sessionId;
    this.cursor = cursor;
  }
}

/**
 * The store is less durable than requested. Nothing was started.
 * @remedy Open a store on disk or on a server, for example `sqlite:sessions.db`.
 */
export class DurabilityError extends PetrichorError {
  override readonly code = 'durability' as const;

  constructor(requested: string, actual: string) {
    super(
      `The durability of the store is "${actual}", but "${requested}" was requested: open a store on disk, for example "sqlite:sessions.db".`,
    );
  }
}

/**
 * A definition needs a service that this runtime does not have. Nothing was created.
 * @remedy Pass the service to `openManagedRuntime`, or omit the field.
 */
export class MissingServiceError extends PetrichorError {
  override readonly code = 'missing_service' as const;
  readonly service: string;

  /** @param problem the problem and the next step. Default: the runtime does not have the service. */
  constructor(
    field: string,
    service: string,
    problem = `this runtime has no \`${service}\`. Pass one to openManagedRuntime, or omit the field.`,
  ) {
    super(`${field}: ${problem}`);
    this.service = service;
  }
}

/** The error for a tool that `builtIns` does not have, or for a runtime without `builtIns`. */
export function missingToolError(
  field: string,
  name: string,
  hasSource: boolean,
): MissingServiceError {
  const path = `${field} ("${name}")`;
  return hasSource
    ? new MissingServiceError(
        path,
        'builtIns',
        `there is no tool "${name}". Correct the name, or add the tool to the \`builtIns\` of the runtime.`,
      )
    : new MissingServiceError(path, 'builtIns');
}
