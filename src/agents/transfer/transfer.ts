import * as v from 'valibot';
import { PetrichorError } from '../../core/index.ts';
import type { ToolDeclaration } from '../../models/index.ts';
import { place } from '../../net/index.ts';
import type { TokenPlace } from '../../net/index.ts';
import { object } from '../vocabulary/place-schemas.ts';
import { TRANSFER_TOOL } from '../../tools/tool/reserved-tool-names.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { Batch, CallResult } from '../vocabulary/tool-call.ts';

/** An agent that another may hand the turn to. */
export interface TransferTarget {
  readonly name: string;
  readonly description: string;
}

/** An agent hands the turn to another. The calls of its answer have their results, but the transfer's own. */
export interface Transfer {
  readonly invocationId: string;
  readonly to: string;
  readonly batch: Batch;
  readonly results: readonly CallResult[];
  /** The model's call, where it was one; a tool or callback asks without. */
  readonly callId?: string | undefined;
  /** Why it cannot be, when it is on its way to `target/unknown`. */
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

/** An agent's wish to hand the turn over, until the router has looked where to. */
export const turnTransfer: TokenPlace<Transfer> = place('turn.transfer', transferSchema, {
  owed: true,
  version: 1,
});

/** Wishes to hand the turn to an agent that is not there, or not for this one. */
export const targetUnknown: TokenPlace<Transfer> = place('target/unknown', transferSchema, {
  owed: true,
  version: 1,
});

/** How often agents may still hand the turn over before it ends. */
export const transferBudget: TokenPlace<null> = place('turn.transfers');

/** A model handed the turn to an agent that is not there, or not for it. The model is told, and goes on. */
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

/** What the model is told of the agents it may hand the turn to. */
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

/** The round after that of a batch, for whoever goes on with the turn. */
export function nextModelCall({ invocationId, round, escalate, node }: Batch): ModelCall {
  return {
    invocationId,
    round: round + 1,
    ...(escalate === true && { escalate }),
    ...(node !== undefined && { node }),
  };
}
