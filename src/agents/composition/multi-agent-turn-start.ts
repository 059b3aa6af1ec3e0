import { omitUndefined } from '../../core/internal.ts';
import { getFunctionCalls, getFunctionResponses } from '../../core/index.ts';
import type { Content, LogEntry } from '../../core/index.ts';
import { allOf, append, net, oneOf, optional, pure, upTo } from '../../net/index.ts';
import type {
  AllOf,
  AnyPlace,
  Append,
  Net,
  Optional,
  TokenPlace,
  Transition,
  UpTo,
} from '../../net/index.ts';
import { turnStartOutputs } from '../turn/turn-start-outputs.ts';
import { answerIn, eventOut, userIn } from '../vocabulary/messages.ts';
import { conversation } from '../vocabulary/conversation.ts';
import { sessionWrite } from '../vocabulary/state.ts';
import { sessionFailed, sessionPaused, sessionQueued } from '../vocabulary/session.ts';
import { turnCurrent, turnPermit } from '../vocabulary/turn.ts';
import { targetPlace } from '../vocabulary/handover.ts';
import type { ConversationItem } from '../vocabulary/conversation.ts';
import type { SessionWrite } from '../vocabulary/state.ts';
import type { CurrentTurn } from '../vocabulary/turn.ts';
import type { ModelCall } from '../vocabulary/model-call.ts';
import { transferBudget } from '../transfer/transfer.ts';
import { omitOutputs } from '../../net/internal.ts';

export interface MultiAgentTurnStartOptions {
  /** The agents that may take a message. The last of them to write a message takes it; the first one if there is none. */
  readonly entryAgents: readonly string[];
  /** The most transfers of one turn; missing if the agents cannot transfer. */
  readonly maxTransfers?: number;
}

type EntryOutputs = AllOf<{
  readonly turn: TokenPlace<CurrentTurn>;
  readonly start: TokenPlace<ModelCall>;
  readonly transfers: UpTo<null>;
  readonly said: Append<ConversationItem>;
  readonly write: Optional<SessionWrite>;
  readonly events: UpTo<LogEntry>;
}>;

/** What the start of a turn resets and gives in a session of several agents, whatever starts it. */
export interface MultiAgentTurnBeginning {
  readonly reset: readonly AnyPlace[];
  /** One alternative for each agent: `target/<name>`. */
  readonly alternatives: Readonly<Record<string, EntryOutputs>>;
  /** The outputs that give the turn to this agent. */
  readonly begin: (
    agentName: string,
    outputs: OutputTokens,
  ) => Readonly<
    Record<
      string,
      OutputTokens & { readonly start: ModelCall; readonly transfers?: readonly null[] }
    >
  >;
}

type OutputTokens = ReturnType<typeof turnStartOutputs>;

/** The beginning of a turn in a session of several agents, for agents that may begin one. */
export function multiAgentTurnBeginning(
  agents: readonly string[],
  maxTransfers?: number,
): MultiAgentTurnBeginning {
  return {
    reset: [answerIn, transferBudget, sessionQueued, sessionFailed],
    alternatives: Object.fromEntries(
      agents.map((name) => [
        `target/${name}`,
        allOf({
          turn: turnCurrent,
          start: targetPlace(name),
          transfers: upTo(Math.max(1, maxTransfers ?? 0), transferBudget),
          said: append(conversation),
          write: optional(sessionWrite),
          events: upTo(2, eventOut),
        }),
      ]),
    ),
    begin: (agentName, outputs) => ({
      [`target/${agentName}`]: {
        ...outputs,
        start: { invocationId: outputs.turn.invocationId, round: 0 },
        ...(maxTransfers !== undefined && {
          transfers: Array.from({ length: maxTransfers }, () => null),
        }),
      },
    }),
  };
}

/**
 * Starts a turn in a session of several agents: takes the oldest message and the permit, and gives the turn to the entry
 * agent that wrote the last message, or to the first agent.
 */
export function multiAgentTurnStart({
  entryAgents,
  maxTransfers,
}: MultiAgentTurnStartOptions): Net {
  const { reset, alternatives, begin } = multiAgentTurnBeginning(entryAgents, maxTransfers);
  const build = pure('turn.start', {
    formerNames: ['prompt.build'],
    take: { message: userIn, permit: turnPermit },
    unless: [sessionPaused],
    read: { conversation },
    reset,
    give: oneOf(alternatives),
    run: ({ message, conversation: said }) => {
      const name =
        findCallingAgent(entryAgents, message.content, said) ?? chooseEntryAgent(entryAgents, said);
      return begin(name, turnStartOutputs(message));
    },
  });
  const transition = maxTransfers === undefined ? omitTransferBudget(build) : build;
  return net('agent-entry', {
    in: {
      userIn,
      turnPermit,
      answerIn,
      sessionPaused,
      sessionQueued,
      sessionFailed,
      conversation,
    },
    out: {
      ...Object.fromEntries(entryAgents.map((name) => [`target/${name}`, targetPlace(name)])),
      ...omitUndefined({ turnTransfers: maxTransfers === undefined ? undefined : transferBudget }),
      turnCurrent,
      conversation,
      sessionWrite,
      eventOut,
    },
    transitions: [transition],
  });
}

/** The entry agent that made the call whose later result a message has. */
function findCallingAgent(
  entryAgents: readonly string[],
  message: Content,
  conversation: readonly ConversationItem[],
): string | undefined {
  const [result] = getFunctionResponses(message);
  if (result === undefined) return undefined;
  return conversation.findLast(
    ({ author = '', content }) =>
      entryAgents.includes(author) && getFunctionCalls(content).some(({ id }) => id === result.id),
  )?.author;
}

/** The entry agent that wrote the last message, or the first one. */
export function chooseEntryAgent(
  entryAgents: readonly string[],
  conversation: readonly ConversationItem[],
): string {
  const [first = ''] = entryAgents;
  const lastAuthor = conversation.findLast(({ author }) => author !== undefined)?.author;
  return lastAuthor !== undefined && entryAgents.includes(lastAuthor) ? lastAuthor : first;
}

/** The transition without a budget of transfers, for agents that cannot transfer. */
export function omitTransferBudget(build: Transition): Transition {
  const trimmed = omitOutputs(build, 'transfers');
  return { ...trimmed, reset: build.reset.filter(({ name }) => name !== transferBudget.name) };
}
