import { omitUndefined } from '../../core/internal.ts';
import { allOf, net, oneOf, pure, upTo } from '../../net/index.ts';
import type { AllOf, AnyPlace, TokenPlace, UpTo } from '../../net/index.ts';
import { omitOutputs } from '../../net/internal.ts';
import { outcomeRevision } from '../outcomes/outcome-places.ts';
import { transferBudget } from '../transfer/transfer.ts';
import type { Extension } from '../turn/extension.ts';
import { turnStopping } from '../vocabulary/control.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { chooseEntryAgent } from './multi-agent-turn-start.ts';
import type { MultiAgentTurnStartOptions } from './multi-agent-turn-start.ts';

export interface OutcomeRevisionsOptions extends MultiAgentTurnStartOptions {
  /** The budgets of all agents. They are empty when a turn starts, and so when a revision starts. */
  readonly budgets: readonly AnyPlace[];
}

type RevisionOutputs = AllOf<{
  readonly start: TokenPlace<ModelCall>;
  readonly transfers: UpTo<null>;
}>;

/**
 * Starts a revision in a session of several agents, like a turn: the agents begin with full budgets, and the entry agent
 * that wrote the last message begins, or the first one.
 */
export function outcomeRevisions({
  entryAgents,
  maxTransfers,
  budgets,
}: OutcomeRevisionsOptions): Extension {
  const alternatives: Readonly<Record<string, RevisionOutputs>> = Object.fromEntries(
    entryAgents.map((name) => [
      `target/${name}`,
      allOf({
        start: targetPlace(name),
        transfers: upTo(Math.max(1, maxTransfers ?? 0), transferBudget),
      }),
    ]),
  );
  const revise = pure('outcome.revise', {
    take: { request: outcomeRevision },
    read: { conversation },
    unless: [turnStopping],
    reset: budgets,
    give: oneOf(alternatives),
    run: ({ request, conversation: items }) => ({
      [`target/${chooseEntryAgent(entryAgents, items)}`]: {
        start: request,
        ...(maxTransfers !== undefined && {
          transfers: Array.from({ length: maxTransfers }, () => null),
        }),
      },
    }),
  });
  return {
    net: net('outcome-revisions', {
      in: {
        outcomeRevision,
        conversation,
        turnStopping,
        ...Object.fromEntries(budgets.map((place) => [place.name, place])),
      },
      out: {
        ...Object.fromEntries(entryAgents.map((name) => [`target/${name}`, targetPlace(name)])),
        ...omitUndefined({ transfers: maxTransfers === undefined ? undefined : transferBudget }),
      },
      transitions: [maxTransfers === undefined ? omitOutputs(revise, 'transfers') : revise],
    }),
    discardable: [outcomeRevision],
  };
}
