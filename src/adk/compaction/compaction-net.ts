import * as v from 'valibot';
import {
  type ConversationItem,
  conversation,
  eventOut,
  turnCurrent,
  turnPermit,
  effectInhibitors,
  sessionPaused,
  turnStopping,
  estimateTokens,
  getSessionKey,
} from '../../agents/index.ts';
import { contextUnits } from '../../agents/internal.ts';
import { createEventActions } from '../../core/index.ts';
import type { Content, Event, LogEntry, SessionKey } from '../../core/index.ts';
import {
  allOf,
  effect,
  net,
  oneOf,
  place,
  pure,
  replacePrefix,
  running,
  upTo,
} from '../../net/index.ts';
import type { EffectContext, Net, TokenPlace } from '../../net/index.ts';
import type { EventsCompactionConfig } from './events-compaction-config.ts';

/** The leading items of the conversation that a summary will replace. */
export interface CompactionDue {
  readonly length: number;
  /**
   * Invocation of the last item in the range. If it no longer matches, a rewind removed the item and the summary is
   * stale.
   */
  readonly lastInvocationId: string;
}

interface CompactionSummary extends CompactionDue {
  readonly eventId: string;
  /** Epoch seconds of the first and the last event that the summary covers. */
  readonly startTimestamp: number;
  readonly endTimestamp: number;
  readonly content: Content;
}

/** A summary and the time range it covers. */
export interface Summary {
  readonly eventId: string;
  readonly startTimestamp: number;
  readonly endTimestamp: number;
  readonly content: Content;
}

/** Summarizes the leading items of a session's conversation. Returns `undefined` to keep them as they are. */
export type Summarize = (
  items: readonly ConversationItem[],
  session: SessionKey,
  context: Pick<EffectContext, 'signal' | 'firingId' | 'attempt'>,
) => Promise<Summary | undefined>;

const SUMMARY_TIMEOUT_MS = 300_000;
const SUMMARY_PREFIX = 'summary:';

const rangeSchema = { length: v.number(), lastInvocationId: v.string() } as const;

/** Present while a turn runs: `compaction.check` checks the conversation when the turn ends. */
const watching: TokenPlace<null> = place('compaction.watching');
const due: TokenPlace<CompactionDue> = place('compaction.due', v.object(rangeSchema), {
  version: 1,
});
const summary: TokenPlace<CompactionSummary> = place(
  'compaction.summary',
  v.object({
    ...rangeSchema,
    eventId: v.string(),
    startTimestamp: v.number(),
    endTimestamp: v.number(),
    content: v.custom<Content>((value) => typeof value === 'object' && value !== null),
  }),
  { version: 1 },
);

/**
 * Creates the subnet that replaces the beginning of the conversation with a summary. The summary may be computed while
 * the next turn runs; it is applied only between turns. The log keeps every event.
 */
export function createCompactionNet(config: EventsCompactionConfig, summarize: Summarize): Net {
  const summarizeItems = effect('compaction.summarize', {
    formerNames: ['compaction.summarise'],
    take: { due },
    read: { conversation },
    unless: effectInhibitors,
    give: oneOf({
      summary,
      none: allOf({ events: upTo(1, eventOut) }),
    }),
    timeoutMs: SUMMARY_TIMEOUT_MS,
    onCrash: 'rerun',
    // A failed summary is due again after the next turn.
    failed: ({ kind, message }) => ({
      none: { events: kind === 'cancelled' ? [] : [failedEvent(message)] },
    }),
    run: async ({ due: range, conversation: items }, { host, signal, firingId, attempt }) => {
      const first = items.slice(0, range.length);
      if (!isUnchanged(range, first)) return { none: { events: [] } };
      const result = await summarize(first, getSessionKey(host), { signal, firingId, attempt });
      return result === undefined ? { none: { events: [] } } : { summary: { ...range, ...result } };
    },
  });
  const arm = pure('compaction.watch', {
    formerNames: ['compaction.arm'],
    take: { turn: turnCurrent },
    unless: [watching, due, running(summarizeItems), summary],
    give: allOf({ turn: turnCurrent, watching }),
    run: ({ turn }) => ({ turn, watching: null }),
  });
  const findDue = pure('compaction.check', {
    formerNames: ['compaction.judge'],
    take: { watching, permit: turnPermit },
    read: { conversation },
    give: oneOf({
      due: allOf({ permit: turnPermit, due }),
      none: allOf({ permit: turnPermit }),
    }),
    priority: 1,
    run: ({ conversation: items }) => {
      const found = findDueCompaction(config, items);
      return found === undefined
        ? { none: { permit: null } }
        : { due: { permit: null, due: found } };
    },
  });
  const apply = pure('compaction.apply', {
    take: { summary, permit: turnPermit },
    read: { conversation },
    give: oneOf({
      kept: allOf({
        permit: turnPermit,
        shorter: replacePrefix(conversation),
        events: upTo(1, eventOut),
      }),
      // A rewind removed items that this summary covers.
      stale: allOf({ permit: turnPermit }),
    }),
    // Runs before the next message starts a turn, so that turn already sees the summary.
    priority: 2,
    run: ({ summary: pendingSummary, conversation: items }) => {
      const { length, lastInvocationId, content } = pendingSummary;
      if (!isUnchanged(pendingSummary, items)) return { stale: { permit: null } };
      const item = { invocationId: `${SUMMARY_PREFIX}${lastInvocationId}`, content };
      return {
        kept: { permit: null, shorter: { length, item }, events: [compactedEvent(pendingSummary)] },
      };
    },
  });
  return net('compaction', {
    in: { turnPermit, turnCurrent, turnStopping, sessionPaused },
    out: { conversation, eventOut },
    transitions: [arm, findDue, summarizeItems, apply],
  });
}

/** Returns the items to summarize now, or `undefined` if compaction is not due. */
export function findDueCompaction(
  {
    compactionInterval,
    overlapSize = 0,
    tokenThreshold,
    eventRetentionSize = 0,
  }: EventsCompactionConfig,
  items: readonly ConversationItem[],
): CompactionDue | undefined {
  const isSummarized = items[0]?.invocationId.startsWith(SUMMARY_PREFIX) === true;
  const first = isSummarized ? 1 : 0;
  const invocations = [...new Set(items.slice(first).map(({ invocationId }) => invocationId))];
  const newInvocations = invocations.length - (isSummarized ? overlapSize : 0);
  const kept = invocations[Math.max(0, invocations.length - overlapSize)];
  const atInterval =
    newInvocations < compactionInterval
      ? 0
      : kept === undefined
        ? items.length
        : items.findIndex(({ invocationId }) => invocationId === kept);
  const length = Math.max(atInterval, lengthAtTokens(items, tokenThreshold, eventRetentionSize));
  const last = items[length - 1];
  // Summarizing only the previous summary would gain nothing.
  return last === undefined || length <= first
    ? undefined
    : { length, lastInvocationId: last.invocationId };
}

/** Moves the cut to a unit boundary, so a call is never separated from its results. */
function lengthAtTokens(
  items: readonly ConversationItem[],
  threshold: number | undefined,
  retained: number,
): number {
  if (threshold === undefined) return 0;
  const contents = items.map(({ content }) => content);
  if (contents.reduce((sum, content) => sum + estimateTokens(content), 0) < threshold) return 0;
  const cut = Math.max(0, items.length - retained);
  if (cut === items.length) return cut;
  return contextUnits(contents).findLast(({ from }) => from <= cut)?.from ?? 0;
}

function isUnchanged(
  { length, lastInvocationId }: CompactionDue,
  items: readonly ConversationItem[],
): boolean {
  return items[length - 1]?.invocationId === lastInvocationId;
}

function compactedEvent(result: CompactionSummary): LogEntry {
  const { eventId: id, lastInvocationId, startTimestamp, endTimestamp, content } = result;
  const invocationId = lastInvocationId.replace(SUMMARY_PREFIX, '');
  const event: Event = {
    id,
    timestamp: endTimestamp,
    invocationId,
    author: 'user',
    actions: createEventActions({
      compaction: { startTimestamp, endTimestamp, compactedContent: content },
    }),
  };
  return { type: 'event.appended', invocationId, event };
}

function failedEvent(message: string): LogEntry {
  return {
    type: 'error',
    /**
     * The summary of the conversation could not be made. The conversation is unchanged.
     * @remedy Read the message: it has the error of the summarizer. The next compaction tries again.
     */
    code: 'compaction_failed',
    message: `No summary was made: ${message}. The conversation is as it was.`,
  };
}
