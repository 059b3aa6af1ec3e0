import type { LogEntry } from '../core/index.ts';
import { allOf, append, net, oneOf, optional, pure, upTo } from '../net/index.ts';
import type { AllOf, Append, Net, Optional, TokenPlace, Transition, UpTo } from '../net/index.ts';
import { begunTurn } from './begun-turn.ts';
import {
  answerIn,
  conversation,
  eventOut,
  sessionWrite,
  targetOf,
  turnCurrent,
  turnPermit,
  userIn,
} from './places.ts';
import type { ConversationItem, ModelCall, SessionWrite, Turn } from './places.ts';
import { turnTransfers } from './transfer.ts';
import { withoutOutputs } from './trimmed-give.ts';

export interface AgentEntryOptions {
  /** The agents that may take a message: the first does, unless another of them spoke last. */
  readonly entries: readonly string[];
  /** How often the agents may hand the turn over, where they can. */
  readonly maxTransfers?: number;
}

type Entry = AllOf<{
  readonly turn: TokenPlace<Turn>;
  readonly start: TokenPlace<ModelCall>;
  readonly transfers: UpTo<null>;
  readonly said: Append<ConversationItem>;
  readonly write: Optional<SessionWrite>;
  readonly events: UpTo<LogEntry>;
}>;

/**
 * Begins a turn of several agents: takes the oldest message and the permit, and gives the turn to whoever spoke last of
 * those that may take it.
 */
export function agentEntry({ entries, maxTransfers }: AgentEntryOptions): Net {
  const [first = ''] = entries;
  const alternatives: Readonly<Record<string, Entry>> = Object.fromEntries(
    entries.map((name) => [
      `target/${name}`,
      allOf({
        turn: turnCurrent,
        start: targetOf(name),
        transfers: upTo(Math.max(1, maxTransfers ?? 0), turnTransfers),
        said: append(conversation),
        write: optional(sessionWrite),
        events: upTo(2, eventOut),
      }),
    ]),
  );
  const build = pure('prompt.build', {
    take: { message: userIn, permit: turnPermit },
    read: { conversation },
    reset: [answerIn, turnTransfers],
    give: oneOf(alternatives),
    run: ({ message, conversation: said }) => {
      const speaker = said.findLast(({ author }) => author !== undefined)?.author;
      const name = speaker !== undefined && entries.includes(speaker) ? speaker : first;
      return {
        [`target/${name}`]: {
          ...begunTurn(message),
          start: { invocationId: message.invocationId, round: 0 },
          ...(maxTransfers !== undefined && {
            transfers: Array.from({ length: maxTransfers }, () => null),
          }),
        },
      };
    },
  });
  const known = maxTransfers === undefined ? withoutTransfers(build) : build;
  return net('agent-entry', {
    in: { userIn, turnPermit, answerIn, conversation },
    out: {
      ...Object.fromEntries(entries.map((name) => [`target/${name}`, targetOf(name)])),
      ...(maxTransfers !== undefined && { turnTransfers }),
      turnCurrent,
      conversation,
      sessionWrite,
      eventOut,
    },
    transitions: [known],
  });
}

function withoutTransfers(build: Transition): Transition {
  const trimmed = withoutOutputs(build, 'transfers');
  return { ...trimmed, reset: build.reset.filter(({ name }) => name !== turnTransfers.name) };
}
