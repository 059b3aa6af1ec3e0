import type { JsonObject } from '../../core/index.ts';
import { allOf, append, net, optional, pure, upTo } from '../../net/index.ts';
import type { AnyPlace, Net, TokenPlace, UpTo } from '../../net/index.ts';
import { newTurn, turnStartOutputs } from './turn-start-outputs.ts';
import { answerIn, eventOut, userIn } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite } from '../vocabulary/state.ts';
import { sessionFailed, sessionPaused, sessionQueued } from '../vocabulary/session.ts';
import { turnBudget, turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { modelRequest } from '../vocabulary/model-call.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import type { CurrentTurn } from '../vocabulary/turn.ts';

/** Options of `turnStart`. */
export interface TurnStartOptions {
  /** How often the model may be called again after tools, in one turn. */
  readonly reaskBudget: number;
}

/** What the start of a turn resets and gives, whatever starts it. */
export interface TurnBeginning {
  readonly reset: readonly AnyPlace[];
  readonly give: {
    readonly turn: TokenPlace<CurrentTurn>;
    readonly budget: UpTo<null>;
    readonly request: TokenPlace<ModelCall>;
  };
  readonly begin: (
    invocationId: string,
    runConfig?: JsonObject,
  ) => {
    readonly turn: CurrentTurn;
    readonly budget: readonly null[];
    readonly request: ModelCall;
  };
}

/**
 * The beginning of a turn in a session of one agent. The re-ask budget is reset and filled in the same firing, so a turn
 * never inherits the budget of another.
 */
export function turnBeginning({ reaskBudget }: TurnStartOptions): TurnBeginning {
  return {
    reset: [turnBudget, answerIn, sessionQueued, sessionFailed],
    give: {
      turn: turnCurrent,
      // upTo needs at least 1, also for an agent whose budget is 0.
      budget: upTo(Math.max(1, reaskBudget), turnBudget),
      request: modelRequest,
    },
    begin: (invocationId, runConfig) => ({
      turn: newTurn(invocationId, runConfig),
      budget: Array.from({ length: reaskBudget }, () => null),
      request: { invocationId, round: 0 },
    }),
  };
}

/** Starts a turn: takes the oldest message and the permit, and requests a model call. */
export function turnStart(options: TurnStartOptions): Net {
  const { reset, give, begin } = turnBeginning(options);
  const transition = pure('turn.start', {
    formerNames: ['prompt.build'],
    take: { message: userIn, permit: turnPermit },
    unless: [sessionPaused],
    reset,
    give: allOf({
      ...give,
      said: append(conversation),
      write: optional(sessionWrite),
      events: upTo(2, eventOut),
    }),
    run: ({ message }) => ({ ...begin(message.invocationId), ...turnStartOutputs(message) }),
  });
  return net('prompt-builder', {
    in: { userIn, turnPermit, answerIn, sessionPaused, sessionQueued, sessionFailed },
    out: { modelRequest, turnCurrent, turnBudget, conversation, sessionWrite, eventOut },
    transitions: [transition],
  });
}
