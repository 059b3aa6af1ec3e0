import { omitUndefined } from '../../core/internal.ts';
import * as v from 'valibot';
import { PetrichorError } from '../../core/index.ts';
import type { ToolDeclaration } from '../../models/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { object } from '../vocabulary/place-schemas.ts';
import { TRANSFER_TOOL } from '../../tools/internal.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { Batch, CallResult } from '../vocabulary/tool-call.ts';

/** An agent that another may transfer the turn to. */
export interface TransferTarget {
  readonly name: string;
  readonly description: string;
}

/** A requested transfer of the turn. All calls of the answer have a result, except the transfer call itself. */
export interface Transfer {
  readonly invocationId: string;
  readonly to: string;
  readonly batch: Batch;
  readonly results: readonly CallResult[];
  /** The model's transfer call. Missing when a tool or callback requested the transfer. */
  readonly callId?: string | undefined;
  /** Why the transfer was refused. Set on its way to `target/unknown`. */
  readonly refusal?: { readonly code: string; readonly message: string } | undefined;
}

const transferSchema = v.object({
  invocationId: v.string(),
  to: v.string(),
  batch: object<Batch>(),
  results: v.pipe(v.array(object<CallResult>()), v.readonly()),
  callId: v.optional(v.string()),
  refusal: v.optional(v.object({ code: v.string(), message: v.string() })),
});

/** Requested transfers that are not routed yet. */
export const turnTransfer: TokenPlace<Transfer> = place('turn.transfer', transferSchema, {
  owed: true,
  version: 1,
});

/** Refused transfers: to an agent that does not exist or that this agent may not transfer to, or beyond the budget. */
export const targetUnknown: TokenPlace<Transfer> = place('target/unknown', transferSchema, {
  owed: true,
  version: 1,
});

/** One token for each transfer that is still allowed in this turn. */
export const transferBudget: TokenPlace<null> = place('turn.transfer-budget', {
  formerNames: ['turn.transfers'],
});

/**
 * A transfer named an agent that does not exist, or that the current agent may not transfer to. The model gets the
 * error as a result and continues.
 * @remedy Name one of the agents in the message, or add the agent to `subAgents`.
 */
export class UnknownTransferError extends PetrichorError {
  override readonly code = 'transfer_unknown' as const;
  readonly agentName: string;

  constructor(agentName: string, targets: readonly string[]) {
    super(
      `There is no agent "${agentName}" to transfer to. The agents are: ${targets.join(', ') || '(none)'}.`,
    );
    this.agentName = agentName;
  }
}

/** The declaration of the transfer tool, with the possible targets. */
export function transferDeclaration(targets: readonly TransferTarget[]): ToolDeclaration {
  const list = targets.map(
    ({ name, description }) => `- ${name}: ${description || '(no description)'}`,
  );
  return {
    name: TRANSFER_TOOL,
    description: [
      'Hands the conversation to another agent, who goes on in your place. Use it when another agent suits the request better, and call nothing else with it. The agents are:',
      ...list,
    ].join('\n'),
    parameters: {
      type: 'object',
      properties: {
        agent_name: {
          type: 'string',
          description: 'The name of the agent.',
          enum: targets.map(({ name }) => name),
        },
      },
      required: ['agent_name'],
      additionalProperties: false,
    },
  };
}

/** The model call of the round after an answer or its calls, for the agent that continues the turn. */
export function nextModelCall({
  invocationId,
  round,
  escalate,
  node,
}: Pick<Batch, 'invocationId' | 'round' | 'escalate' | 'node'>): ModelCall {
  return {
    invocationId,
    round: round + 1,
    ...omitUndefined({ escalate: escalate === true ? escalate : undefined, node }),
  };
}
